"""Every night: moves old visits to archive files, deletes files of images that are too old or that no image refers to,
and records the size of everything.

After a kill the next night resumes. Bodies and time series have jobs of their own.
"""

from forager.config.settings import Settings
from forager.images.service import prune_images
from forager.retention.service import move_old
from forager.scheduler import times
from forager.scheduler.job import Job, JobContext, Loop
from forager.scheduler.times import TimeOfDay
from forager.stats import storage


class RetainJob(Job):
    name = "retain"
    interval_s = 86_400.0
    loop = Loop.NIGHTLY

    def time_of_day(self, settings: Settings) -> TimeOfDay:
        return times.parse(settings.archive.schedule)

    async def run(self, context: JobContext) -> str:
        conn, settings = context.connection, context.settings
        await storage.note_sizes(conn)
        if settings.archive.schedule == times.NEVER:
            return "switched off by the setting archive.schedule"
        return f"{await move_old(conn, settings)}; {await prune_images(conn, settings)}"
