"""Wakes exhausted domains within seconds when one of their tasks is due: a task with a date, or a revisit.

Reads only the domains whose time has come, by index. Refreshes of whole domains are left to their own job.
"""

from forager.domains import cooldown
from forager.scheduler.job import ACTOR, Job, JobContext, Loop
from forager.scheduler.text import things

BATCH = 1000


class WakeJob(Job):
    name = "wake"
    interval_s = 2.0
    loop = Loop.DISPATCH

    async def run(self, context: JobContext) -> str:
        conn, settings = context.connection, context.settings
        due = await cooldown.find_dated(
            conn, limit=BATCH, refresh_every_s=settings.refresh.interval, is_refreshing=settings.refresh.enabled
        )
        woken = 0
        if due:
            async with conn.transaction():
                await cooldown.sign_moves(conn, by=ACTOR, reason_code="revisit", reason="a task is due")
                woken = await cooldown.wake_exhausted(conn, due, is_scored=settings.crawl.domain_order == "smart")
            if woken < len(due):
                await cooldown.reset_ready(conn, due)
        return f"{things(woken, 'domain')} woken"
