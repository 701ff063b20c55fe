"""Rate limits that hold across processes without a statement per request: `RequestCounter`s, synchronized in bulk.

Each process adds its accepted requests to the table `rate_counts` once a second and reads the totals of all processes;
a process that has used up its share of a limit synchronizes immediately. A shared counter before the table, such as
Redis, takes that load off it. While none is reachable, each process counts alone.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from forager import clock
from forager.accounts.request_counter import WINDOW_S, RequestCounter
from forager.db import statements
from forager.db.pool import STATEMENT_FAILED
from forager.db.types import Pool
from forager.logs import log

SQL = statements.load("forager.accounts", "rate_limit.sql")
EVERY_S = 1.0
LONGEST_COMPARING_S = 2.0
CLEAR_EVERY_S = 30.0
MOST_SUBJECTS = 100_000
"""The limit of subjects in memory; the table keeps the others for a minute."""


class SharedCounter(Protocol):
    """Adds up the accepted requests of all processes: subject → second → requests."""

    async def exchange(
        self, told: Mapping[str, Mapping[int, int]], since: int
    ) -> Mapping[str, Mapping[int, int]] | None:
        """Adds the counts and returns the totals of all processes since then. None: use the next counter."""

    async def clear_out(self, before: int) -> None:
        """Deletes counts of seconds before this one."""


class Table:
    """The table `rate_counts`. Raises the errors of the database while that is unavailable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def exchange(self, told: Mapping[str, Mapping[int, int]], since: int) -> Mapping[str, Mapping[int, int]]:
        rows = [(name, at, n) for name, counts in told.items() for at, n in sorted(counts.items())]
        names, seconds, numbers = map(list, zip(*rows, strict=True)) if rows else ([], [], [])
        async with self._pool.acquire(timeout=LONGEST_COMPARING_S) as conn:
            await conn.execute(SQL["tell"], names, seconds, numbers)
            found = await conn.fetch(SQL["learn"], list(told), since)
        return {row["subject"]: dict(zip(row["slots"], row["requests"], strict=True)) for row in found}

    async def clear_out(self, before: int) -> None:
        async with self._pool.acquire(timeout=LONGEST_COMPARING_S) as conn:
            await conn.execute(SQL["clear_out"], before)


class Limiter:
    def __init__(self, pool: Pool, *before: SharedCounter) -> None:
        self._ledgers: tuple[SharedCounter, ...] = (*before, Table(pool))
        """In the order in which they are tried."""
        self._meters: OrderedDict[str, RequestCounter] = OrderedDict()
        self._changed: set[str] = set()
        self._comparing: asyncio.Task[None] | None = None
        self._is_away = False
        self._clear_at = 0.0

    async def take(self, subject: str, limit: int) -> int:
        """Counts a request. Returns 0 if it is accepted, else the seconds until one is."""
        while True:
            meter, second = self._get_counter(subject), int(clock.now().timestamp())
            if wait_s := meter.wait_s(second, limit):
                return wait_s
            if self._is_away or not meter.needs_sync(limit):
                break
            await self.compare()
        meter.take(second)
        self._changed.add(subject)
        return 0

    def wait_s(self, subject: str, limit: int) -> int:
        """Returns the seconds until a request is accepted, as far as this process knows, without counting it."""
        meter = self._meters.get(subject)
        return meter.wait_s(int(clock.now().timestamp()), limit) if meter else 0

    def standing(self, subject: str, limit: int) -> tuple[int, int]:
        """Returns, as far as this process knows, the number of requests left and the seconds until it grows."""
        return self._get_counter(subject).standing(int(clock.now().timestamp()), limit)

    async def compare(self) -> None:
        """Sends and receives counts. A caller that arrives during a synchronization waits for it, and then for the next
        one, which includes its own counts."""
        running = self._comparing
        if running is not None and not running.done():
            await asyncio.wait([running])
        if self._comparing is None or self._comparing.done():
            self._comparing = asyncio.create_task(self._compare())
        await asyncio.wait([self._comparing])

    @contextlib.asynccontextmanager
    async def keep_synced(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self._sync_loop())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await self.compare()

    def _get_counter(self, subject: str) -> RequestCounter:
        meter = self._meters.get(subject)
        if meter is None:
            meter = self._meters[subject] = RequestCounter()
            if len(self._meters) > MOST_SUBJECTS:
                forgotten, _ = self._meters.popitem(last=False)
                self._changed.discard(forgotten)
        return meter

    async def _sync_loop(self) -> None:
        while True:
            await asyncio.sleep(EVERY_S)
            await self.compare()

    async def _compare(self) -> None:
        second = int(clock.now().timestamp())
        told = {name: self._meters[name].take_pending() for name in sorted(self._changed) if name in self._meters}
        self._changed.clear()
        try:
            async with asyncio.timeout(LONGEST_COMPARING_S):
                if told:
                    await self._exchange(told, second)
                if clock.monotonic() >= self._clear_at:
                    await self._clear_out(second)
            self._is_away = False
        except STATEMENT_FAILED as error:
            self._take_back(told)
            if not self._is_away:
                log().warning("rate limits count alone", action="limits.alone", error=repr(error))
            self._is_away = True

    async def _exchange(self, told: dict[str, dict[int, int]], second: int) -> None:
        for ledger in self._ledgers:
            found = await ledger.exchange(told, second - WINDOW_S)
            if found is not None:
                self._merge_counts(found)
                return

    async def _clear_out(self, second: int) -> None:
        self._clear_at = clock.monotonic() + CLEAR_EVERY_S
        self._drop_idle(second)
        for ledger in self._ledgers:
            await ledger.clear_out(second - 2 * WINDOW_S)

    def _merge_counts(self, found: Mapping[str, Mapping[int, int]]) -> None:
        for subject, counts in found.items():
            if (meter := self._meters.get(subject)) is not None:
                meter.learn(counts)

    def _take_back(self, told: dict[str, dict[int, int]]) -> None:
        for name, counts in told.items():
            if (meter := self._meters.get(name)) is not None:
                meter.restore_pending(counts)
                self._changed.add(name)

    def _drop_idle(self, second: int) -> None:
        for name in [name for name, meter in self._meters.items() if meter.is_idle(second)]:
            del self._meters[name]
