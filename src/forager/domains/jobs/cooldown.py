"""Returns blocked and unreachable domains whose cooldown is over to pending, each with something to do.

A domain that refused its home page has an empty frontier; without a new task it would stay pending forever. A block
without an end is lifted only by an operator.
"""

from forager.db.types import Connection
from forager.domains import cooldown
from forager.frontier import revisit_store as revisits
from forager.scheduler.job import ACTOR, Job, JobContext
from forager.scheduler.text import things

BATCH = 200
MOST_SEEDS = 100
"""Seeds of one domain that are retried at once."""


class CooldownJob(Job):
    name = "cooldown"
    interval_s = 60.0

    async def run(self, context: JobContext) -> str:
        returned = 0
        while count := await _return_batch(context.connection):
            returned += count
        return f"{things(returned, 'domain')} returned"


async def _return_batch(conn: Connection) -> int:
    async with conn.transaction():
        cooled = await cooldown.lock_expired_cooldowns(conn, BATCH)
        if cooled:
            reopened = await revisits.requeue_start_pages(conn, cooled, by=ACTOR, most_seeds=MOST_SEEDS)
            await cooldown.sign_moves(conn, by=ACTOR, reason_code="cooldown_over", reason="cooldown over")
            await cooldown.end_cooldowns(conn, {domain: reopened.get(domain, 0) for domain in cooled})
        return len(cooled)
