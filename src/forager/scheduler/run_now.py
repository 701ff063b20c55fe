"""A duty that an operator wants done now: it becomes due, and whoever keeps the timetable does it."""

from typing import Any

from forager.db import statements

SQL = statements.load("forager.scheduler", "run_now.sql")


async def hasten(conn: Any, name: str, every_s: float) -> bool:
    """False while somebody is doing it."""
    return await conn.fetchval(SQL["hasten"], name, every_s) is not None
