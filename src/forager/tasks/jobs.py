"""Tasks that wait for other tasks go on, or end, when those are closed. The operator's desk knows how; it comes in."""

from typing import Any

from forager.scheduler.config import SchedulerConfig
from forager.scheduler.text import things

NAME = "dependencies"
EVERY_S = 5.0
MOST_ROUNDS = 100


async def run_once(conn: Any, order: SchedulerConfig) -> str:
    settled = 0
    for _ in range(MOST_ROUNDS):
        async with conn.transaction():
            now = await order.settle_dependents(conn)
        settled += now
        if not now:
            break
    return f"{things(settled, 'task')} settled"
