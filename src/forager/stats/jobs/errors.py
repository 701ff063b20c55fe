"""Counts the failures of each day by problem, so that a problem has a history longer than its tasks.

Yesterday is always counted again, because a visit may be committed after midnight, and so is the newest day that was
written: no scheduler may have run since.
"""

from datetime import timedelta

from forager.scheduler.job import Job, JobContext, Loop
from forager.scheduler.text import things
from forager.stats import errors

MOST_DAYS = 31
"""Maximum number of days per run; the next run resumes."""


class ErrorsJob(Job):
    name = "errors"
    interval_s = 900.0
    loop = Loop.SLOW

    async def run(self, context: JobContext) -> str:
        first, today = await errors.find_days(context.connection)
        days = [first + timedelta(days=number) for number in range((today - first).days + 1)]
        written = [await errors.roll_up(context.connection, day) for day in days[:MOST_DAYS]]
        return f"{things(sum(written), 'row')} written"
