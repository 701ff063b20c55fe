"""One short function per statement of `days.sql`. Opens no transactions: the floor above does."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from forager.db import statements
from forager.db.query import Query

SQL = statements.load("forager.stats", "days.sql")


@dataclass(frozen=True, slots=True)
class Days:
    """What there is to roll up."""

    first: date | None
    """None: nothing was ever visited."""
    today: date
    bounds: Sequence[int]
    """Ids of domains: the last of each portion."""


FIND_DAYS = Query(SQL["find_days"], Days)


async def find_days(conn: Any, *, portion: int) -> Days:
    """`portion` domains are to be rolled up at once."""
    return await FIND_DAYS.one(conn, portion)


async def roll_up(conn: Any, day: date, *, after: int, until: int) -> int:
    """How many rows of that day were written, for domains with ids after the one and up to the other."""
    begins_at = datetime.combine(day, time(), tzinfo=UTC)
    written: int = await conn.fetchval(SQL["roll_up"], begins_at, after, until)
    return written
