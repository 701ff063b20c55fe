"""The life of a task, as a table one can read. The database holds the same table and refuses every other move.

                  ┌───────────── given back ──────────────┐
                  ▼                                       │
order ──> pending ──> queued ──> crawling ──> downloaded ──> queued_parse ──> parsing ──> completed · failed
             ▲  └───────────────────┘ └─────────────────── here, in one go ───────────────┘
             │
          paused <── pending, queued, crawling, parsing          any open one ──> cancelled

What is closed never moves again: a retry, a revisit and a restart are new tasks. `queued`, `downloaded`, `queued_parse`
and `parsing` are for workers that hand tasks on to each other; a worker of ours does all of it while `crawling`.
"""

from enum import StrEnum


class TaskStatus(StrEnum):
    PENDING = "pending"
    """Waits for its time and for a worker."""
    QUEUED = "queued"
    CRAWLING = "crawling"
    """A worker has it."""
    DOWNLOADED = "downloaded"
    QUEUED_PARSE = "queued_parse"
    PARSING = "parsing"
    COMPLETED = "completed"
    FAILED = "failed"
    PAUSED = "paused"
    """Nobody takes it until it is resumed; or it waits for the task it depends on."""
    CANCELLED = "cancelled"


_S = TaskStatus
MOVES: dict[TaskStatus, frozenset[TaskStatus]] = {
    _S.PENDING: frozenset({_S.QUEUED, _S.CRAWLING, _S.PAUSED, _S.CANCELLED}),
    _S.QUEUED: frozenset({_S.PENDING, _S.CRAWLING, _S.PAUSED, _S.CANCELLED}),
    _S.CRAWLING: frozenset({_S.PENDING, _S.DOWNLOADED, _S.COMPLETED, _S.FAILED, _S.PAUSED, _S.CANCELLED}),
    _S.DOWNLOADED: frozenset({_S.PENDING, _S.QUEUED_PARSE, _S.PARSING, _S.FAILED, _S.CANCELLED}),
    _S.QUEUED_PARSE: frozenset({_S.PENDING, _S.PARSING, _S.FAILED, _S.CANCELLED}),
    _S.PARSING: frozenset({_S.PENDING, _S.COMPLETED, _S.FAILED, _S.PAUSED, _S.CANCELLED}),
    _S.PAUSED: frozenset({_S.PENDING, _S.CANCELLED}),
    _S.COMPLETED: frozenset(),
    _S.FAILED: frozenset(),
    _S.CANCELLED: frozenset(),
}
CLOSED = frozenset({_S.COMPLETED, _S.FAILED, _S.CANCELLED})


def may_move(now: TaskStatus, then: TaskStatus) -> bool:
    return then in MOVES[now]
