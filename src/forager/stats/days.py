"""What was done in each domain on each day (UTC), from the closed tasks.

Yesterday is always done again, because a visit may be committed after midnight, and so is the newest day that was
written: the scheduler may have been away since. The oldest day comes first, so that nothing is left out when cut short.
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
"""Days with something new in one round; after a long absence the next rounds go on."""
BATCH = 100_000
"""Domains whose rows are written in one transaction. Each batch reads the day's tasks once more."""


@dataclass(frozen=True, slots=True)
class Days:
    """What there is to roll up."""

    first: date | None
    """None: nothing was ever visited."""
    today: date
    bounds: Sequence[int]
    """Ids of domains: the last of each portion."""


FIND_DAYS = Query(SQL["find_days"], Days)


async def find_days(conn: Connection, *, portion: int) -> Days:
    """`portion` domains are to be rolled up at once."""
    return await FIND_DAYS.one(conn, portion)


async def roll_up(conn: Connection, day: date, *, after: int, until: int) -> int:
    """How many rows of that day were written, for domains with ids after the one and up to the other."""
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
