"""Recomputes the score of every domain that can be claimed: scores grow with age, and a lease may end without a new
score."""

from forager.domains.score import score_all
from forager.scheduler.job import Job, JobContext, Loop
from forager.scheduler.text import things


class ScoreJob(Job):
    name = "score"
    interval_s = 3600.0
    loop = Loop.SLOW

    async def run(self, context: JobContext) -> str:
        written = await score_all(context.connection, is_scored=context.settings.crawl.domain_order == "smart")
        return f"{things(written, 'score')} written"
