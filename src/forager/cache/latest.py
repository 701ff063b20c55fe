"""Caches the latest live statistics for all API processes: a process that finds none builds them, one at a time.

They are stored as a value that expires instead of being published: a process that is disconnected for a moment misses
nothing, and no process has to detect that it is subscribed to a frozen server.
"""

import math
from typing import TYPE_CHECKING

from forager import __version__
from forager.cache.namespace import CacheNamespace
from forager.cache.server import RedisUnavailableError, Server

if TYPE_CHECKING:
    from redis.asyncio import Redis

MAKING_S = 2.0
"""How long others wait for the process that is building them."""


class RedisLatest:
    def __init__(self, server: Server, era: CacheNamespace) -> None:
        self._server = server
        self._era = era
        self._name = b"l" + __version__.encode()
        """Includes the version: another version of Forager may show other statistics."""

    async def read(self) -> tuple[bytes, float] | None:
        """Returns the latest statistics and the number of seconds until they expire."""
        prefix = None if self._server.is_circuit_open else await self._era.prefix()
        if prefix is None:
            return None
        try:
            return await self._server.ask(lambda client: _read(client, prefix + self._name))
        except RedisUnavailableError:
            return None

    async def should_build(self) -> bool:
        """Returns whether this process should build them: they are missing, and no other process is building them.
        Without Redis, each process builds its own."""
        prefix = None if self._server.is_circuit_open else await self._era.prefix()
        if prefix is None:
            return True
        try:
            return await self._server.ask(lambda client: _take(client, prefix, self._name), retries=0)
        except RedisUnavailableError:
            return True

    async def put(self, made: bytes, stays_s: float) -> None:
        prefix = None if self._server.is_circuit_open else await self._era.prefix()
        if prefix is None:
            return
        try:
            await self._server.ask(lambda client: _put(client, prefix, self._name, made, stays_s))
        except RedisUnavailableError:
            return


async def _read(client: "Redis", name: bytes) -> tuple[bytes, float] | None:
    async with client.pipeline(transaction=False) as pipe:
        pipe.mget([name])
        pipe.pttl(name)
        (made,), stays_ms = await pipe.execute()
    return (made, stays_ms / 1000) if made is not None and stays_ms > 0 else None


async def _take(client: "Redis", prefix: bytes, name: bytes) -> bool:
    """Acquires the build lock, unless the statistics exist by now: a process that found none just before another one
    stored them must not build them again."""
    async with client.pipeline(transaction=False) as pipe:
        pipe.set(prefix + b"m" + name, b"1", nx=True, px=math.ceil(MAKING_S * 1000))
        pipe.exists(prefix + name)
        is_taken, is_made = await pipe.execute()
    if is_taken and is_made:
        await client.delete(prefix + b"m" + name)
    return bool(is_taken) and not is_made


async def _put(client: "Redis", prefix: bytes, name: bytes, made: bytes, stays_s: float) -> None:
    async with client.pipeline(transaction=False) as pipe:
        pipe.set(prefix + name, made, px=max(1, math.ceil(stays_s * 1000)))
        pipe.delete(prefix + b"m" + name)
        await pipe.execute()
