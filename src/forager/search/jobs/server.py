"""Sends changes to the search server, if one is configured, and builds an index if it has none.

Nothing is lost when the server is unavailable or the job is killed: changes stay in the outbox until they are accepted.
"""

from forager.config.settings import Settings
from forager.scheduler.job import Job, JobContext, Loop
from forager.search.backend import sync_server


class SearchServerJob(Job):
    name = "search_server"
    interval_s = 10.0
    loop = Loop.SLOW

    def is_enabled(self, settings: Settings) -> bool:
        return settings.search.backend != "postgres"

    async def run(self, context: JobContext) -> str:
        if not self.is_enabled(context.settings):
            return "PostgreSQL does the searching"
        return await sync_server(context.connection, context.settings)
