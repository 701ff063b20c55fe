"""Blocked and unreachable domains whose cooldown is over go back to pending, each with something to do.

A domain that refused its home page has nothing left in its frontier; without a new task it would be pending for ever.
A block without an end is an operator's to lift.
"""

from typing import Any

from forager.domains import cooldown
from forager.frontier import revisits
from forager.scheduler.config import BY, SchedulerConfig
from forager.scheduler.text import things

NAME = "cooldown"
EVERY_S = 60.0
BATCH = 200
MOST_SEEDS = 100
"""Seeds of one domain that are tried again at once."""


async def run_once(conn: Any, order: SchedulerConfig) -> str:  # noqa: ARG001
    returned = 0
    while count := await _return_some(conn):
        returned += count
    return f"{things(returned, 'domain')} returned"


async def _return_some(conn: Any) -> int:
    async with conn.transaction():
        cooled = await cooldown.hold_cooled(conn, BATCH)
        if cooled:
            reopened = await revisits.reopen_homes(conn, cooled, by=BY, most_seeds=MOST_SEEDS)
            await cooldown.sign_moves(conn, by=BY, reason_code="cooldown_over", reason="cooldown over")
            await cooldown.return_cooled(conn, {domain: reopened.get(domain, 0) for domain in cooled})
        return len(cooled)
