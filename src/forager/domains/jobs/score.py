"""The score of every domain that may be claimed some day, made anew: it grows with age, and leases end without it."""

from typing import Any

from forager.domains.score import score_all
from forager.scheduler.config import SchedulerConfig
from forager.scheduler.text import things

NAME = "score"
EVERY_S = 3600.0


async def run_once(conn: Any, order: SchedulerConfig) -> str:
    return f"{things(await score_all(conn, is_scored=order.is_scored), 'score')} written"
