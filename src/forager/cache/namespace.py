"""The cache namespace of the database: every Redis key starts with it, so that no entry outlives the data it describes.

The namespace changes when pages are deleted, and when the database server is restarted, restored, emptied or replaced.
Redis entries of the old namespace are no longer found, and expire.
"""

import asyncio
import hashlib

from forager import clock
from forager.db import statements
from forager.db.pool import STATEMENT_FAILED
from forager.db.types import Pool
from forager.logs import log

SQL = statements.load("forager.cache")
LOOK_EVERY_S = 30.0
READ_WITHIN_S = 2.0
AGAIN_S = 5.0
"""Delay before the next read after a failed one: with a frozen database, every lookup would wait for it."""


class CacheNamespace:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._prefix: bytes | None = None
        self._look_at = 0.0
        self._asking = asyncio.Lock()

    async def prefix(self) -> bytes | None:
        """Returns the key prefix, at most half a minute old, or None if the database does not respond."""
        if clock.monotonic() >= self._look_at:
            async with self._asking:
                if clock.monotonic() >= self._look_at:  # else another task has read it while this one waited
                    await self._read()
        return self._prefix

    def forget(self) -> None:
        """Makes the next call of `prefix` read the namespace again."""
        self._look_at = 0.0

    async def _read(self) -> None:
        try:
            async with asyncio.timeout(READ_WITHIN_S), self._pool.acquire() as conn:
                era = await conn.fetchval(SQL["read_era"])
        except STATEMENT_FAILED as error:
            log().info("era unknown, Redis is not asked", action="redis.era", error=repr(error))
            self._prefix, wait_s = None, AGAIN_S
        else:
            self._prefix = b"forager:%s:" % hashlib.sha256(era.encode()).hexdigest()[:16].encode()
            wait_s = LOOK_EVERY_S
        self._look_at = clock.monotonic() + wait_s
