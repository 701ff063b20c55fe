"""Offers due domains to workers through the broker, one message each. One scheduler at a time does it.

Offers are committed first and sent afterwards: a kill in between leaves an offer that was not sent, and that is sent
again. The window is small, so that a domain whose priority changed does not wait behind a thousand others; messages
that a queue lost, because it was purged or its broker failed, are sent again too.
"""

from collections.abc import Sequence

from forager.config.settings import Settings
from forager.db.types import Connection
from forager.dispatch import store
from forager.dispatch.errors import BrokerUnavailableError
from forager.dispatch.names import KINDS, Names
from forager.dispatch.store import Depth, QueuedHint, ServedRun
from forager.domains.store import wake_due
from forager.scheduler.job import Job, JobContext, Loop
from forager.scheduler.text import things

WINDOW = 1000
"""Open offers of one run, for each label that domains require of their workers."""
LOST_S = 5.0
"""An offer that no worker took for this time, and that is no longer in the queue, was lost."""


class DispatchJob(Job):
    name = "dispatch"
    interval_s = 1.0
    loop = Loop.DISPATCH

    def is_enabled(self, settings: Settings) -> bool:
        return settings.dispatch.mode == "celery"

    async def run(self, context: JobContext) -> str:
        conn, broker = context.connection, context.broker
        if broker is None:
            return "no broker: workers ask the database themselves"
        runs = await store.runs_to_serve(conn)
        queues = {run.id: queues_of(broker.names, run) for run in runs}
        depths = await broker.look([*(name for both in queues.values() for name in both), broker.names.parse])
        await store.keep_depths(conn, by_kind(depths, broker.names))
        await store.delete_stale_offers(conn)
        offered = 0
        for run in runs:
            waiting = sum(depths[name].messages for name in queues[run.id])
            told = await _offer(conn, run, waiting)
            urgent, others = queues[run.id]
            try:
                await broker.tell([(urgent if each.is_urgent else others, each.hint) for each in told])
            except BrokerUnavailableError:
                async with conn.transaction():
                    await store.delete_offers(conn, [each.hint for each in told])
                raise
            offered += len(told)
        return f"{things(offered, 'domain')} offered"


async def _offer(conn: Connection, run: ServedRun, waiting: int) -> Sequence[QueuedHint]:
    """Returns the offers to send for a run whose queues hold `waiting` messages. Committed when this returns."""
    await wake_due(conn, run.id)
    out = await store.count_offers(conn, run.id)
    again = await store.renew_offers(conn, run.id, older_than_s=LOST_S, lost=max(0, out - waiting))
    stale = max(0, waiting - out)  # unread messages of void offers
    return [*again, *(await store.make_offers(conn, run, max(0, WINDOW - stale)))]


def queues_of(names: Names, run: ServedRun) -> tuple[str, str]:
    """Returns the queue for urgent domains and the one for the others."""
    number = None if run.is_standing else run.id
    return names.crawl(number, is_urgent=True), names.crawl(number, is_urgent=False)


def by_kind(depths: dict[str, Depth], names: Names) -> dict[str, Depth]:
    """Returns the depths summed by kind: four numbers, however many runs there are."""
    sums = dict.fromkeys(KINDS, Depth(0, 0))
    for queue, depth in depths.items():
        before = sums[names.kind(queue)]
        sums[names.kind(queue)] = Depth(before.messages + depth.messages, before.consumers + depth.consumers)
    return sums
