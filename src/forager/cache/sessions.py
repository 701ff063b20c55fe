"""Shares between API processes what PostgreSQL returned for sessions and tokens within the last second.

Redis never identifies a user: it stores a digest of the row that PostgreSQL returned, and each process compares that
digest with the row it has read itself. So write access to Redis makes no one an admin. Entries expire after a second by
Redis' own clock, counted from before the PostgreSQL query: an entry that a frozen server writes late has expired
already.
"""

from typing import TYPE_CHECKING

from forager.cache.namespace import CacheNamespace
from forager.cache.server import RedisUnavailableError, Server

if TYPE_CHECKING:
    from redis.asyncio import Redis

NOTHING = 0.0, None


class RedisSessionCache:
    def __init__(self, server: Server, era: CacheNamespace, *, lasts_s: float) -> None:
        self._lasts_ms = round(lasts_s * 1000)
        self._server = server
        self._era = era

    async def hear(self, name: bytes, known: bytes) -> tuple[float, int | None]:
        prefix = None if self._server.is_circuit_open else await self._era.prefix()
        if prefix is None:
            return NOTHING
        try:
            told, left_ms, moment = await self._server.ask(
                lambda client: _read_session(client, prefix + b"s" + name), retries=0
            )
        except RedisUnavailableError:
            return NOTHING
        is_same = bool(known) and told == known and 0 < left_ms <= self._lasts_ms
        return (left_ms / 1000 if is_same else 0.0), moment

    async def tell(self, name: bytes, known: bytes, moment: int) -> None:
        prefix = None if self._server.is_circuit_open else await self._era.prefix()
        if prefix is None:
            return
        until = moment + self._lasts_ms
        try:
            await self._server.ask(lambda client: client.set(prefix + b"s" + name, known, pxat=until), retries=0)
        except RedisUnavailableError:
            return


async def _read_session(client: "Redis", name: bytes) -> tuple[bytes | None, int, int]:
    async with client.pipeline(transaction=False) as pipe:
        pipe.mget([name])
        pipe.pttl(name)
        pipe.time()
        (told,), left_ms, (seconds, micros) = await pipe.execute()
    return told, left_ms, seconds * 1000 + micros // 1000
