"""The era of the database: every name in Redis begins with it, so that nothing outlives what it speaks of.

It ends when pages are deleted, and when the server is started again, restored, emptied or replaced. Then what Redis
holds is not found any more and expires by itself.
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
"""A database that does not say is not asked before: with one that is frozen every look-up would wait for it."""


class CacheNamespace:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._prefix: bytes | None = None
        self._look_at = 0.0
        self._asking = asyncio.Lock()

    async def prefix(self) -> bytes | None:
        """What names begin with, not older than half a minute. None: the database does not say."""
        if clock.monotonic() >= self._look_at:
            async with self._asking:
                if clock.monotonic() >= self._look_at:  # else somebody asked while we waited
                    await self._read()
        return self._prefix

    def forget(self) -> None:
        """It is read again by the next question."""
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
