"""Releases tasks that wait for other tasks, or cancels them, when those are closed."""

from forager.scheduler.job import Job, JobContext
from forager.scheduler.text import things
from forager.tasks.dependencies import release_finished

MOST_ROUNDS = 100


class DependenciesJob(Job):
    name = "dependencies"
    interval_s = 5.0

    async def run(self, context: JobContext) -> str:
        goes_on = context.settings.crawl.dependents == "run"
        settled = 0
        for _ in range(MOST_ROUNDS):
            async with context.connection.transaction():
                count = await release_finished(context.connection, goes_on=goes_on)
            settled += count
            if not count:
                break
        return f"{things(settled, 'task')} settled"
