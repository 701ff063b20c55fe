"""Domains that are due are offered to workers through the broker, a hint each. One scheduler at a time does it.

What is offered is written down and committed first, then told: a kill in between leaves an offer that nobody heard
of, and that is told again. The window is small, so that a domain which became better or worse since does not wait
behind a thousand others; and what a queue has lost, because it was wiped or its broker burned down, is told again
too.
"""

from collections.abc import Sequence
from typing import Any

from forager.dispatch import store
from forager.dispatch.errors import BrokerUnavailableError
from forager.dispatch.names import KINDS, Names
from forager.dispatch.store import Depth, ServedRun, Told
from forager.domains.store import wake_due
from forager.scheduler.config import SchedulerConfig
from forager.scheduler.text import things

NAME = "dispatch"
EVERY_S = 1.0
WINDOW = 1000
"""Offers that are out at once of one run, for each label that domains want their workers to have."""
LOST_S = 5.0
"""An offer that nobody took up for so long, and that the queue does not hold any more, was lost."""


async def run_once(conn: Any, order: SchedulerConfig) -> str:
    broker = order.broker
    if broker is None:
        return "no broker: workers ask the database themselves"
    runs = await store.runs_to_serve(conn)
    queues = {run.id: queues_of(broker.names, run) for run in runs}
    depths = await broker.look([*(name for both in queues.values() for name in both), broker.names.parse])
    await store.keep_depths(conn, by_kind(depths, broker.names))
    await store.void_offers(conn)
    offered = 0
    for run in runs:
        waiting = sum(depths[name].messages for name in queues[run.id])
        told = await _offer(conn, run, waiting)
        urgent, others = queues[run.id]
        try:
            await broker.tell([(urgent if each.is_urgent else others, each.hint) for each in told])
        except BrokerUnavailableError:
            async with conn.transaction():
                await store.withdraw_offers(conn, [each.hint for each in told])
            raise
        offered += len(told)
    return f"{things(offered, 'domain')} offered"


async def _offer(conn: Any, run: ServedRun, waiting: int) -> Sequence[Told]:
    """What is to be told of one run, and its queues hold so many messages. Committed when this returns."""
    await wake_due(conn, run.id)
    out = await store.count_offers(conn, run.id)
    again = await store.renew_offers(conn, run.id, older_than_s=LOST_S, lost=max(0, out - waiting))
    stale = max(0, waiting - out)  # messages that nobody has read yet, of offers that are void
    return [*again, *(await store.make_offers(conn, run, max(0, WINDOW - stale)))]


def queues_of(names: Names, run: ServedRun) -> tuple[str, str]:
    """For what is urgent, and for the rest."""
    number = None if run.is_standing else run.id
    return names.crawl(number, is_urgent=True), names.crawl(number, is_urgent=False)


def by_kind(depths: dict[str, Depth], names: Names) -> dict[str, Depth]:
    """However many runs there are, four numbers."""
    sums = dict.fromkeys(KINDS, Depth(0, 0))
    for queue, depth in depths.items():
        before = sums[names.kind(queue)]
        sums[names.kind(queue)] = Depth(before.messages + depth.messages, before.consumers + depth.consumers)
    return sums
