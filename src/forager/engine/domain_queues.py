"""The domains that one worker holds, each with its queue. The components of a worker share this object."""

import asyncio
from collections.abc import Iterator

from forager.engine.domain_queue import DomainQueue


class DomainQueues:
    def __init__(self, worker_id: int = 0) -> None:
        self.worker_id = worker_id
        """The worker's row in the database; set when it registers."""
        self._queues: dict[int, DomainQueue] = {}
        self._wake_event = asyncio.Event()

    def __len__(self) -> int:
        return len(self._queues)

    def __iter__(self) -> Iterator[DomainQueue]:
        return iter(self._queues.values())

    def get(self, domain_id: int) -> DomainQueue | None:
        return self._queues.get(domain_id)

    def find(self, token: tuple[int, int]) -> DomainQueue | None:
        """Returns the queue of this lease; None if the domain is not held, or is held under another lease by now."""
        queue = self._queues.get(token[0])
        return queue if queue is not None and queue.lease.token == token else None

    def holds(self, queue: DomainQueue) -> bool:
        return self._queues.get(queue.lease.domain_id) is queue

    def add(self, queue: DomainQueue) -> None:
        self._queues[queue.lease.domain_id] = queue

    def remove(self, queue: DomainQueue) -> bool:
        """Returns whether it was held."""
        is_held = self.holds(queue)
        if is_held:
            del self._queues[queue.lease.domain_id]
        return is_held

    def wake(self) -> None:
        """Wakes the worker's loop: a queue needs a refill, is over or was lost."""
        self._wake_event.set()

    async def wait_for_wake(self) -> None:
        await self._wake_event.wait()

    def clear_wake(self) -> None:
        self._wake_event.clear()
