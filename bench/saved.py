"""A folder of saved pages as a web: every *.html below it, dealt out to a handful of sites with an index page each.

A page gets one tag, a `base` that leads elsewhere: its relative links would otherwise ask for pages that nobody saved.
`python -m bench.saved FOLDER` serves it.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from forager_playground import Answer, Site, serve
from forager_playground.answer import missing
from forager_playground.page import Link
from forager_playground.site import ALLOW_ALL, SitePage
from forager_playground.sites.numbered import find_number, path_of

HOSTS = 8
HOST_BASE = "127.0.3.1"
EXPECTED = ".expected.html"
"""Ends the names of files that say what should be read from a page; they are none themselves."""
BASE = b'<base href="http://saved.invalid/">'
HEAD = re.compile(rb"<head(?:\s[^>]*)?>", re.IGNORECASE)
DOCTYPE = re.compile(rb"\s*<!doctype[^>]*>", re.IGNORECASE)


def find_pages(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.html") if not path.name.endswith(EXPECTED) and path.is_file())


@dataclass(frozen=True, slots=True)
class SavedSite:
    number: int
    files: tuple[Path, ...]
    robots: str | None = ALLOW_ALL
    traps: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"saved-{self.number}"

    def pages(self) -> Iterator[SitePage]:
        yield SitePage("/", links=tuple(Link(path_of(page)) for page in range(1, len(self.files) + 1)))
        for page in range(1, len(self.files) + 1):
            yield SitePage(path_of(page))

    def answer(self, path: str, query: str) -> Answer:
        page = find_number(path, len(self.files) + 1)
        if page is None or query:
            return missing()
        if page == 0:
            return Answer(body=self._index())
        body = add_base(self.files[page - 1].read_bytes())
        return Answer(body=body, content_type="text/html", prefers_brotli=page % 2 == 1)

    def _index(self) -> bytes:
        items = "".join(f'<li><a href="{path_of(page)}">Page {page}</a></li>' for page in range(1, len(self.files) + 1))
        return (
            f'<!doctype html><html lang="en"><title>Saved pages {self.number}</title>'
            f'<meta name="description" content="An index of {len(self.files)} saved pages."><ul>{items}</ul>'
        ).encode()


def add_base(body: bytes) -> bytes:
    """First in the head, where it holds even if the page has one of its own."""
    found = HEAD.search(body) or DOCTYPE.match(body)
    at = found.end() if found else 0
    return body[:at] + BASE + body[at:]


def saved_sites(folder: Path, count: int = HOSTS) -> list[SavedSite]:
    """By size in turn, so that all sites have about the same mix: a crawl of a few stands for all."""
    files = sorted(find_pages(folder), key=lambda path: (path.stat().st_size, path.name))
    rounds = [files[start : start + count] for start in range(0, len(files), count)]
    dealt = [dealing[:: -1 if number % 2 else 1] for number, dealing in enumerate(rounds)]
    sites = [
        [dealing[number] for dealing in dealt if number < len(dealing)] for number in range(min(count, len(files)))
    ]
    return [SavedSite(number, tuple(chosen)) for number, chosen in enumerate(sites, 1)]


def serve_command(folder: Path) -> list[str]:
    return [sys.executable, "-m", "bench.saved", str(folder.resolve())]


def main(arguments: Sequence[str]) -> None:
    sites: list[Site] = list(saved_sites(Path(arguments[0])))
    serve(sites, host_base=HOST_BASE, warm_pages=sys.maxsize)


if __name__ == "__main__":
    main(sys.argv[1:])
