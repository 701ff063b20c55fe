"""Makes a backup of the whole instance every night; old backups are removed once the new one is complete."""

from forager.backup.service import run_backup
from forager.config.settings import Settings
from forager.scheduler import times
from forager.scheduler.job import Job, JobContext, Loop
from forager.scheduler.times import TimeOfDay


class BackupJob(Job):
    name = "backup"
    interval_s = 86_400.0
    loop = Loop.NIGHTLY

    def time_of_day(self, settings: Settings) -> TimeOfDay:
        return times.parse(settings.backup.schedule)

    async def run(self, context: JobContext) -> str:
        if context.settings.backup.schedule == times.NEVER:
            return "switched off by the setting backup.schedule"
        return await run_backup(context.forager)
