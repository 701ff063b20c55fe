"""Deletes old rows that every domain adds day by day: requests for robots.txt, changes of its state, old cookies.

A thousand domains at a time, each batch in its own transaction. After a kill the next run starts with the first domain
again and finds little to do there.
"""

from collections.abc import Awaitable, Callable
from functools import partial

from forager.domains import retention
from forager.domains.retention import DeletedRows
from forager.domains.session_store import delete_old_sessions
from forager.scheduler.job import Job, JobContext, Loop
from forager.scheduler.text import things

DOMAINS_AT_ONCE = 1000
SESSION_S, SESSIONS_AT_ONCE = 90 * 86_400.0, 10_000
"""Cookies of domains that were not crawled for so long are deleted."""


class TracesJob(Job):
    name = "traces"
    interval_s = 86_400.0
    loop = Loop.NIGHTLY

    async def run(self, context: JobContext) -> str:
        conn, settings = context.connection, context.settings
        requests = await _drop(partial(retention.drop_robots_requests, conn, kept_s=settings.retention.robots_requests))
        moves = await _drop(
            partial(
                retention.drop_moves,
                conn,
                kept_s=settings.retention.domain_history,
                refresh_every_s=settings.refresh.interval,
            )
        )
        while await delete_old_sessions(conn, kept_s=SESSION_S, most=SESSIONS_AT_ONCE) == SESSIONS_AT_ONCE:
            pass
        return f"{things(requests, 'request')} for robots.txt and {things(moves, 'move')} of domains deleted"


async def _drop(drop: Callable[..., Awaitable[DeletedRows]]) -> int:
    total, after = 0, 0
    while True:
        gone = await drop(after=after, domains=DOMAINS_AT_ONCE)
        total += gone.rows
        if gone.last_id is None:
            return total
        after = gone.last_id
