"""A gallery that names its pictures in every way pages do, and has some that are not what they say.

Pictures may lie on another host: `cdn` is where, and `Cdn` is what is served there.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from forager_playground.answer import Answer, missing, redirect
from forager_playground.page import Frame, Page, PageBuilder
from forager_playground.picture import SIGNATURE, render_png
from forager_playground.site import SitePage, list_page, show
from forager_playground.sites.numbered import read_number

FRAME = Frame("Odd Frames", "#274", (), "Nothing here is framed as it should be.")
ROBOTS = "User-agent: *\nDisallow: /private/\nAllow: /\n"
LYING = ("cut", "page", "empty", "bomb", "long", "moved", "gone")
LONG_BYTES = 300_000
BOMB_SIDE = 50_000


@dataclass
class GalleryTricks:
    seed: int
    size: int = 3
    """Rooms with honest pictures."""
    cdn: str = ""
    """Where the pictures of rooms are; empty: here."""
    name: str = "gallery_tricks"
    robots: str | None = ROBOTS
    traps: tuple[str, ...] = ()

    def pages(self) -> Iterator[SitePage]:
        for path in ("/", *(f"/room/{number}" for number in range(1, self.size + 1)), "/cellar"):
            page = self.write(path)
            assert page is not None
            yield list_page(path, page)

    def answer(self, path: str, query: str) -> Answer:
        if query:
            return missing()
        if path.startswith(("/img/", "/private/")):
            return serve_image(self.seed, path)
        page = self.write(path)
        return missing() if page is None else show(page)

    def write(self, path: str) -> Page | None:
        match path[1:].split("/"):
            case [""]:
                sheet = PageBuilder(FRAME, "Odd frames")
                sheet.add_links([*((f"/room/{room}", f"Room {room}") for room in range(1, self.size + 1))])
                sheet.add_links([("/cellar", "The cellar")])
                return sheet.finish()
            case ["room", place] if room := read_number(place, self.size + 1):
                return self._write_room(room)
            case ["cellar"]:
                return _write_cellar()
        return None

    def images(self, room: int) -> dict[str, str]:
        """What a room shows: path → how the page names it. All rooms share the first."""
        return {
            "/img/logo.png": "img",
            f"/img/{room}-named.png": "og",
            f"/img/{room}-plain.png": "img",
            f"/img/{room}-large.png": "srcset",
            f"/img/{room}-late.png": "lazy",
            f"/img/{room}-best.png": "picture",
            f"/img/{room}-behind.png": "background",
        }

    def _write_room(self, room: int) -> Page:
        at = f"{self.cdn}/img/{room}"
        sheet = PageBuilder(FRAME, f"Room {room}")
        sheet.add_head(f'<meta property="og:image" content="{at}-named.png">')
        sheet.add(
            f'<img src="{self.cdn}/img/logo.png" alt="Odd Frames">'
            f'<img src="{at}-plain.png" width="240" height="160" alt="A plain sky in room {room}">'
            f'<img src="{at}-tiny.png" srcset="{at}-tiny.png 96w, {at}-large.png 480w" alt="Two sizes">'
            f'<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" data-src="{at}-late.png" alt="Late">'
            f'<picture><source srcset="{at}-best.png 900w"><img src="{at}-good.png" alt="Best"></picture>'
            f'<div style="background-image: url({at}-behind.png)">Behind</div>'
            f'<img src="/img/pixel.png" width="1" height="1" alt="">'
        )
        return sheet.finish()


@dataclass
class Cdn:
    """Where pictures of others lie. It has a page too, which nobody who came for pictures wants."""

    seed: int
    size: int = 1
    name: str = "cdn"
    robots: str | None = None
    traps: tuple[str, ...] = ()

    def pages(self) -> Iterator[SitePage]:
        yield SitePage("/", title="Nothing to read")

    def answer(self, path: str, query: str) -> Answer:
        if path.startswith("/img/") and not query:
            return serve_image(self.seed, path)
        return missing() if path != "/" else Answer(body=b"<title>Nothing to read</title><a href=/more>More</a>")


def _write_cellar() -> Page:
    sheet = PageBuilder(FRAME, "The cellar")
    names = [f"/img/{kind}.png" for kind in LYING]
    names += ["/img/twin-a.png", "/img/twin-b.png", "/private/secret.png"]
    sheet.add("".join(f'<img src="{name}" alt="{name}">' for name in names))
    return sheet.finish()


def serve_image(seed: int, path: str) -> Answer:
    """Drawn from its name; a few names stand for something else."""
    name = path.rpartition("/")[2].removesuffix(".png")
    honest = render_png(240, 160, seed, name.replace("twin-b", "twin-a"))
    match name:
        case "cut":
            return _png_response(honest[: len(honest) // 2])
        case "page":
            return _png_response(
                b"<!doctype html><html><title>Please log in</title><p>No picture without a name.</html>"
            )
        case "empty":
            return _png_response(b"")
        case "bomb":
            return _png_response(build_png_bomb(BOMB_SIDE))
        case "long":
            return _png_response(honest + bytes(LONG_BYTES))
        case "moved":
            return redirect("/img/arrived.png", 302)
        case "gone":
            return missing()
    return _png_response(honest)


def _png_response(body: bytes) -> Answer:
    return Answer(body=body, content_type="image/png")


def build_png_bomb(side: int) -> bytes:
    """A square that is a few kilobytes long and gigabytes large."""
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    rows = zlib.compress(bytes(4_000_000), 9)
    chunks = ((b"IHDR", header), (b"IDAT", rows), (b"IEND", b""))
    return SIGNATURE + b"".join(
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in chunks
    )
