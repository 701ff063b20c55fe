"""Tasks that a worker holds and does not visit, until the database knows: an operator paused or cancelled them, or
something of ours is missing. They are open again for any worker."""

from collections.abc import Sequence

from forager.engine.domain_queue import DomainQueue
from forager.frontier.tasks import CancelledTask


class AbandonedTasks:
    def __init__(self) -> None:
        self._tasks: list[tuple[DomainQueue, CancelledTask]] = []

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def add(self, queue: DomainQueue, task_ids: Sequence[int]) -> None:
        """Requests that were made for them already are written with them."""
        self._tasks += [(queue, CancelledTask(task, *queue.history.pop(task))) for task in task_ids]

    def take(self) -> list[tuple[DomainQueue, CancelledTask]]:
        tasks, self._tasks = self._tasks, []
        return tasks
