"""Adds up the closed tasks of each domain and day (UTC)."""

from forager.scheduler.job import Job, JobContext, Loop
from forager.scheduler.text import things
from forager.stats import days


class RollupJob(Job):
    name = "rollup"
    interval_s = 900.0
    loop = Loop.SLOW

    async def run(self, context: JobContext) -> str:
        return f"{things(await days.roll_up_new_days(context.connection), 'row')} written"
