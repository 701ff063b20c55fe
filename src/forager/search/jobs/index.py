"""Makes pages fetched since the last run searchable, and finds near-duplicates among them.

Recording a page does none of this work. A search indexes the latest pages itself, so this job may run seldom.
"""

from forager.parsing.keywords import CONFIGS
from forager.scheduler.job import Job, JobContext, Loop
from forager.scheduler.text import things
from forager.search import index

MOST_PAGES = 200_000
"""Per run, so that other jobs can run."""


class IndexJob(Job):
    name = "index"
    interval_s = 300.0
    loop = Loop.SLOW

    async def run(self, context: JobContext) -> str:
        done = await index.index_many(context.connection, CONFIGS, most=MOST_PAGES)
        return f"{things(done.changed, 'page')} indexed"
