"""Seals rows that never change, some minutes after they were written, so that `forager check --deep` can verify
them."""

from forager.scheduler.job import Job, JobContext, Loop
from forager.scheduler.text import things
from forager.stats import seals

WITHIN_S = 30.0
"""Time limit per run: a long history that was never sealed takes several runs."""


class SealJob(Job):
    name = "seal"
    interval_s = 120.0
    loop = Loop.SLOW

    async def run(self, context: JobContext) -> str:
        return f"{things(await seals.write_digests_within(context.connection, within_s=WITHIN_S), 'row')} sealed"
