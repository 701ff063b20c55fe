"""One short function per statement of `errors.sql`. Opens no transactions: the floor above does."""

from datetime import UTC, date, datetime, time
from typing import Any

from forager.db import statements

SQL = statements.load("forager.stats", "errors.sql")


async def find_days(conn: Any) -> tuple[date, date]:
    """The first day that is to be rolled up, and today."""
    return tuple(await conn.fetchrow(SQL["find_error_days"]))


async def roll_up(conn: Any, day: date) -> int:
    """How many rows of that day were written."""
    written: int = await conn.fetchval(SQL["roll_up_errors"], datetime.combine(day, time(), tzinfo=UTC))
    return written
