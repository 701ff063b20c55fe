"""Numbers by the minute: what workers counted is folded together, how things stand is sampled, old minutes become days.

Each step is one statement that takes away what it adds up, so that a kill in between, or a second scheduler, changes no
sum.
"""

from typing import Any

from forager.scheduler.config import SchedulerConfig
from forager.scheduler.text import things
from forager.stats import series
from forager.stats.series import Number

NAME = "series"
EVERY_S = 30.0
FOLD_AFTER_S = 60.0
"""Workers still write to this minute and, in a slow transaction, to the one before."""
KEPT_DAYS = 7
"""Minutes are kept for so many days."""


async def run_once(conn: Any, order: SchedulerConfig) -> str:
    folded = await series.fold(conn, older_s=FOLD_AFTER_S)
    state = await series.read_state(conn, dead_after_s=order.dead_after_s)
    room = [Number("disk_free_bytes", "", disk.free_bytes) for disk in order.disks()[:1]]
    await series.add_samples(conn, [*state, *room])
    async with conn.transaction(isolation="repeatable_read"):  # what is written down is what leaves
        if order.keep_minutes is not None:
            await order.keep_minutes(conn, KEPT_DAYS)
        rolled = await series.roll_up(conn, after_days=KEPT_DAYS)
    became_days = f", {things(rolled, 'minute')} became days" if rolled else ""
    return f"{things(folded, 'row')} folded, {things(len(state) + len(room), 'number')} sampled{became_days}"
