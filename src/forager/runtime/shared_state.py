"""State that processes share besides the database: in the configured Redis, or none. Only this module knows which."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from forager.accounts import session_cache
from forager.accounts.rate_limit import SharedCounter
from forager.accounts.session_cache import NullCache, SessionCache
from forager.config.settings import Settings
from forager.db.types import Pool
from forager.frontier.url_cache import UNSHARED, SharedPages

if TYPE_CHECKING:
    from forager.cache.server import Server


class Latest(Protocol):
    """Live metrics of all API processes: a process that finds none builds them."""

    async def read(self) -> tuple[bytes, float] | None:
        """Returns the latest value, and for how many seconds it stays valid."""

    async def should_build(self) -> bool:
        """Returns whether no other process is building it."""

    async def put(self, made: bytes, stays_s: float) -> None:
        """Publishes a value for the other processes."""


class LocalState:
    """Every process builds its own."""

    async def read(self) -> None:
        return None

    async def should_build(self) -> bool:
        return True

    async def put(self, _made: bytes, _stays_s: float) -> None:
        return


@dataclass(frozen=True, slots=True)
class Sharing:
    pages: SharedPages = UNSHARED
    ledgers: tuple[SharedCounter, ...] = ()
    """Checked before the database table."""
    latest: Latest = LocalState()  # noqa: RUF009 (it has no state)
    vouching: SessionCache = NullCache()  # noqa: RUF009 (as above)
    server: "Server | None" = None
    """The Redis behind all of these."""


@contextlib.asynccontextmanager
async def open_sharing(settings: Settings, pool: Pool) -> AsyncIterator[Sharing]:
    if settings.redis.url is None:
        yield Sharing()
        return
    from forager.cache.counts import RedisCounts
    from forager.cache.latest import RedisLatest
    from forager.cache.namespace import CacheNamespace
    from forager.cache.server import open_server
    from forager.cache.sessions import RedisSessionCache
    from forager.cache.urls import RedisKnown

    async with open_server(settings.redis.url) as server:
        era = CacheNamespace(pool)
        counts, latest = RedisCounts(server, era), RedisLatest(server, era)
        others = RedisSessionCache(server, era, lasts_s=session_cache.REMEMBERED_S)
        yield Sharing(RedisKnown(server, era), (counts,), latest, others, server)
