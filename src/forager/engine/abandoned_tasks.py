"""Tasks that a worker holds but will not visit, kept until the database records that: an operator paused or cancelled
them, or one of our own resources is missing. Any worker may then claim them again."""

from collections.abc import Sequence

from forager.engine.domain_queue import DomainQueue
from forager.frontier.tasks import CancelledTask


class AbandonedTasks:
    def __init__(self) -> None:
        self._tasks: list[tuple[DomainQueue, CancelledTask]] = []

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def add(self, queue: DomainQueue, task_ids: Sequence[int]) -> None:
        """Adds tasks; requests that were already made for them are written together with them."""
        self._tasks += [(queue, CancelledTask(task, *queue.history.pop(task))) for task in task_ids]

    def take(self) -> list[tuple[DomainQueue, CancelledTask]]:
        tasks, self._tasks = self._tasks, []
        return tasks
