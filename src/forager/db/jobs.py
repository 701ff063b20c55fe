"""Every week the room of deleted rows is found again and the planner learns what is in the tables.

PostgreSQL does both by itself where much changed; this catches what changed slowly. It blocks nobody: tables somebody
locks are left out, and no file is cut short, which would lock out readers for a moment.
"""

from typing import Any

from forager.db import statements
from forager.scheduler.config import SchedulerConfig

SQL = statements.load("forager.db", "vacuum.sql")
NAME = "vacuum"
EVERY_S = 7 * 86_400.0
PAUSE = "2ms"
"""After every so many pages, so that a crawl keeps most of the disk."""


async def run_once(conn: Any, order: SchedulerConfig) -> str:
    if NAME not in order.times:
        return "switched off by the setting database.vacuum_schedule"
    await conn.execute(SQL["be_gentle"], PAUSE)
    try:
        await conn.execute(SQL["vacuum"])
    finally:
        await conn.execute(SQL["be_gentle"], "0")
    return "all tables vacuumed and analysed"
