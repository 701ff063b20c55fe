"""Limits which requests get a connection of the pool: routes get most of them, and one account less than half of these.

The rest of the pool is for sessions, rate limits and live statistics.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Hashable
from dataclasses import dataclass
from typing import Any

from asyncpg.pool import PoolConnectionProxy

from forager.api.errors import TooManyError
from forager.db.types import Pool, Row

FULL = "All connections to the database are in use; ask again in a moment."


class AccountLimitError(TooManyError):
    """The requests of one account hold all connections that one account may have."""


@dataclass(slots=True)
class _Share:
    seats: asyncio.Semaphore
    users: int = 0


class ReadPool:
    def __init__(self, pool: Pool, *, most: int) -> None:
        """Allows `most` connections in total, of which one account gets less than half: its slow requests wait for each
        other, and other accounts do not wait for them."""
        self._pool = pool
        self._seats = asyncio.Semaphore(most)
        self._most_of_one = max(1, (most - 1) // 2)
        self._of_accounts: dict[Hashable, _Share] = {}

    @contextlib.asynccontextmanager
    async def share_of(self, account: Hashable, *, within_s: float) -> AsyncIterator[None]:
        """Held while a request of this account has a connection; None is an anonymous caller and not counted."""
        if account is None:
            yield
            return
        share = self._of_accounts.get(account)
        if share is None:
            share = self._of_accounts[account] = _Share(asyncio.Semaphore(self._most_of_one))
        share.users += 1
        try:
            try:
                async with asyncio.timeout(within_s):
                    await share.seats.acquire()
            except TimeoutError:
                raise AccountLimitError(
                    f"Requests of this account hold all {self._most_of_one} connections that one account may have;"
                    " ask again when one is answered."
                ) from None
            try:
                yield
            finally:
                share.seats.release()
        finally:
            share.users -= 1
            if not share.users:
                del self._of_accounts[account]

    async def take(self, *, within_s: float) -> Any:
        """Acquires a connection. Raises TooManyError when all are in use, instead of a connection error, which would
        trigger a restart of the database."""
        if self._seats.locked():
            try:
                async with asyncio.timeout(within_s):
                    await self._seats.acquire()
            except TimeoutError:
                raise TooManyError(FULL) from None
        else:
            await self._seats.acquire()
        try:
            return await self._pool.acquire(timeout=within_s)
        except BaseException:
            self._seats.release()
            raise

    async def give_back(self, conn: "PoolConnectionProxy[Row]", *, within_s: float) -> None:
        try:
            await self._pool.release(conn, timeout=within_s)
        finally:
            self._seats.release()
