"""Time series by the minute: folds what workers counted, samples the current state, turns old minutes into days.

Each step is one statement that removes what it adds up, so that neither a kill in between nor a second scheduler
changes a sum.
"""

from forager.retention.service import archive_minute_stats
from forager.scheduler.job import Job, JobContext
from forager.scheduler.text import things
from forager.stats import series
from forager.stats.series import Number
from forager.storage.disk import read_disks

FOLD_AFTER_S = 60.0
"""Workers still write to the current minute and, in a slow transaction, to the one before."""
KEPT_DAYS = 7
"""Number of days for which minutes are kept in the database."""


class SeriesJob(Job):
    name = "series"
    interval_s = 30.0

    async def run(self, context: JobContext) -> str:
        conn, settings = context.connection, context.settings
        folded = await series.fold(conn, older_s=FOLD_AFTER_S)
        state = await series.read_state(conn, dead_after_s=settings.worker.dead_after)
        free = [Number("disk_free_bytes", "", disk.free_bytes) for disk in read_disks(settings)[:1]]
        await series.add_samples(conn, [*state, *free])
        async with conn.transaction(isolation="repeatable_read"):  # the file holds exactly the minutes that are removed
            await archive_minute_stats(conn, KEPT_DAYS, settings=settings)
            rolled = await series.roll_up(conn, after_days=KEPT_DAYS)
        became_days = f", {things(rolled, 'minute')} became days" if rolled else ""
        return f"{things(folded, 'row')} folded, {things(len(state) + len(free), 'number')} sampled{became_days}"
