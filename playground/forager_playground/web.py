"""A playground that is being served: sites, their addresses, their answer key and their log."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from forager.errors import UsageError
from forager_playground.key import AnswerKey, make_key
from forager_playground.listen import list_addresses, open_sockets
from forager_playground.log import RequestLog
from forager_playground.server import IDLE_TIMEOUT_S, ConnectionMaker, Desk, ReplyCache
from forager_playground.site import Site
from forager_playground.sites import DEMO_SITES, make_sites

HOST_BASE = "127.0.0.11"
CACHE_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True)
class Playground:
    sites: Mapping[str, Site]
    """Base URL (no slash at the end) → site."""
    log: RequestLog
    seed: int
    desks: tuple[Desk, ...]

    @property
    def urls(self) -> tuple[str, ...]:
        """The start page of each site."""
        return tuple(base_url + "/" for base_url in self.sites)

    @property
    def hosts(self) -> Mapping[str, str]:
        """Site name → address and port, as the log writes it."""
        return {site.name: base_url.removeprefix("http://") for base_url, site in self.sites.items()}

    @property
    def networks(self) -> tuple[str, ...]:
        """Exactly the served addresses, as `fetch.allow_networks` takes them."""
        return list_networks(self.sites)

    @cached_property
    def answer_key(self) -> AnswerKey:
        return make_key(self.sites, self.seed)

    def warm(self, pages_per_site: int) -> None:
        """Makes and compresses the first pages of every site, so that a benchmark pays for sending only."""
        for desk in self.desks:
            for page in islice(desk.site.pages(), pages_per_site):
                desk.prepare(page.path)

    def forget(self) -> None:
        """As freshly started: no visits noted, flaky pages flaky again."""
        self.log.clear()
        for site in self.sites.values():
            forget_site = getattr(site, "forget", None)
            if forget_site is not None:
                forget_site()


@asynccontextmanager
async def open_playground(
    sites: Iterable[str | Site] = tuple(DEMO_SITES),
    *,
    scale: float = 1.0,
    seed: int = 1,
    day: int = 0,
    host_base: str = HOST_BASE,
    port: int = 0,
    log_path: Path | None = None,
    keeps_visits: bool = True,
    idle_timeout_s: float = IDLE_TIMEOUT_S,
) -> AsyncIterator[Playground]:
    """Serves in the running event loop until the block ends. `port` 0 takes one that is free on all addresses."""
    made = collect_sites(sites, seed, scale, day)
    with closing(RequestLog(log_path, keeps_visits=keeps_visits)) as log:
        desks = _bind_sockets(made, open_sockets(host_base, len(made), port), log)
        async with _listen(desks, ConnectionMaker(idle_timeout_s)):
            yield Playground(
                {f"http://{desk.host}": desk.site for desk in desks.values()}, log, seed, tuple(desks.values())
            )


def _bind_sockets(
    sites: Iterable[Site], sockets: Iterable[socket.socket], log: RequestLog
) -> dict[socket.socket, Desk]:
    cache = ReplyCache(CACHE_BYTES)
    return {
        sock: Desk(site, "{}:{}".format(*sock.getsockname()), cache, log)
        for site, sock in zip(sites, sockets, strict=True)
    }


@asynccontextmanager
async def _listen(desks: Mapping[socket.socket, Desk], connections: ConnectionMaker) -> AsyncIterator[None]:
    loop = asyncio.get_running_loop()
    servers = []
    try:
        for sock, desk in desks.items():
            servers.append(await loop.create_server(connections.create_factory(desk), sock=sock))
        yield
    finally:
        for server in servers:
            server.close()
        connections.abort_all()
        for server in servers:
            await server.wait_closed()
        for sock in desks:
            sock.close()


def make_answer_key(
    sites: Iterable[str | Site] = tuple(DEMO_SITES),
    *,
    port: int,
    scale: float = 1.0,
    seed: int = 1,
    host_base: str = HOST_BASE,
) -> AnswerKey:
    """The key of a playground that runs elsewhere with the same arguments, on one address per site."""
    made = collect_sites(sites, seed, scale)
    addresses = list_addresses(host_base, len(made))
    return make_key(dict(zip((f"http://{address}:{port}" for address in addresses), made, strict=True)), seed)


def list_networks(base_urls: Iterable[str]) -> tuple[str, ...]:
    addresses = (base_url.removeprefix("http://").rpartition(":")[0] for base_url in base_urls)
    return tuple(f"{address}/32" for address in dict.fromkeys(addresses))


def collect_sites(sites: Iterable[str | Site], seed: int, scale: float, day: int = 0) -> list[Site]:
    collected: list[Site] = []
    for site in sites:
        collected += make_sites([site], seed, scale, day) if isinstance(site, str) else [site]
    if not collected:
        raise UsageError("The playground needs at least one site.")
    return collected
