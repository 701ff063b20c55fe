"""One short function per statement of `errors.sql`. Opens no transactions: the caller does."""

from datetime import UTC, date, datetime, time
from typing import NamedTuple

from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection

SQL = statements.load("forager.stats", "errors.sql")


class ErrorDays(NamedTuple):
    first: date
    """First day to roll up."""
    today: date


FIND_DAYS = Query(SQL["find_error_days"], ErrorDays)


async def find_days(conn: Connection) -> ErrorDays:
    return await FIND_DAYS.one(conn)


async def roll_up(conn: Connection, day: date) -> int:
    """Rolls up one day; returns how many rows were written."""
    written: int = await conn.fetchval(SQL["roll_up_errors"], datetime.combine(day, time(), tzinfo=UTC))
    return written
