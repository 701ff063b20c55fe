"""The state machine of a task, as a table. The database holds the same table and rejects every other transition.

             ┌─── released ───┐
             ▼                │
new   ──> pending ──> crawling ──> completed · failed
             ▲
             │
          paused <── pending, crawling          any open one ──> cancelled

A closed task never changes its status: a retry, a revisit and a restart are new tasks. A worker fetches, parses and
records a page while its task is `crawling`.
"""

from enum import StrEnum


class TaskStatus(StrEnum):
    PENDING = "pending"
    """Waits for its due time and for a worker."""
    CRAWLING = "crawling"
    """A worker holds it."""
    COMPLETED = "completed"
    FAILED = "failed"
    PAUSED = "paused"
    """No worker claims it until it is resumed; or it waits for the task it depends on."""
    CANCELLED = "cancelled"


_S = TaskStatus
MOVES: dict[TaskStatus, frozenset[TaskStatus]] = {
    _S.PENDING: frozenset({_S.CRAWLING, _S.PAUSED, _S.CANCELLED}),
    _S.CRAWLING: frozenset({_S.PENDING, _S.COMPLETED, _S.FAILED, _S.PAUSED, _S.CANCELLED}),
    _S.PAUSED: frozenset({_S.PENDING, _S.CANCELLED}),
    _S.COMPLETED: frozenset(),
    _S.FAILED: frozenset(),
    _S.CANCELLED: frozenset(),
}
CLOSED = frozenset({_S.COMPLETED, _S.FAILED, _S.CANCELLED})


def can_transition(now: TaskStatus, then: TaskStatus) -> bool:
    return then in MOVES[now]
