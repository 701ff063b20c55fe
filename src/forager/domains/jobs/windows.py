"""Defers due domains whose maintenance window begins until it ends.

The claim would skip them anyway; this keeps it from reading many of them each time. A worker that holds a lease returns
it by itself, and after the window the claim finds the domains by their time.
"""

from forager.domains import cooldown
from forager.scheduler.job import Job, JobContext
from forager.scheduler.text import things

BATCH = 1000


class WindowsJob(Job):
    name = "windows"
    interval_s = 60.0

    async def run(self, context: JobContext) -> str:
        closed = 0
        while count := await cooldown.close_windows(context.connection, BATCH):
            closed += count
        return f"{things(closed, 'domain')} deferred"
