"""Vacuums and analyzes all tables every week.

PostgreSQL does both by itself for tables that changed much; this job covers those that change slowly. It blocks no
other process: it skips locked tables and truncates no file, which would briefly lock out readers.
"""

from forager.config.settings import Settings
from forager.db import statements
from forager.scheduler import times
from forager.scheduler.job import Job, JobContext, Loop
from forager.scheduler.times import TimeOfDay

SQL = statements.load("forager.db", "vacuum.sql")
PAUSE = "2ms"
"""PostgreSQL's vacuum_cost_delay, which leaves most of the disk bandwidth to the crawl."""


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
