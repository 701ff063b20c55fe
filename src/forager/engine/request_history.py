"""Requests made for tasks that are still open: they are recorded with the task's outcome."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple


class EarlierRequests(NamedTuple):
    """Requests that were made for one task."""

    moments: tuple[datetime, ...] = ()
    pace_ms: int | None = None
    """The smallest delay in force when they were made: a lower bound for each of them."""


NONE = EarlierRequests()


class RequestHistory:
    __slots__ = ("_by_task",)

    def __init__(self) -> None:
        self._by_task: dict[int, EarlierRequests] = {}

    def __len__(self) -> int:
        return len(self._by_task)

    def __contains__(self, task_id: int) -> bool:
        return task_id in self._by_task

    def add(self, task_id: int, moments: Sequence[datetime], pace_ms: int) -> None:
        """Appends requests to those already known for the task."""
        before = self._by_task.get(task_id, NONE)
        least_ms = pace_ms if before.pace_ms is None else min(before.pace_ms, pace_ms)
        self._by_task[task_id] = EarlierRequests((*before.moments, *moments), least_ms)

    def pop(self, task_id: int) -> EarlierRequests:
        """Removes and returns the requests of a task."""
        return self._by_task.pop(task_id, NONE)
