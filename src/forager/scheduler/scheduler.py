"""Which duty is done when, and by whom: by whoever holds the lock of its row in `duties`.

The lock lives in a transaction that stays open around the duty, so that two schedulers never do it at once and a killed
one lets go of it. The duty itself works on a connection of its own, in transactions as short as it likes. A duty that
fails is written down as such and comes again in its turn; the others go on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forager.db import statements
from forager.db.cancelled import give_up_if_cancelled
from forager.db.rows import Row, as_dicts
from forager.observe import log
from forager.scheduler.config import Duty, SchedulerConfig
from forager.scheduler.times import ANY_TIME

SQL = statements.load("forager.scheduler")
LONGEST_WAIT = "30s"
"""For a lock, in a duty."""


@dataclass(frozen=True, slots=True)
class Done:
    """How a duty went: `result` or `error`."""

    name: str
    took_s: float
    result: str | None
    error: str | None


class JobScheduler:
    def __init__(self, pool: Any, duties: Sequence[Duty], order: SchedulerConfig) -> None:
        """The pool has to have two connections to spare."""
        self._pool = pool
        self._duties = {duty.NAME: duty for duty in duties}
        self._order = order
        self._failing: dict[str, str] = {}
        """What was said of duties that failed: once is enough."""
        self._conn: Any = None
        """On which a duty works now."""

    async def post(self) -> None:
        """Duties that were never seen are due at once, or at their time of day."""
        names, periods = list(self._duties), [duty.EVERY_S for duty in self._duties.values()]
        moments = [self._order.times.get(name, ANY_TIME) for name in names]
        times, weekdays = [at.time for at in moments], [at.weekday for at in moments]
        await self._pool.execute(SQL["post_duties"], names, periods, times, weekdays)

    async def do_due(self) -> list[Done]:
        """Whatever is due and nobody else does, each once."""
        left = set(self._duties)
        all_done: list[Done] = []
        while (done := await self._take(SQL["take_due"], sorted(left))) is not None:
            left.discard(done.name)
            all_done.append(done)
        return all_done

    async def do_now(self, name: str) -> Done | None:
        """Due or not; None when somebody else is doing it."""
        return await self._take(SQL["take_named"], name)

    async def next_in_s(self) -> float:
        """Seconds until something is due; 0 also while another scheduler does it."""
        wait_s: float = await self._pool.fetchval(SQL["next_due"], list(self._duties))
        return wait_s

    def abandon(self) -> None:
        """Hang up on a duty that was cancelled and does not end. A server that is asked to cancel a statement before it
        has begun with it does not hear that, and the driver waits until the statement is over, which may take hours."""
        if self._conn is not None:
            self._conn.terminate()

    async def _take(self, question: str, what: list[str] | str) -> Done | None:
        async with self._pool.acquire() as holder, holder.transaction():
            name = await holder.fetchval(question, what)
            return await self._do(holder, self._duties[name]) if name is not None else None

    async def _do(self, holder: Any, duty: Duty) -> Done:
        result = error = None
        try:
            async with self._pool.acquire() as self._conn:
                await self._conn.execute(SQL["limit_waits"], LONGEST_WAIT)
                result = await duty.run_once(self._conn, self._order)
            log().info("duty done", action="duty.done", duty=duty.NAME, result=result)
        except Exception as trouble:  # whatever it is, it is this duty's alone
            give_up_if_cancelled()
            error = f"{type(trouble).__name__}: {trouble}"
            say = log().info if self._failing.get(duty.NAME) == error else log().warning
            say("duty failed", action="duty.failed", duty=duty.NAME, error=error)
        finally:
            self._conn = None
        self._failing = {**self._failing, duty.NAME: error or ""}
        at = self._order.times.get(duty.NAME, ANY_TIME)
        took_s = await holder.fetchval(SQL["end_duty"], duty.NAME, duty.EVERY_S, result, error, *at)
        return Done(duty.NAME, took_s, result, error)


async def read_duties(conn: Any) -> list[dict[str, Any]]:
    """The timetable, a row for each duty that was ever posted."""
    return [dict(row) for row in await conn.fetch(SQL["read_duties"])]


async def list_overdue(conn: Any, names: Sequence[str]) -> list[Row]:
    """The most overdue first."""
    return as_dicts(await conn.fetch(SQL["duties_now"], names))
