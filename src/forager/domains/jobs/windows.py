"""When a maintenance window begins, due domains inside it are due no more until it ends.

The claim would pass them over anyway; this keeps it from reading a crowd of them each time. Who holds a lease hands it
back by itself, and when the window is over the claim finds them by their time.
"""

from typing import Any

from forager.domains import cooldown
from forager.scheduler.config import SchedulerConfig
from forager.scheduler.text import things

NAME = "windows"
EVERY_S = 60.0
BATCH = 1000


async def run_once(conn: Any, order: SchedulerConfig) -> str:  # noqa: ARG001
    closed = 0
    while count := await cooldown.close_windows(conn, BATCH):
        closed += count
    return f"{things(closed, 'domain')} put to sleep"
