"""The search server, where there is one, hears of what changed, and gets an index made where it has none.

Away, busy or killed in the middle, nothing is lost: what it has not taken waits in the outbox.
"""

from typing import Any

from forager.scheduler.config import SchedulerConfig

NAME = "search_server"
EVERY_S = 10.0


async def run_once(conn: Any, order: SchedulerConfig) -> str:
    if order.tend_search is None:
        return "PostgreSQL does the searching"
    return await order.tend_search(conn)
