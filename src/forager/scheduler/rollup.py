"""What was done in each domain on each day (UTC), from the closed tasks.

Yesterday is always done again, because a visit may be committed after midnight, and so is the newest day that was
written: the scheduler may have been away since. The oldest day comes first, so that nothing is left out when cut short.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

from forager.scheduler.config import SchedulerConfig
from forager.scheduler.words import things
from forager.stats import days
from forager.stats.days import Days

NAME = "rollup"
EVERY_S = 900.0
MOST_DAYS = 31
"""Days with something new in one round; after a long absence the next rounds go on."""
BATCH = 100_000
"""Domains whose rows are written in one transaction. Each batch reads the day's tasks once more."""


async def run_once(conn: Any, order: SchedulerConfig) -> str:  # noqa: ARG001
    written = busy = 0
    found = await days.find_days(conn, portion=BATCH)
    for day in days_to_roll_up(found):
        if busy == MOST_DAYS:
            break
        steps = pairwise((0, *found.bounds))
        rows = sum([await days.roll_up(conn, day, after=after, until=until) for after, until in steps])
        written += rows
        busy += rows > 0
    return f"{things(written, 'row')} written"


def days_to_roll_up(found: Days) -> Iterator[date]:
    if found.first is None:
        return
    day = min(found.first, found.today - timedelta(days=1))
    while day <= found.today:
        yield day
        day += timedelta(days=1)
