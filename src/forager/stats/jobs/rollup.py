"""What was done in each domain on each day (UTC), from the closed tasks."""

from typing import Any

from forager.scheduler.config import SchedulerConfig
from forager.scheduler.text import things
from forager.stats import days

NAME = "rollup"
EVERY_S = 900.0


async def run_once(conn: Any, order: SchedulerConfig) -> str:  # noqa: ARG001
    return f"{things(await days.roll_up_new_days(conn), 'row')} written"
