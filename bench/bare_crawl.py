"""A crawl that keeps nothing: Forager's client, one parse for title, description, base and links, a set of seen URLs.

Runs as a process of its own, by the same written order as the peers.
"""

import asyncio
import sys
from collections import deque
from pathlib import Path

import uvloop

from bench.ledger import Ledger
from bench.peers.order import PeerOrder
from forager.fetch.client import Client, open_client
from forager.parsing.memory import disable_memory_trim
from forager.parsing.tree import parse
from forager.urls.resolve import resolve_links

TIMEOUT_S = 30.0
MAX_BYTES = 10 * 1024 * 1024


class BareSite:
    """One site's crawl: what is seen, what waits, and how many requests are open."""

    def __init__(self, seed: str, at_once: int, client: Client, ledger: Ledger) -> None:
        self._root = seed
        self._seen = {seed}
        self._waiting = deque([seed])
        self._at_once = at_once
        self._client = client
        self._ledger = ledger
        self._visits: set[asyncio.Task[None]] = set()
        self._is_done = asyncio.Event()

    async def crawl(self) -> None:
        self._start_visits()
        await self._is_done.wait()

    def _start_visits(self) -> None:
        while self._waiting and len(self._visits) < self._at_once:
            visit = asyncio.create_task(self._visit(self._waiting.popleft()))
            self._visits.add(visit)
            visit.add_done_callback(self._end_visit)

    def _end_visit(self, visit: asyncio.Task[None]) -> None:
        self._visits.discard(visit)
        if error := visit.exception():
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        self._start_visits()
        if not self._visits:
            self._is_done.set()

    async def _visit(self, url: str) -> None:
        fetched = await self._client.get(url)
        title, description, base, links = read_page(fetched.body)
        self._ledger.note(url, title, description, len(links))
        near = [link for link in links if not link.startswith(("http", "//")) or link.startswith(self._root)]
        for link in resolve_links(base or url, near):
            if link is not None and link.startswith(self._root) and link not in self._seen:
                self._seen.add(link)
                self._waiting.append(link)


def read_page(body: bytes) -> tuple[str | None, str | None, str | None, list[str]]:
    """As lean as it gets: a ceiling that dawdles would flatter what is held against it."""
    tree = parse(body)
    titles, bases = tree.tags("title"), tree.tags("base")
    metas = tree.rows(tree.tags("meta"), ("name", "content"))
    return (
        tree.text(titles[0]) if titles else None,
        next((content for name, content in metas if name == "description"), None),
        next(filter(None, tree.column(bases, "href")), None),
        [href for href in tree.column(tree.tags("a"), "href") if href],
    )


async def crawl(order: PeerOrder, ledger: Ledger) -> None:
    async with open_client(
        user_agent="bench",
        check_address=lambda _address, _port: None,
        timeout_s=TIMEOUT_S,
        connect_timeout_s=TIMEOUT_S,
        max_bytes=MAX_BYTES,
    ) as client:
        ledger.start()
        sites = [BareSite(seed, order.per_site, client, ledger) for seed in order.seeds]
        await asyncio.gather(*(site.crawl() for site in sites))


def main() -> None:
    order, ledger = PeerOrder.from_command_line(), Ledger()
    disable_memory_trim()
    uvloop.run(crawl(order, ledger))
    ledger.write(Path(order.ledger))


if __name__ == "__main__":
    main()
