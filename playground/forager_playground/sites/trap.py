"""A site without end: a calendar, session ids that breed, a maze of repeating folders. Some real pages live among them.

All real pages can be reached without entering a trap, and every trap leads back to some of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from forager_playground.answer import Answer, missing
from forager_playground.language import english
from forager_playground.page import Frame, Page, PageBuilder
from forager_playground.seeded import number
from forager_playground.site import ALLOW_ALL, SitePage, list_page, show
from forager_playground.sites.numbered import find_number, path_of, read_number

FRAME = Frame("Hall of Mirrors", "#2b7a5f", (), "The way out is the way you came.")
CHILDREN = 4
TURNS = ("left", "right")
TRAPS = (r"^/calendar/", r"[?&]sid=", r"^/maze/")
LONGEST_TARGET = 2000
"""Long before it, a crawler should have seen that the maze repeats itself."""


@dataclass(frozen=True, slots=True)
class Trap:
    seed: int
    size: int = 24
    """Real pages."""
    name: str = "trap"
    robots: str | None = ALLOW_ALL
    traps: tuple[str, ...] = TRAPS

    def pages(self) -> Iterator[SitePage]:
        return (list_page(path_of(page), self._write_real(page, "")) for page in range(self.size))

    def answer(self, path: str, query: str) -> Answer:
        page = self.write(path, query)
        return missing() if page is None else show(page)

    def write(self, path: str, query: str) -> Page | None:
        if len(path) + len(query) > LONGEST_TARGET:
            return None
        real = find_number(path, self.size)
        if real is not None and (not query or query.startswith("sid=")):
            return self._write_real(real, query)
        match path[1:].split("/"):
            case ["calendar", year, month] if not query:
                return self._write_month(read_number(year, 10**9), read_number(month, 13))
            case ["maze", *turns, ""] if not query and all(turn in TURNS for turn in turns):
                return self._write_maze(turns)
        return None

    def _write_real(self, page: int, session: str) -> Page:
        """With a session id, the same page, but its links carry new ids."""
        sheet = PageBuilder(
            FRAME, (f"Mirror {page}" if page else "Which one is real?") + (f" ({session})" if session else "")
        )
        sheet.point("canonical", path_of(page))
        sheet.add_text(*english().paragraphs(2, self.seed, "trap", page))
        first = page * CHILDREN + 1
        children = range(first, min(first + CHILDREN, self.size))
        sheet.add_links((path_of(child), f"Mirror {child}") for child in children)
        other = number(self.size, self.seed, "other", page)
        sid = f"{number(2**32, self.seed, 'sid', page, session):08x}"
        sheet.add_links([(f"{path_of(other)}?sid={sid}", f"Mirror {other}, as a guest")])
        sheet.add_links([(f"/calendar/{2024 + page % 3}/{page % 12 + 1}", "Calendar"), ("/maze/", "Maze")])
        return sheet.finish()

    def _write_month(self, year: int | None, month: int | None) -> Page | None:
        if year is None or month is None:
            return None
        sheet = PageBuilder(FRAME, f"Calendar for {month}/{year}")
        after, before = (year + month // 12, month % 12 + 1), (year - (month == 1), (month - 2) % 12 + 1)
        sheet.add_text(f"Nothing happens in month {month} of the year {year}.")
        sheet.add_links((f"/calendar/{y}/{m}", f"{m}/{y}") for y, m in (after, before, (year + 1, month)) if y > 0)
        sheet.add_links([(path_of(number(self.size, self.seed, year, month)), "A mirror")])
        return sheet.finish()

    def _write_maze(self, turns: list[str]) -> Page:
        sheet = PageBuilder(FRAME, f"Maze, {len(turns)} turns in ({number(2**32, self.seed, *turns):08x})")
        sheet.add_text(english().paragraph(3, self.seed, "maze", *turns))
        sheet.add_links((f"{turn}/", f"Turn {turn}") for turn in TURNS)
        sheet.add_links([("../", "Step back"), (path_of(len(turns) % self.size), "A mirror")])
        return sheet.finish()
