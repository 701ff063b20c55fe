"""API processes vouch for what PostgreSQL told them of sessions and tokens within the last second.

Redis never says who somebody is: it keeps a digest of what PostgreSQL said, and a process compares it with what it was
told itself. So whoever writes into Redis makes nobody an admin. The second ends by Redis' own clock, counted from
before PostgreSQL was asked: what is told late, by a server that was frozen, has ended already.
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
