"""The life of a task, as a table one can read. The database holds the same table and refuses every other move.

             ┌── given back ──┐
             ▼                │
order ──> pending ──> crawling ──> completed · failed
             ▲
             │
          paused <── pending, crawling          any open one ──> cancelled

What is closed never moves again: a retry, a revisit and a restart are new tasks. A worker fetches, parses and records a
page while its task is `crawling`. The database's type has four more labels that older versions named and nothing ever
wrote; the table of moves leads to none of them.
"""

from enum import StrEnum


class TaskStatus(StrEnum):
    PENDING = "pending"
    """Waits for its time and for a worker."""
    CRAWLING = "crawling"
    """A worker has it."""
    COMPLETED = "completed"
    FAILED = "failed"
    PAUSED = "paused"
    """Nobody takes it until it is resumed; or it waits for the task it depends on."""
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
