"""Releases the leases of workers that died or send no heartbeat, so that their domains can be claimed again."""

from forager.engine.crash_marker import FOLDER
from forager.engine.recovery import recover
from forager.scheduler.job import Job, JobContext
from forager.scheduler.text import things


class TakeoverJob(Job):
    name = "takeover"
    interval_s = 30.0

    async def run(self, context: JobContext) -> str:
        settings = context.settings
        async with context.connection.transaction():
            freed = await recover(
                context.connection,
                dead_after_s=settings.worker.dead_after,
                delay_s=settings.politeness.delay,
                notes=settings.home / FOLDER,
            )
        return f"{things(len(freed), 'domain')} released"
