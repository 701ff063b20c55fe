"""A site that fails at first: 503, 429, cut connections, then the page. Some pages stay 404, 410, 403 or 500.

It counts the requests per page in memory; `forget` makes it flaky again.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from forager_playground.answer import Answer, missing, refuse, reset
from forager_playground.language import english
from forager_playground.page import Frame, Page, PageBuilder
from forager_playground.site import ALLOW_ALL, SitePage, show
from forager_playground.sites.numbered import find_number, path_of

FRAME = Frame("Loose Wire Radio", "#8a2b2b", (), "If you hear nothing, try again.")
CHILDREN = 4
BROKEN = {"/lost/tape": 404, "/lost/letter": 404, "/lost/station": 410, "/lost/studio": 403, "/lost/tower": 500}
WORDS = {404: "Not found", 410: "Gone", 403: "Forbidden", 500: "Broken", 503: "Try again", 429: "Too many requests"}
CUT = reset()
EARLY_ANSWERS = (
    (refuse(503, WORDS[503], is_stable=False),),
    (refuse(503, WORDS[503], retry_after_s=1, is_stable=False),),
    (refuse(429, WORDS[429], retry_after_s=1, is_stable=False),),
    (CUT,),
    (refuse(503, WORDS[503], is_stable=False), CUT),
)
"""What every third page says before it works; the kinds take turns."""


@dataclass(frozen=True, slots=True)
class Flaky:
    seed: int
    size: int = 24
    name: str = "flaky"
    robots: str | None = ALLOW_ALL
    traps: tuple[str, ...] = ()
    requests: Counter[str] = field(default_factory=Counter, compare=False)

    def pages(self) -> Iterator[SitePage]:
        for number in range(self.size):
            page = self.write(number)
            early = tuple(answer.status for answer in early_responses(number))
            links = page.links
            yield SitePage(path_of(number), 200, page.title, "en", "en", links, early_statuses=early)
        for path, status in BROKEN.items():
            yield SitePage(path, status)

    def answer(self, path: str, query: str) -> Answer:
        if path in BROKEN and not query:
            return refuse(BROKEN[path], WORDS[BROKEN[path]])
        number = find_number(path, self.size)
        if number is None or query:
            return missing()
        early = early_responses(number)
        if not early:
            return show(self.write(number))
        self.requests[path] += 1
        asked = self.requests[path]
        if asked <= len(early):
            return early[asked - 1]
        return Answer(body=self.write(number).html.encode(), is_stable=False)

    def forget(self) -> None:
        self.requests.clear()

    def write(self, number: int) -> Page:
        sheet = PageBuilder(FRAME, f"Programme {number}" if number else "Radio with a loose wire")
        sheet.add_text(*english().paragraphs(2, self.seed, "flaky", number))
        first = number * CHILDREN + 1
        children = range(first, min(first + CHILDREN, self.size))
        sheet.add_links((path_of(child), f"Programme {child}") for child in children)
        if number == 0:
            sheet.add_links((path, path.rpartition("/")[2].capitalize()) for path in BROKEN)
        return sheet.finish()


def early_responses(number: int) -> tuple[Answer, ...]:
    return EARLY_ANSWERS[number // 3 % len(EARLY_ANSWERS)] if number % 3 == 2 else ()
