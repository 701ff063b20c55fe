"""Running tasks that somebody paused or cancelled, leases that an operator switched off, workers that are sent away:
heard within a second.

What waits in a queue is put down at once, what is under way at its next step: before its request, after its answer,
after its reading. A visit that was finished already is recorded; if it was cancelled, the record is refused.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from forager.db.database import Database
from forager.domains import store as domains
from forager.domains import tasks as switches
from forager.engine.domain_queue import DomainQueue
from forager.engine.transaction_retry import in_transaction
from forager.frontier import tasks
from forager.frontier.tasks import AbandonedTask, Call
from forager.stats import store as stats

EVERY_S = 1.0
Tokens = list[tuple[int, int]]


async def prune(conn: Any) -> None:
    """Calls nobody will hear: their workers are gone."""
    await tasks.sweep_calls(conn)


class TaskSignals:
    def __init__(
        self,
        database: Database,
        queues: Mapping[int, DomainQueue],
        *,
        worker: Callable[[], int],
        on_freed: Callable[[], None],
    ) -> None:
        """`on_freed` is told when pages went back to the run's limit."""
        self._database = database
        self._queues = queues
        self._worker = worker
        self._on_freed = on_freed
        self._obeyed: list[tuple[DomainQueue, AbandonedTask]] = []
        self._obeying = asyncio.Lock()
        self.is_sent_away = False
        """Somebody wants this worker to finish what is open and to end."""

    async def listen(self) -> Tokens:
        """Hear what there is and obey it; answers the leases that an operator wants ended."""
        calls, switched_off = await in_transaction(self._database, self._ask)
        for call in calls:
            queue = self._queues.get(call.domain_id)
            if queue is not None and queue.cancel_target(call.task_id):
                self.abandon(queue, [call.task_id])
        await self.obey()
        return switched_off

    def abandon(self, queue: DomainQueue, task_ids: Sequence[int]) -> None:
        """These are not visited now. What was asked for them already is written down with them."""
        for task in task_ids:
            self._obeyed.append((queue, AbandonedTask(task, queue.tries.pop(task, ()), queue.paces.pop(task, None))))

    async def obey(self) -> None:
        """Write down what was put down. Also before a lease is handed back, and then who came first is waited for: the
        lease ends only after what hangs on it, and so may the run."""
        async with self._obeying:
            if self._obeyed:
                await self._write_down()

    async def _write_down(self) -> None:
        obeyed, self._obeyed = self._obeyed, []

        async def once(conn: Any) -> bool:
            held = await domains.hold_leases(conn, [queue.lease.token for queue, _ in obeyed], worker=self._worker())
            ours = [task for queue, task in obeyed if queue.lease.token in held]
            freed = await tasks.abandon(conn, self._worker(), ours) if ours else []
            await domains.return_claims(conn, freed)
            for run, _, pages in freed:
                await stats.return_pages(conn, run, pages)
            return bool(freed)

        if await in_transaction(self._database, once):
            self._on_freed()
        for queue, task in obeyed:
            queue.called_off.discard(task.task_id)

    async def _ask(self, conn: Any) -> tuple[list[Call], Tokens]:
        worker = self._worker()
        self.is_sent_away = await stats.is_sent_away(conn, worker)
        return await tasks.hear_calls(conn, worker), await switches.switched_off(conn, worker)
