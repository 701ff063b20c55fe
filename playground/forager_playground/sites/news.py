"""A paper whose stories change at known periods, whose start page names new ones, and where two stories disappear.

Its clock stands still until somebody asks for `/_tick?by=SECONDS`, so that a test lives through a week in a second.
Everything is a function of the seed and that clock, also what `Last-Modified` says.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl

from forager_playground.answer import TEXT, Answer, missing, refuse
from forager_playground.language import english
from forager_playground.page import Frame, Page, PageBuilder
from forager_playground.seeded import number
from forager_playground.site import SitePage, list_page
from forager_playground.sites.numbered import find_number, path_of

FRAME = Frame("The Hourly Mail", "#5a2b6a", (), "Corrections appear when they are due.")
TICK = "/_tick"
ROBOTS = f"User-agent: *\nDisallow: {TICK}\n"
FIRST_DAY = datetime(2024, 1, 1, 8, tzinfo=UTC)
HOUR_S = 3600
PERIODS_S = (None, HOUR_S, 6 * HOUR_S, 24 * HOUR_S, 7 * 24 * HOUR_S)
"""The stories take turns; None never changes."""
NEW_EVERY_S = 12 * HOUR_S
"""How often a story is added, and with it the start page changes."""
GONE_AFTER_S = 36 * HOUR_S
LONGEST_TICK_S = 10**9


@dataclass(slots=True)
class News:
    seed: int
    size: int = 20
    """Stories at the beginning."""
    name: str = "news"
    robots: str | None = ROBOTS
    traps: tuple[str, ...] = ()
    now_s: int = 0
    """Seconds since the beginning."""

    def pages(self) -> Iterator[SitePage]:
        """As of now."""
        for page in range(self.stories + 1):
            status = self.status_of(page)
            yield list_page(path_of(page), self.write(page)) if status == 200 else SitePage(path_of(page), status)

    def answer(self, path: str, query: str) -> Answer:
        if path == TICK:
            return self._handle_tick(query)
        page = find_number(path, self.stories + 1)
        if page is None or query:
            return missing(is_stable=False)
        status = self.status_of(page)
        if status != 200:
            return refuse(status, "No longer here", is_stable=False)
        modified_at = FIRST_DAY + timedelta(seconds=self.changed_s(page))
        return Answer(body=self.write(page).html.encode(), is_stable=False, modified_at=modified_at)

    def tick(self, by_s: int) -> None:
        self.now_s += by_s

    def forget(self) -> None:
        self.now_s = 0

    # what the clock says

    @property
    def stories(self) -> int:
        return self.size + self.now_s // NEW_EVERY_S

    def status_of(self, page: int) -> int:
        """The last two stories of the beginning disappear: one says so, one is just not there."""
        if page and self.now_s >= GONE_AFTER_S:
            return {self.size: 410, self.size - 1: 404}.get(page, 200)
        return 200

    def period_s(self, page: int) -> int | None:
        """How often it changes."""
        return PERIODS_S[page % len(PERIODS_S)] if page else NEW_EVERY_S

    def version(self, page: int) -> int:
        """How often it has changed."""
        period_s, first_s = self.period_s(page), self._first_change_s(page)
        return 0 if period_s is None or self.now_s < first_s else (self.now_s - first_s) // period_s + 1

    def changed_s(self, page: int) -> int:
        """When it changed last, or was new."""
        version = self.version(page)
        return (
            self._first_change_s(page) + (version - 1) * (self.period_s(page) or 0)
            if version
            else self._created_s(page)
        )

    def _created_s(self, page: int) -> int:
        return max(0, page - self.size) * NEW_EVERY_S

    def _first_change_s(self, page: int) -> int:
        """Stories do not change in step; the start page changes when there is something new."""
        period_s = self.period_s(page) or 0
        lag_s = number(period_s, self.seed, "lag", page) if page and period_s else 0
        return self._created_s(page) + period_s - lag_s

    # what it prints

    def write(self, page: int) -> Page:
        return self._write_story(page) if page else self._write_home()

    def _write_home(self) -> Page:
        sheet = PageBuilder(FRAME, "All that happened")
        sheet.add_text(f"The newest story is number {self.stories}.")
        sheet.add_links((path_of(story), f"Story {story}") for story in range(self.stories, 0, -1))
        return sheet.finish()

    def _write_story(self, story: int) -> Page:
        version = self.version(story)
        sheet = PageBuilder(FRAME, f"Story {story}")
        sheet.add_text(f"Edition {version} of this story.", *english().paragraphs(3, self.seed, "news", story, version))
        return sheet.finish()

    def _handle_tick(self, query: str) -> Answer:
        by = dict(parse_qsl(query)).get("by", "")
        if not by.isascii() or not by.isdigit() or int(by) > LONGEST_TICK_S:
            return refuse(400, "Write it like /_tick?by=3600", is_stable=False)
        self.tick(int(by))
        return Answer(body=f"{self.now_s}\n".encode(), content_type=TEXT, is_stable=False)
