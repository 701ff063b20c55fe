"""Vacuums and analyses all tables every week.

PostgreSQL does both by itself where much changed; this catches what changed slowly. It blocks no other process: tables
that are locked are skipped, and no file is truncated, which would lock out readers for a moment.
"""

from forager.config.settings import Settings
from forager.db import statements
from forager.scheduler import times
from forager.scheduler.job import Job, JobContext, Loop
from forager.scheduler.times import TimeOfDay

SQL = statements.load("forager.db", "vacuum.sql")
PAUSE = "2ms"
"""PostgreSQL's vacuum_cost_delay, so that a crawl keeps most of the disk."""


class VacuumJob(Job):
    name = "vacuum"
    interval_s = 7 * 86_400.0
    loop = Loop.NIGHTLY

    def time_of_day(self, settings: Settings) -> TimeOfDay:
        return times.parse(settings.database.vacuum_schedule)

    async def run(self, context: JobContext) -> str:
        if context.settings.database.vacuum_schedule == times.NEVER:
            return "switched off by the setting database.vacuum_schedule"
        await context.connection.execute(SQL["be_gentle"], PAUSE)
        try:
            await context.connection.execute(SQL["vacuum"])
        finally:
            await context.connection.execute(SQL["be_gentle"], "0")
        return "all tables vacuumed and analysed"
