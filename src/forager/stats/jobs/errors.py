"""Failures of each day by what they have in common, so that a problem has a history longer than the tasks'.

Yesterday is always done again, because a visit may be committed after midnight, and so is the newest day that was
written: the scheduler may have been away since.
"""

from datetime import timedelta
from typing import Any

from forager.scheduler.config import SchedulerConfig
from forager.scheduler.text import things
from forager.stats import errors

NAME = "errors"
EVERY_S = 900.0
MOST_DAYS = 31
"""In one round; after a longer absence the next one goes on."""


async def run_once(conn: Any, order: SchedulerConfig) -> str:  # noqa: ARG001
    first, today = await errors.find_days(conn)
    days = [first + timedelta(days=number) for number in range((today - first).days + 1)]
    written = [await errors.roll_up(conn, day) for day in days[:MOST_DAYS]]
    return f"{things(sum(written), 'row')} written"
