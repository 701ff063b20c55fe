"""Statistics of each domain and day (UTC), from the closed tasks.

Yesterday is always rolled up again, because a visit may be committed after midnight, and so is the newest day that was
written: no scheduler may have run since. The oldest day comes first, so that an interrupted roll-up leaves no gap.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise

from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection

SQL = statements.load("forager.stats", "days.sql")
MOST_DAYS = 31
"""Maximum number of days with changes per run; after a long downtime the next runs resume."""
BATCH = 100_000
"""Domains whose rows are written in one transaction. Each batch reads the day's tasks again."""


@dataclass(frozen=True, slots=True)
class Days:
    """The range of days to roll up."""

    first: date | None
    """None: there was never a visit."""
    today: date
    bounds: Sequence[int]
    """Domain ids: the last one of each batch."""


FIND_DAYS = Query(SQL["find_days"], Days)


async def find_days(conn: Connection, *, portion: int) -> Days:
    """Returns the days to roll up; `portion` is the number of domains per batch."""
    return await FIND_DAYS.one(conn, portion)


async def roll_up(conn: Connection, day: date, *, after: int, until: int) -> int:
    """Rolls up one day for domains with ids above `after` and up to `until`; returns how many rows were written."""
    begins_at = datetime.combine(day, time(), tzinfo=UTC)
    written: int = await conn.fetchval(SQL["roll_up"], begins_at, after, until)
    return written


async def roll_up_new_days(conn: Connection) -> int:
    """Rolls up the days that may have changed, and returns how many rows were written."""
    written = busy = 0
    found = await find_days(conn, portion=BATCH)
    for day in days_to_roll_up(found):
        if busy == MOST_DAYS:
            break
        steps = pairwise((0, *found.bounds))
        rows = sum([await roll_up(conn, day, after=after, until=until) for after, until in steps])
        written += rows
        busy += rows > 0
    return written


def days_to_roll_up(found: Days) -> Iterator[date]:
    if found.first is None:
        return
    day = min(found.first, found.today - timedelta(days=1))
    while day <= found.today:
        yield day
        day += timedelta(days=1)
