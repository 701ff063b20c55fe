"""What every domain leaves behind day by day and nobody looks at for ever: requests for robots.txt, moves of its state.

A thousand domains at a time, each portion a transaction of its own. Killed in between, the next round begins at the
front again and finds little to do there.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from forager.domains import retention
from forager.domains.retention import Gone
from forager.scheduler.config import SchedulerConfig
from forager.scheduler.text import things

NAME = "traces"
EVERY_S = 86_400.0
DOMAINS_AT_ONCE = 1000


async def run_once(conn: Any, order: SchedulerConfig) -> str:
    requests = await _drop(partial(retention.drop_robots_requests, conn, kept_s=order.robots_retention_s))
    kept_s, refresh_every_s = order.moves_retention_s, order.refresh_every_s
    moves = await _drop(partial(retention.drop_moves, conn, kept_s=kept_s, refresh_every_s=refresh_every_s))
    return f"{things(requests, 'request')} for robots.txt and {things(moves, 'move')} of domains deleted"


async def _drop(drop: Callable[..., Awaitable[Gone]]) -> int:
    total, after = 0, 0
    while True:
        gone = await drop(after=after, domains=DOMAINS_AT_ONCE)
        total += gone.rows
        if gone.last_id is None:
            return total
        after = gone.last_id
