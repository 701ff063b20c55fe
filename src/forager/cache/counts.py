"""Counts the requests of the last minute across all API processes, by subject and second, for `accounts/rate_limit.py`.

When Redis loses its data, each process keeps the counts it has; when Redis is unavailable, the processes synchronize
through the table in PostgreSQL.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from forager.cache.namespace import CacheNamespace
from forager.cache.server import RedisUnavailableError, Server

if TYPE_CHECKING:
    from redis.asyncio import Redis

KEPT_S = 120
"""Twice the window."""
Counts = Mapping[str, Mapping[int, int]]
"""Subject → second → requests."""


class RedisCounts:
    def __init__(self, server: Server, era: CacheNamespace) -> None:
        self._server = server
        self._era = era

    async def exchange(self, told: Counts, since: int) -> dict[str, dict[int, int]] | None:
        """Adds the local counts and returns the totals of all processes, or None if it cannot and the caller has to use
        the next counter. Never retries: a command whose reply was lost may have been executed."""
        prefix = None if self._server.is_circuit_open else await self._era.prefix()
        if prefix is None:
            return None
        names = {subject: prefix + b"r" + subject.encode() for subject in told}
        try:
            return await self._server.ask(lambda client: _exchange(client, told, names, since), retries=0)
        except RedisUnavailableError:
            return None

    async def clear_out(self, before: int) -> None:
        """Does nothing: the keys expire."""


async def _exchange(
    client: "Redis", told: Counts, names: Mapping[str, bytes], since: int
) -> dict[str, dict[int, int]] | None:
    async with client.pipeline(transaction=False) as pipe:
        for subject, counts in told.items():
            for second, requests in counts.items():
                pipe.hincrby(names[subject], str(second), requests)
            pipe.expire(names[subject], KEPT_S)
        for name in names.values():
            pipe.hgetall(name)
        answers = await pipe.execute(raise_on_error=False)
    if any(isinstance(answer, Exception) for answer in answers):
        await client.delete(*names.values())  # a key holds another type, or cannot be written
        return None
    return {subject: _read(found, since) for subject, found in zip(told, answers[-len(told) :], strict=True)}


def _read(found: Mapping[bytes, bytes], since: int) -> dict[int, int]:
    """Returns the counts within the window; ignores fields that are not numbers."""
    numbers = {int(at): int(n) for at, n in found.items() if at.isdigit() and n.isdigit()}
    return {at: n for at, n in numbers.items() if at >= since}
