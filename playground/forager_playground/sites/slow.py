"""A site that thinks before it speaks: every page takes 100 to 400 ms, always the same for the same page."""

from collections.abc import Iterator
from dataclasses import dataclass

from forager_playground.answer import Answer, missing
from forager_playground.language import english
from forager_playground.page import Frame, Page, PageBuilder
from forager_playground.seeded import number
from forager_playground.site import ALLOW_ALL, SitePage, list_page, show
from forager_playground.sites.numbered import find_number, path_of

FRAME = Frame("The Patient Press", "#6a6a2b", (), "Printed slowly, on purpose.")
CHILDREN = 4


@dataclass(frozen=True, slots=True)
class Slow:
    seed: int
    size: int = 16
    shortest_s: float = 0.1
    longest_s: float = 0.4
    name: str = "slow"
    robots: str | None = ALLOW_ALL
    traps: tuple[str, ...] = ()

    def pages(self) -> Iterator[SitePage]:
        return (list_page(path_of(page), self.write(page)) for page in range(self.size))

    def answer(self, path: str, query: str) -> Answer:
        page = find_number(path, self.size)
        return missing() if page is None or query else show(self.write(page), self.delay_s(page))

    def delay_s(self, page: int) -> float:
        share = number(1001, self.seed, "delay", page) / 1000
        return self.shortest_s + share * (self.longest_s - self.shortest_s)

    def write(self, page: int) -> Page:
        sheet = PageBuilder(FRAME, f"Issue {page}" if page else "A magazine that takes its time")
        sheet.add_text(*english().paragraphs(3, self.seed, "slow", page))
        first = page * CHILDREN + 1
        issues = range(first, min(first + CHILDREN, self.size))
        sheet.add_links((path_of(issue), f"Issue {issue}") for issue in issues)
        return sheet.finish()
