"""Applies operator actions within a second: running tasks that were paused or cancelled, leases of disabled domains,
drained workers.

Waiting targets are abandoned at once, visits in progress at their next step: before the request, after the response,
after parsing. A visit that had already finished is recorded; if it was cancelled, the record is rejected.
"""

import asyncio
from collections.abc import Sequence

from forager.db.database import Database
from forager.db.types import Connection
from forager.domains import store as domains
from forager.domains import tasks as switches
from forager.engine.abandoned_tasks import AbandonedTasks
from forager.engine.claims import Claims
from forager.engine.domain_queue import DomainQueue
from forager.engine.domain_queues import DomainQueues
from forager.engine.transaction_retry import in_transaction
from forager.frontier import tasks
from forager.frontier.tasks import Call, CancelledTask
from forager.stats import store as stats

EVERY_S = 1.0
Tokens = list[tuple[int, int]]


async def prune(conn: Connection) -> None:
    """Deletes signals that no worker will receive, because their workers are gone."""
    await tasks.delete_stale_signals(conn)


class TaskSignals:
    def __init__(
        self,
        database: Database,
        queues: DomainQueues,
        claims: Claims,
        abandoned: AbandonedTasks,
    ) -> None:
        self._database = database
        self._queues = queues
        self._claims = claims
        self._abandoned = abandoned
        self._writing = asyncio.Lock()
        self.is_sent_away = False
        """Set when an operator drains this worker: it finishes open requests and exits."""

    async def poll(self) -> Tokens:
        """Reads and applies pending signals; returns the leases that an operator wants to end."""
        calls, switched_off = await in_transaction(self._database, self._read)
        for call in calls:
            queue = self._queues.get(call.domain_id)
            if queue is not None and queue.cancel_target(call.task_id):
                self._abandoned.add(queue, [call.task_id])
        await self.write_abandoned()
        return switched_off

    async def write_abandoned(self) -> None:
        """Writes which tasks were abandoned. Also called before a lease is released, and waits for a concurrent call
        that started earlier: the lease, and so possibly the run, ends only after what depends on it."""
        async with self._writing:
            if self._abandoned:
                await self._write(self._abandoned.take())

    async def _write(self, abandoned: Sequence[tuple[DomainQueue, CancelledTask]]) -> None:
        worker = self._queues.worker_id

        async def once(conn: Connection) -> bool:
            held = await domains.hold_leases(conn, [queue.lease.token for queue, _ in abandoned], worker=worker)
            ours = [task for queue, task in abandoned if queue.lease.token in held]
            freed = await tasks.release_tasks(conn, worker, ours) if ours else []
            await domains.return_claims(conn, freed)
            for run, _, pages, _ in freed:
                await stats.return_pages(conn, run, pages)
            return bool(freed)

        if await in_transaction(self._database, once):
            self._claims.resume()
        for queue, task in abandoned:
            queue.remove_cancelled(task.task_id)

    async def _read(self, conn: Connection) -> tuple[list[Call], Tokens]:
        worker = self._queues.worker_id
        self.is_sent_away = await stats.is_draining(conn, worker)
        return await tasks.poll_signals(conn, worker), await switches.switched_off(conn, worker)
