"""A site that is made to keep crawlers for ever: real pages among mazes of every kind that is known in the wild.

    /calendar/2026/11       months and days without end, forwards, backwards and by year
    /loop/…                 relative links that lead ever deeper into the same two folders
    /find?…                 a search that adds a filter with every click, and a login that links to itself
    /same/1f0a9c3e          a picture of the day: another address, the same page, five more of them
    /gone/…                 a "not found" with status 200 for whatever is asked, with links that are not there either
    /p/7?visit=…            the real pages again, with a token of their own in every link

Every third real page is linked with a session id only, in one of three spellings. All real pages can be reached without
entering a maze, and every maze leads back to some of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from urllib.parse import quote

from forager_playground.answer import Answer
from forager_playground.language import english
from forager_playground.page import Frame, Link, Page, PageBuilder
from forager_playground.seeded import number, numbers
from forager_playground.site import ALLOW_ALL, SitePage, list_page, show
from forager_playground.sites.numbered import find_number, path_of, read_number

FRAME = Frame("The Endless Library", "#5f2b7a", (("/p/1", "Reading room"),), "Whoever enters may read for ever.")
CHILDREN = 6
TWINS = 5
ROOMS = ("left", "right")
FILTERS = ("colour", "size", "brand", "price", "age", "shape", "shelf", "smell")
TRAPS = (
    r"^/calendar/",
    r"^/loop/",
    r"^/find",
    r"^/login",
    r"^/same/",
    r"^/gone/",
    r"[?&;](?:visit|sid|jsessionid)=",
    r"^/\(S\(",
)
FIRST_YEAR, LAST_YEAR = 2, 9999
"""As far as a `date` goes, with one to come on both sides."""
LONGEST_TARGET = 4000


@dataclass(frozen=True, slots=True)
class Maze:
    seed: int
    size: int = 200
    """Real pages."""
    name: str = "maze"
    robots: str | None = ALLOW_ALL
    traps: tuple[str, ...] = TRAPS

    def pages(self) -> Iterator[SitePage]:
        """With the links to other real pages only, without their session ids."""
        for page in range(self.size):
            listed = list_page(path_of(page), self._write_real(page, ""))
            yield replace(listed, links=tuple(Link(path_of(child)) for child in self._children(page)))

    def answer(self, path: str, query: str) -> Answer:
        if len(path) + len(query) > LONGEST_TARGET:
            return show(self._write_missing(path))
        return show(self._write(path, query) or self._write_missing(path))

    def _write(self, path: str, query: str) -> Page | None:
        session, path = self._split_session(path)
        real = find_number(path, self.size)
        if real is not None:
            return self._write_real(real, session or query)
        match path[1:].split("/"):
            case ["calendar", year, month, *day]:
                return self._write_calendar([year, month, *day])
            case ["loop", *rooms, ""]:
                return self._write_loop(rooms)
            case ["find"]:
                return self._write_search(query)
            case ["login"]:
                return self._write_login(query)
            case ["same", _]:
                return self._write_twin(path)
        return None

    def _split_session(self, path: str) -> tuple[str, str]:
        """Session and clean path."""
        if path.startswith("/(S("):
            session, _, rest = path[1:].partition("/")
            return session, f"/{rest}"
        clean, _, session = path.partition(";")
        return session, clean

    def _children(self, page: int) -> range:
        first = page * CHILDREN + 1
        return range(first, min(first + CHILDREN, self.size))

    def _write_real(self, page: int, token: str) -> Page:
        """With whatever token, the same page; only its links carry new ones."""
        sheet = PageBuilder(FRAME, f"Shelf {page}" if page else "Come in and stay")
        sheet.add_text(*english().paragraphs(6, self.seed, "shelf", page))
        sheet.add_links((self._to_child(child, page, token), "A book") for child in self._children(page))
        drawn = numbers(2, self.seed, "other", page, token)
        sheet.add_links((f"{path_of(n % self.size)}?visit={n:08x}", "A book, for you alone") for n in drawn)
        sheet.add_links([("/calendar/2026/11", "Calendar"), ("/loop/", "Reading rooms"), ("/find?q=book", "Search")])
        sheet.add_links([(f"/same/{drawn[0]:08x}", "Picture of the day"), (f"/gone/{drawn[1] % 97}", "News")])
        sheet.add_links([(f"/login?next={quote(path_of(page), safe='')}", "Log in")])
        return sheet.finish()

    def _to_child(self, child: int, page: int, token: str) -> str:
        session = f"{number(2**32, self.seed, 'session', child, page, token):08x}"
        match child % 9:
            case 3:
                return f"{path_of(child)};jsessionid={session.upper()}"
            case 6:
                return f"{path_of(child)}?sid={session}"
            case 0:
                return f"/(S({session}{session}))/p/{child}"
        return path_of(child)

    def _write_calendar(self, parts: list[str]) -> Page | None:
        year, month = read_number(parts[0], LAST_YEAR), read_number(parts[1].lstrip("0"), 13)
        day = read_number(parts[2].lstrip("0"), 29) if len(parts) == 3 else 1
        if month is None or day is None or len(parts) > 3 or year is None or year < FIRST_YEAR:
            return None
        now = date(year, month, day)
        sheet = PageBuilder(FRAME, f"Calendar, {now:%B %Y}" if len(parts) == 2 else f"Calendar, {now:%d %B %Y}")
        sheet.add_text(
            f"No reading was announced for {now:%d %B %Y}. Come back another day, or look at the next month."
        )
        sheet.add_links(_around(now))
        sheet.add_links([(path_of(number(self.size, self.seed, now)), "A book")])
        return sheet.finish()

    def _write_loop(self, rooms: list[str]) -> Page:
        sheet = PageBuilder(FRAME, f"Reading room {number(2**32, self.seed, *rooms):08x}")
        sheet.add_text(english().paragraph(3, self.seed, "room", *rooms))
        sheet.add_links((f"{room}/", f"To the {room}") for room in ROOMS)
        sheet.add_links([(path_of(len(rooms) % self.size), "A book")])
        return sheet.finish()

    def _write_search(self, query: str) -> Page:
        sheet = PageBuilder(FRAME, f"Search ({query.count('&')} filters)")
        sheet.add_text("No book was found that fits your search. Try another filter, or look for something else.")
        sheet.add_links((f"/find?{query}&{name}={query.count('&')}", f"By {name}") for name in FILTERS)
        sheet.add_links([(path_of(len(query) % self.size), "A book")])
        return sheet.finish()

    def _write_login(self, query: str) -> Page:
        sheet = PageBuilder(FRAME, "Members only")
        sheet.add_text("Only members may borrow books. Membership is free, and lasts as long as you stay with us.")
        here = quote(f"/login?{query}", safe="")
        sheet.add_links([(f"/login?next={here}", "Log in first"), ("/p/1", "A book")])
        return sheet.finish()

    def _write_twin(self, path: str) -> Page:
        """The same words, but for one that is drawn by lot."""
        sheet = PageBuilder(FRAME, "Picture of the day")
        drawn = numbers(TWINS + 1, self.seed, path)
        sheet.add_text(*english().paragraphs(5, self.seed, "picture"), f"It was seen {drawn[0]} times.")
        sheet.add_links((f"/same/{n:08x}", "Another one") for n in drawn[1:])
        sheet.add_links([(path_of(drawn[0] % self.size), "A book")])
        return sheet.finish()

    def _write_missing(self, path: str) -> Page:
        """What is not there, with status 200 and the wrong address repeated."""
        sheet = PageBuilder(FRAME, "Nothing here")
        sheet.add_text(f"The page {path} could not be found on this server. Perhaps you were looking for one of these?")
        titles = [english().titles[n % len(english().titles)] for n in numbers(3, self.seed, "missing", path)]
        sheet.add_links((f"/gone/{'/'.join(title.lower().split())}", "Perhaps this") for title in titles)
        sheet.add_links([(f"/gone/{n}", "Or this") for n in numbers(3, self.seed, "lost", path)])
        return sheet.finish()


def _around(now: date) -> list[tuple[str, str]]:
    """The months and days next to this one, and the same a year later and earlier."""
    before, after = now.replace(day=1) - timedelta(days=1), now.replace(day=1) + timedelta(days=31)
    months = [before, after, *(now.replace(year=now.year + years, day=1) for years in (-1, 1))]
    days = [now + timedelta(days=step) for step in (-1, 1) if (now + timedelta(days=step)).day < 29]
    return [
        *((f"/calendar/{month.year}/{month.month}", f"{month:%B %Y}") for month in months),
        *((f"/calendar/{day:%Y/%m/%d}", f"{day:%d %B}") for day in days),
    ]
