"""Checks for `/health` whether the database accepts writes: one that is read-only, or whose disk is full, still serves
reads. The probe writes one row, at most once every five seconds.
"""

import asyncio
import contextlib

from forager import clock
from forager.db import statements
from forager.db.types import Connection
from forager.engine.transaction_retry import AGAIN, UNWRITABLE, reason_of

SQL = statements.load("forager.db")
FRESH_S = 5.0


class WriteProbe:
    def __init__(self) -> None:
        self._asked_at = -FRESH_S
        self._trouble: str | None = None
        self._asking = asyncio.Lock()

    async def find_write_error(self, conn: Connection) -> str | None:
        """Returns why writes fail, or None if they succeed."""
        async with self._asking:
            if clock.monotonic() - self._asked_at >= FRESH_S:
                self._trouble = None
                try:
                    with contextlib.suppress(*AGAIN):
                        async with conn.transaction():
                            await conn.execute(SQL["probe_write"])
                except UNWRITABLE as error:
                    self._trouble = reason_of(error)
                self._asked_at = clock.monotonic()
            return self._trouble
