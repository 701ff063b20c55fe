"""Makes a backup of the whole instance every night; backups that are too old are removed once the new one is whole."""

from forager.backup.service import run_backup
from forager.scheduler import times
from forager.scheduler.job import Job, JobContext, Loop
from forager.scheduler.times import TimeOfDay
from forager.settings import Settings


class BackupJob(Job):
    name = "backup"
    interval_s = 86_400.0
    loop = Loop.NIGHTLY

    def time_of_day(self, settings: Settings) -> TimeOfDay:
        return times.parse(settings.backup_at)

    async def run(self, context: JobContext) -> str:
        if context.settings.backup_at == times.NEVER:
            return "switched off by the setting backup_at"
        return await run_backup(context.forager)
