"""What never changes is sealed, so that `forager check --deep` can prove it: some minutes after it was written."""

from typing import Any

from forager.scheduler.config import SchedulerConfig
from forager.scheduler.text import things
from forager.stats import seals

NAME = "seal"
EVERY_S = 120.0
WITHIN_S = 30.0
"""A long history that was never sealed is sealed in several goes."""


async def run_once(conn: Any, order: SchedulerConfig) -> str:  # noqa: ARG001
    return f"{things(await seals.seal_within(conn, within_s=WITHIN_S), 'row')} sealed"
