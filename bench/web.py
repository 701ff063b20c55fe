"""The webs that are crawled, each served by a process of its own whose cost is measured too.

`plain` are the playground's `bench` sites, `lifelike` those with the make-up of real pages, `saved` is any folder.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.measure import read_process
from bench.saved import HOSTS, find_pages, saved_sites, serve_command
from forager.errors import UsageError
from forager_playground import AnswerKey, start_playground, start_server

PLAIN, LIFELIKE, SAVED = "plain", "lifelike", "saved"
WEBS = (LIFELIKE, PLAIN, SAVED)
HOST_BASE = "127.0.2.1"
"""Apart from the demo's addresses, so that both can run."""


@dataclass(frozen=True, slots=True)
class WebSite:
    seed: str
    host: str
    """Its address, without a port."""
    urls: frozenset[str]
    links: int
    """Links of all its pages, each target once a page, links of a page to itself apart."""


@dataclass(frozen=True, slots=True)
class Web:
    pid: int
    sites: tuple[WebSite, ...]
    name: str = PLAIN
    is_exact: bool = True
    """Whether every page must be brought home. Saved pages may redirect by a meta tag or forbid to follow links."""

    def cpu_s(self) -> float:
        """What serving has cost so far."""
        process = read_process(self.pid)
        return process.cpu_s if process else 0.0


@contextmanager
def serve_web(sites: int, pages: int, *, name: str = PLAIN) -> Iterator[Web]:
    """A web whose pages are all made beforehand: making them is no part of what serving them costs."""
    order = f"{'bench' if name == PLAIN else name}={sites}x{pages}"
    with start_playground([order], host_base=HOST_BASE, warm_pages=pages) as running:
        yield Web(running.process.pid, describe_sites(running.answer_key), name)


@contextmanager
def serve_saved(folder: Path) -> Iterator[Web]:
    """The saved pages of a folder, on a handful of addresses."""
    if not find_pages(folder):
        raise UsageError(f"{folder} has no saved pages: no *.html below it.")
    with start_server(serve_command(folder), saved_sites(folder, HOSTS)) as running:
        yield Web(running.process.pid, describe_sites(running.answer_key), SAVED, is_exact=False)


def describe_sites(key: AnswerKey) -> tuple[WebSite, ...]:
    return tuple(
        WebSite(
            seed=site.start_url,
            host=site.base_url.removeprefix("http://").rpartition(":")[0],
            urls=frozenset(page.url for page in site.pages),
            links=sum(len(set(page.links) - {page.url}) for page in site.pages),
        )
        for site in key.sites
    )
