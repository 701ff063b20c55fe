"""The shared URL cache of all workers: key → page id and depth, kept for a day.

A worker stores a page after committing the transaction that found it, and under the namespace in which it was looked
up; so every entry was true when written, and stays true while the namespace lasts. Each value carries a checksum over
its key: values that do not match are ignored.
"""

import zlib
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from forager.cache.namespace import CacheNamespace
from forager.cache.server import RedisUnavailableError, Server

if TYPE_CHECKING:
    from redis.asyncio import Redis

KEPT_S = 86_400
AT_ONCE = 2000
"""Keys per command: Redis serves other clients between two commands."""
PUT = "for i, name in ipairs(KEYS) do redis.call('SET', name, ARGV[i + 1], 'EX', ARGV[1]) end"
"""No Redis command sets many keys with an expiry; one SET for each cost a worker 20 µs per key."""
LENGTH = 12
"""Length of a value: the packed page, and a checksum of page and key."""


class RedisKnown:
    def __init__(self, server: Server, era: CacheNamespace) -> None:
        self._server = server
        self._era = era
        self._asked_under: bytes | None = None

    async def recall(self, keys: Collection[bytes]) -> dict[bytes, int]:
        """Returns the known keys with their pages, packed as in `UrlCache`."""
        self._asked_under = prefix = None if self._server.is_circuit_open else await self._era.prefix()
        if prefix is None:
            return {}
        names = [prefix + b"k" + key for key in keys]
        try:
            values = await self._server.ask(lambda client: _read(client, names))
        except RedisUnavailableError:
            return {}
        found = {}
        for key, name, value in zip(keys, names, values, strict=True):
            if value is not None and (packed := _open(name, value)) is not None:
                found[key] = packed
        return found

    def clear(self) -> None:
        """Makes the next `recall` read the namespace again; until then `tell` stores nothing under the old one."""
        self._asked_under = None
        self._era.forget()

    async def tell(self, pages: Iterable[tuple[bytes, int]]) -> None:
        """Stores the pages, as pairs of key and packed page, that the database has returned since the last `recall`."""
        prefix = self._asked_under
        if prefix is None:
            return
        values = [(name := prefix + b"k" + key, _add_checksum(name, packed)) for key, packed in pages]
        if values:
            try:
                await self._server.ask(lambda client: _write(client, values))
            except RedisUnavailableError:
                return


async def _read(client: "Redis", names: list[bytes]) -> list[Any]:
    """Uses MGET: it returns nil for a key of another type, where GET would fail."""
    if len(names) <= AT_ONCE:
        return list(await client.mget(names))
    async with client.pipeline(transaction=False) as pipe:
        for start in range(0, len(names), AT_ONCE):
            pipe.mget(names[start : start + AT_ONCE])
        return [value for part in await pipe.execute() for value in part]


async def _write(client: "Redis", values: list[tuple[bytes, bytes]]) -> None:
    async with client.pipeline(transaction=False) as pipe:
        for start in range(0, len(values), AT_ONCE):
            names, pages = zip(*values[start : start + AT_ONCE], strict=True)
            pipe.execute_command("EVAL", PUT, len(names), *names, KEPT_S, *pages)
        await pipe.execute()


def _add_checksum(name: bytes, packed: int) -> bytes:
    page = packed.to_bytes(8, "big")
    return page + zlib.crc32(page, zlib.crc32(name)).to_bytes(4, "big")


def _open(name: bytes, value: bytes) -> int | None:
    if len(value) != LENGTH or zlib.crc32(value[:8], zlib.crc32(name)).to_bytes(4, "big") != value[8:]:
        return None
    return int.from_bytes(value[:8], "big")
