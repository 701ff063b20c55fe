"""The synthetic web: the playground's `bench` sites, served by a process of its own whose cost is measured too."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bench.measure import read_process
from forager.playground import AnswerKey, start_playground

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

    def cpu_s(self) -> float:
        """What serving has cost so far."""
        process = read_process(self.pid)
        return process.cpu_s if process else 0.0


@contextmanager
def serve_web(sites: int, pages: int) -> Iterator[Web]:
    """A web whose pages are all made beforehand: making them is no part of what serving them costs."""
    with start_playground([f"bench={sites}x{pages}"], host_base=HOST_BASE, warm_pages=pages) as running:
        yield Web(running.process.pid, describe_sites(running.answer_key))


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
