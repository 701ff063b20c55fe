"""A gallery: albums, photo pages, and real PNG pictures. Pictures are linked, so a crawler must tell them from pages.

It has no robots.txt, which allows everything.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from forager_playground.answer import Answer, missing
from forager_playground.language import english
from forager_playground.page import Frame, Page, PageBuilder, picture
from forager_playground.picture import render_png
from forager_playground.seeded import pick
from forager_playground.site import Fate, SitePage, list_page, show
from forager_playground.sites.numbered import read_number
from forager_playground.tree import IndexTree, Node

FRAME = Frame("Small Skies", "#5b3a7a", (("/prints", "Prints"),), "Every sky here was painted by a number.")
PHOTOS_PER_ALBUM = 6
FAN_OUT = 20
LIGHTS = ("morning", "noon", "evening", "winter", "harvest", "storm")


@dataclass(frozen=True, slots=True)
class Gallery:
    seed: int
    size: int = 30
    """Photos."""
    name: str = "gallery"
    robots: str | None = None
    traps: tuple[str, ...] = ()

    def pages(self) -> Iterator[SitePage]:
        for path in self._paths():
            page = self.write(path)
            assert page is not None
            yield list_page(path, page)
        for photo in range(1, self.size + 1):
            yield SitePage(f"/img/{photo}.png", fate=Fate.BINARY)

    def answer(self, path: str, query: str) -> Answer:
        if query:
            return missing()
        if path.startswith("/img/") and path.endswith(".png"):
            return self._serve_image(path[5:-4])
        page = self.write(path)
        return missing() if page is None else show(page)

    def write(self, path: str) -> Page | None:
        match path[1:].split("/"):
            case [""]:
                return self._write_index(self._tree.root, "Skies, sorted by hand")
            case ["prints"]:
                return self._write_prints()
            case ["wing", level, place]:
                node = Node(read_number(level, self._tree.root.level) or 0, (read_number(place, 10**9) or 0) - 1)
                is_inner = node.level > 0 and self._tree.has(node)
                return self._write_index(node, f"Wing {node.level}.{node.number + 1}") if is_inner else None
            case ["album", place] if album := read_number(place, self._tree.leaves + 1):
                return self._write_album(album)
            case ["photo", place] if photo := read_number(place, self.size + 1):
                return self._write_photo(photo)
        return None

    @property
    def _tree(self) -> IndexTree:
        return IndexTree(-(-self.size // PHOTOS_PER_ALBUM), FAN_OUT)

    def _paths(self) -> Iterator[str]:
        yield from ("/", "/prints")
        yield from (_wing_path(node) for node in self._tree.inner_nodes())
        yield from (f"/album/{album}" for album in range(1, self._tree.leaves + 1))
        yield from (f"/photo/{photo}" for photo in range(1, self.size + 1))

    def _photos(self, album: int) -> range:
        first = (album - 1) * PHOTOS_PER_ALBUM + 1
        return range(first, min(first + PHOTOS_PER_ALBUM, self.size + 1))

    def _name(self, photo: int) -> str:
        return f"Sky {photo}, {pick(LIGHTS, self.seed, 'light', photo)}"

    def _serve_image(self, name: str) -> Answer:
        place, dash, small = name.partition("-")
        photo = read_number(place, self.size + 1)
        if photo is None or (dash and small != "small"):
            return missing()
        width, height = (96, 64) if dash else (240, 160)
        return Answer(body=render_png(width, height, self.seed, "gallery", photo), content_type="image/png")

    def _write_index(self, node: Node, heading: str) -> Page:
        sheet = PageBuilder(FRAME, heading)
        sheet.description = "A gallery of painted skies, made up for crawlers to practise on."
        sheet.add_links(
            (_wing_path(child), f"Wing {child.level}.{child.number + 1}")
            if child.level
            else (f"/album/{child.number + 1}", f"Album {child.number + 1}")
            for child in self._tree.children(node)
        )
        return sheet.finish()

    def _write_prints(self) -> Page:
        sheet = PageBuilder(FRAME, "Prints")
        sheet.add_text(*english().paragraphs(2, self.seed, "prints"))
        return sheet.finish()

    def _write_album(self, album: int) -> Page:
        sheet = PageBuilder(FRAME, f"Album {album}")
        sheet.crumb("/", "All albums")
        cards = "".join(
            f"<li>{picture(f'/img/{photo}-small.png', self._name(photo), 96, 64)}<br>"
            f"{sheet.link(f'/photo/{photo}', self._name(photo))}</li>"
            for photo in self._photos(album)
        )
        sheet.add(f'<ul class="cards">{cards}</ul>')
        return sheet.finish()

    def _write_photo(self, photo: int) -> Page:
        album = (photo - 1) // PHOTOS_PER_ALBUM + 1
        sheet = PageBuilder(FRAME, self._name(photo))
        sheet.crumb("/", "All albums")
        sheet.crumb(f"/album/{album}", f"Album {album}")
        sheet.add_head(f'<meta property="og:image" content="/img/{photo}.png">')
        sheet.add(
            f'<figure><img src="/img/{photo}.png" srcset="/img/{photo}-small.png 96w, /img/{photo}.png 240w" '
            f'width="240" height="160" alt="{self._name(photo)}: a sky over hills">'
            f"<figcaption>{english().paragraph(1, self.seed, 'caption', photo)}</figcaption></figure>"
        )
        sheet.add(f"<p>{sheet.link(f'/img/{photo}.png', 'The picture alone')}</p>")
        neighbours = [other for other in (photo - 1, photo + 1) if 1 <= other <= self.size]
        sheet.add_links((f"/photo/{other}", self._name(other)) for other in neighbours)
        return sheet.finish()


def _wing_path(node: Node) -> str:
    return f"/wing/{node.level}/{node.number + 1}"
