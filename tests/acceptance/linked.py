"""Three small sites that link to each other, served by a thread: what the limits of a crawl are measured on."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from forager_playground import Answer, Playground, Site, SitePage, open_playground
from forager_playground.page import Link
from forager_playground.site import ALLOW_ALL

LINKS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "a": {
        "/": ("/docs/", "/blog/x", "b:/"),
        "/docs/": ("/docs/one", "/docs/deep/three", "/blog/y"),
        "/docs/one": ("/docs/two",),
        "/docs/two": ("/",),
        "/docs/deep/three": ("/docs/deep/four",),
        "/docs/deep/four": (),
        "/blog/x": ("b:/b1",),
        "/blog/y": ("/docs/two",),
    },
    "b": {"/": ("/b1", "c:/"), "/b1": ()},
    "c": {"/": ("a:/", "/c1"), "/c1": ("/c2",), "/c2": ()},
}
"""Site → path → links; `b:/` leads to the start of the site b."""


@dataclass(frozen=True)
class Linked:
    name: str
    bases: dict[str, str]
    """Name → base URL; known when all are served."""
    robots: str | None = ALLOW_ALL
    traps: tuple[str, ...] = field(default=())

    def pages(self) -> Iterator[SitePage]:
        for path in LINKS[self.name]:
            yield SitePage(path, title=path, links=tuple(Link(target) for target in self._targets(path)))

    def answer(self, path: str, query: str) -> Answer:
        found = path in LINKS[self.name] and not query
        anchors = "".join(f'<a href="{target}">{target}</a>' for target in self._targets(path)) if found else ""
        return Answer(200 if found else 404, f"<!doctype html><title>{path}</title>{anchors}".encode())

    def _targets(self, path: str) -> list[str]:
        return [self._address(target) for target in LINKS[self.name][path]]

    def _address(self, target: str) -> str:
        site, colon, path = target.partition(":")
        return self.bases[site] + path if colon else target


@contextmanager
def serve_linked(host_base: str) -> Iterator[tuple[Playground, dict[str, str]]]:
    """The web, and name → base URL."""
    bases: dict[str, str] = {}
    sites: list[Site] = [Linked(name, bases) for name in LINKS]
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    opened = open_playground(sites, host_base=host_base)
    try:
        web = asyncio.run_coroutine_threadsafe(opened.__aenter__(), loop).result(60)
        bases |= {site.name: base for base, site in web.sites.items()}
        yield web, bases
        asyncio.run_coroutine_threadsafe(opened.__aexit__(None, None, None), loop).result(60)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
