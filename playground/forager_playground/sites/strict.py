"""A site with strict robots.txt: several groups, wildcards, anchors, a crawl-delay, and links to what it forbids.

Each page's fate is written down by hand, not computed by a matcher: the key is to find the mistakes of one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from forager_playground.answer import Answer, missing
from forager_playground.language import english
from forager_playground.page import Frame, Page, PageBuilder
from forager_playground.site import Fate, SitePage, list_page, show
from forager_playground.sites.numbered import read_number

FRAME = Frame("The Quiet House", "#444", (("/rules", "House rules"),), "Please knock.")
ROBOTS = """\
# Rules for Forager stand in two groups, which count as one; those for everybody else do not concern it.
User-agent: BadBot
Disallow: /

User-agent: *
Disallow: /staff/
Crawl-delay: 10

User-agent: OtherBot
User-agent: Forager
Disallow: /private/
Allow: /private/open-
Disallow: /*.cgi$
Disallow: /rooms/*/print
Disallow: /search?
Crawl-delay: {delay_s:g}

User-agent: forager   # the same crawler in other letters
Disallow: /late/
"""
SINGLE_PAGES = {
    "/rules": Fate.FETCH,
    "/staff/kitchen": Fate.FETCH,  # closed to `*` only
    "/private/cellar": Fate.FORBIDDEN,
    "/private/open-day": Fate.FETCH,  # the longer rule wins
    "/Private/cellar": Fate.FETCH,  # paths are case-sensitive
    "/tools/bell.cgi": Fate.FORBIDDEN,
    "/tools/bell.cgi?ring=1": Fate.FETCH,  # `$` anchors at the end of path and query
    "/search": Fate.FETCH,
    "/search?q=keys": Fate.FORBIDDEN,
    "/late/supper": Fate.FORBIDDEN,
}
CRAWL_DELAY_S = 0.2


@dataclass(frozen=True, slots=True)
class Strict:
    seed: int
    size: int = 16
    """Rooms."""
    crawl_delay_s: float = CRAWL_DELAY_S
    name: str = "strict"
    traps: tuple[str, ...] = ()

    @property
    def robots(self) -> str | None:
        return ROBOTS.format(delay_s=self.crawl_delay_s)

    def pages(self) -> Iterator[SitePage]:
        for target, fate in self._list_expected():
            page = self.write(target)
            assert page is not None
            yield list_page(target, page, fate)

    def answer(self, path: str, query: str) -> Answer:
        page = self.write(f"{path}?{query}" if query else path)
        return missing() if page is None else show(page)

    def write(self, target: str) -> Page | None:
        if target in SINGLE_PAGES:
            return self._write_single(target)
        match target[1:].split("/"):
            case [""]:
                return self._write_home()
            case ["rooms", place] if room := read_number(place, self.size + 1):
                return self._write_room(room)
            case ["rooms", place, "print"] if room := read_number(place, self.size + 1):
                return PageBuilder(FRAME, f"Room {room}, to print").finish()
        return None

    def _list_expected(self) -> Iterator[tuple[str, Fate]]:
        yield "/", Fate.FETCH
        yield from SINGLE_PAGES.items()
        for room in range(1, self.size + 1):
            yield f"/rooms/{room}", Fate.FETCH
            yield f"/rooms/{room}/print", Fate.FORBIDDEN

    def _write_home(self) -> Page:
        sheet = PageBuilder(FRAME, "A house with rules")
        sheet.description = "A site that says in robots.txt what it does not want."
        sheet.add_text(*english().paragraphs(1, self.seed, "strict"))
        sheet.add_links((target, f"Door {place}") for place, target in enumerate(SINGLE_PAGES, 1))
        sheet.add_links([("/rooms/1", "The first room")])
        return sheet.finish()

    def _write_single(self, target: str) -> Page:
        sheet = PageBuilder(FRAME, f"Behind the door {target}")
        sheet.crumb("/", "House")
        sheet.add_text(*english().paragraphs(1, self.seed, target))
        return sheet.finish()

    def _write_room(self, room: int) -> Page:
        """Rooms form a tree, five doors each."""
        sheet = PageBuilder(FRAME, f"Room {room}")
        sheet.crumb("/", "House")
        sheet.add_text(*english().paragraphs(2, self.seed, "room", room))
        doors = range(room * 5 - 3, min(room * 5 + 2, self.size + 1))
        sheet.add_links((f"/rooms/{door}", f"Room {door}") for door in doors)
        sheet.add_links([(f"/rooms/{room}/print", "Print this room"), ("/private/cellar", "The cellar")])
        return sheet.finish()
