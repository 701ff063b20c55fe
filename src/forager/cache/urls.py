"""Pages that any worker knows, for all of them: key → page id and depth, for a day.

A page is told after the transaction that found it was committed, and under the era in which it was asked for; so
whatever is recalled was true, and is while the era lasts. Each value vouches for its own key: what does not is nothing.
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
"""Keys of one command: others are served between two of them."""
PUT = "for i, name in ipairs(KEYS) do redis.call('SET', name, ARGV[i + 1], 'EX', ARGV[1]) end"
"""There is no command that sets many and has them expire; one for each of them took 20 µs of a worker's time, each."""
LENGTH = 12
"""Of a value: the page, and a checksum of it and its key."""


class RedisKnown:
    def __init__(self, server: Server, era: CacheNamespace) -> None:
        self._server = server
        self._era = era
        self._asked_under: bytes | None = None

    async def recall(self, keys: Collection[bytes]) -> dict[bytes, int]:
        """Those it knows, packed as `UrlCache` has them."""
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
        """The era is read again before anything is asked; until then nothing is told under the old one."""
        self._asked_under = None
        self._era.forget()

    async def tell(self, pages: Iterable[tuple[bytes, int]]) -> None:
        """What the database has said since it was recalled last: key, packed page."""
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
    """MGET answers nothing for what is no string, where GET would fail."""
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
