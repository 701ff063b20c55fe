"""Serves urgent tasks within seconds: those of domains that the worker holds go to the front of their queues, and for
domains that wait a full worker releases its least urgent leases.

A domain is urgent while a task is due that a person ordered with priority 1 or 2. The claim takes such a domain first;
this module only sees to it that there is capacity for it, and that the worker claims it although it would wait for a
message, or let other workers claim first.
"""

from functools import partial

from forager.db.database import Database
from forager.domains import store as domains
from forager.engine.config import WorkerConfig
from forager.engine.domain_queues import DomainQueues
from forager.engine.lease_keeper import LeaseKeeper
from forager.engine.transaction_retry import in_transaction
from forager.logs import log

MOST_WAITING = 100
"""Urgent domains that are counted: more are served when these are."""
WAITED_S = 1.0
"""A full worker gives way to a domain that has been urgent for this time: before, another one may claim it."""


class UrgencyMonitor:
    def __init__(self, database: Database, config: WorkerConfig, queues: DomainQueues, leases: LeaseKeeper) -> None:
        self._database = database
        self._run = config.run
        self._max_domains = config.lease.max_domains
        self._queues = queues
        self._leases = leases
        self.waiting = 0
        """Urgent domains that this worker could lease, as of the last poll."""

    async def poll(self) -> None:
        """Reads what is urgent. Targets are claimed, and leases released, by the worker's loop, which this wakes."""
        reading = partial(
            domains.find_urgent,
            worker=self._queues.worker_id,
            run=self._run.run,
            labels=self._run.labels,
            most=MOST_WAITING,
            max_pages_per_domain=self._run.spec.max_pages_per_domain,
            waited_s=WAITED_S,
        )
        found = await in_transaction(self._database, reading)
        for domain, since in zip(found.held, found.since, strict=True):
            queue = self._queues.get(domain)
            if queue is not None and queue.expect_urgent(since):
                self._queues.wake()
        self.waiting = found.waiting
        if found.waiting:
            self._queues.wake()
        if found.overdue:
            await self._give_way(found.overdue)

    async def _give_way(self, overdue: int) -> None:
        """Closes the least urgent leases, for as many domains as wait and have no free place."""
        leaving = sum(queue.closing is not None for queue in self._queues)
        count = count_to_release(overdue, held=len(self._queues), leaving=leaving, most=self._max_domains)
        if not count:
            return
        kept = [queue.lease.domain_id for queue in self._queues if queue.closing is not None or queue.has_urgent]
        choosing = partial(
            domains.find_least_urgent, worker=self._queues.worker_id, run=self._run.run, kept=kept, limit=count
        )
        chosen = [
            queue
            for domain in await in_transaction(self._database, choosing)
            if (queue := self._queues.get(domain)) is not None and not queue.has_urgent
        ]
        for queue in chosen:
            self._leases.resume_or_close(queue, may_go_on=False)
        if chosen:
            log().info("released for urgent tasks", action="leases.urgent", domains=len(chosen))


def count_to_release(waiting: int, *, held: int, leaving: int, most: int) -> int:
    """Returns the number of leases to release for `waiting` domains, beyond the free places and the leases that are
    being released already."""
    return max(0, min(waiting, most) - leaving - max(0, most - held))
