"""A site whose robots.txt asks everybody to stay away from everything. Whoever looks finds ordinary pages."""

from collections.abc import Iterator
from dataclasses import dataclass

from forager_playground.answer import Answer, missing
from forager_playground.language import english
from forager_playground.page import Frame, Page, PageBuilder
from forager_playground.site import Fate, SitePage, list_page, show
from forager_playground.sites.numbered import find_number, path_of

FRAME = Frame("The Sealed Archive", "#333", (), "Not for machines.")
CHILDREN = 4
DENY_ALL = "User-agent: *\nDisallow: /\n"


@dataclass(frozen=True, slots=True)
class Hidden:
    seed: int
    size: int = 12
    name: str = "hidden"
    robots: str | None = DENY_ALL
    traps: tuple[str, ...] = ()

    def pages(self) -> Iterator[SitePage]:
        return (list_page(path_of(page), self.write(page), Fate.FORBIDDEN) for page in range(self.size))

    def answer(self, path: str, query: str) -> Answer:
        page = find_number(path, self.size)
        return missing() if page is None or query else show(self.write(page))

    def write(self, page: int) -> Page:
        sheet = PageBuilder(FRAME, f"Folder {page}" if page else "An archive under seal")
        sheet.add_text(*english().paragraphs(2, self.seed, "hidden", page))
        first = page * CHILDREN + 1
        folders = range(first, min(first + CHILDREN, self.size))
        sheet.add_links((path_of(folder), f"Folder {folder}") for folder in folders)
        return sheet.finish()
