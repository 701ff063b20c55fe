"""Operator actions on many tasks at once, selected by id, domain or batch; each has a dry run.

As for one task (`service.py`), each runs in the caller's transaction, is recorded, and is idempotent. One call changes
up to `limit` tasks; repeated, it continues with the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from forager.db.types import Connection
from forager.domains import store as domain_store
from forager.domains.lookup import known_name
from forager.errors import UsageError
from forager.frontier import tasks as frontier
from forager.frontier.task_status import CLOSED, TaskStatus, can_transition
from forager.tasks.transitions import (
    PAUSED,
    SQL,
    RestartOrder,
    TaskState,
    cancel_locked,
    hold,
    pause_locked,
    restart_locked,
    resume_locked,
    set_priorities,
    state_of,
    validate_priority,
)

MOST_AT_ONCE = 10_000
PAUSABLE = tuple(status for status in TaskStatus if can_transition(status, PAUSED))
OPEN = tuple(status for status in TaskStatus if status not in CLOSED)


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Selects the tasks of a bulk action; all conditions must hold, and at least one is given."""

    task_ids: tuple[int, ...] = ()
    domain: str | None = None
    batch_id: int | None = None

    def __post_init__(self) -> None:
        if not self.task_ids and self.domain is None and self.batch_id is None:
            raise UsageError("Say which tasks: their numbers, a domain, or a batch.", field="tasks")


@dataclass(frozen=True, slots=True)
class Many:
    """Result of a bulk action or its dry run."""

    verb: str
    tasks: tuple[TaskState, ...]
    """The selected tasks; for a restart, the new ones."""
    is_dry: bool
    is_all: bool
    """False: there may be more, and the same call continues with them."""


async def pause_many(
    conn: Connection,
    which: TaskFilter,
    *,
    by: str,
    reason: str | None = None,
    limit: int = MOST_AT_ONCE,
    dry_run: bool = False,
) -> Many:
    chosen = await _select_open(conn, which, PAUSABLE, limit=limit)
    if not dry_run:
        chosen = [held.id for held in await hold(conn, chosen) if can_transition(held.status, PAUSED)]
        await pause_locked(conn, await frontier.hold(conn, chosen), by=by, reason=reason)
    return await _many(conn, "pause", chosen, limit=limit, dry_run=dry_run)


async def resume_many(
    conn: Connection,
    which: TaskFilter,
    *,
    by: str,
    reason: str | None = None,
    limit: int = MOST_AT_ONCE,
    dry_run: bool = False,
) -> Many:
    """Resumes paused tasks, except those that wait for another task: they resume by themselves."""
    chosen = await _select_open(conn, which, (PAUSED,), limit=limit, leaves_waiting=True)
    if not dry_run:
        held = [each for each in await hold(conn, chosen) if each.status is PAUSED and not each.is_waiting]
        chosen = [each.id for each in held]
        await resume_locked(conn, held, by=by, reason=reason)
    return await _many(conn, "resume", chosen, limit=limit, dry_run=dry_run)


async def cancel_many(
    conn: Connection,
    which: TaskFilter,
    *,
    by: str,
    reason: str | None = None,
    limit: int = MOST_AT_ONCE,
    dry_run: bool = False,
) -> Many:
    chosen = await _select_open(conn, which, OPEN, limit=limit)
    if not dry_run:
        held = [each for each in await hold(conn, chosen) if each.status not in CLOSED]
        chosen = [each.id for each in held]
        await cancel_locked(conn, held, by=by, reason=reason)
    return await _many(conn, "cancel", chosen, limit=limit, dry_run=dry_run)


async def set_priority_many(
    conn: Connection,
    which: TaskFilter,
    priority: int,
    *,
    by: str,
    reason: str | None = None,
    limit: int = MOST_AT_ONCE,
    dry_run: bool = False,
) -> Many:
    """Sets the priority of open tasks; for a whole domain also of pages that wait for their first visit and have no
    task yet."""
    validate_priority(priority)
    chosen = await _select_open(conn, which, OPEN, limit=limit)
    if not dry_run:
        held = [each for each in await hold(conn, chosen) if each.status not in CLOSED]
        chosen = [each.id for each in held]
        changed = [each for each in held if not each.has_priority(priority)]
        await set_priorities(conn, changed, priority, by=by, reason=reason)
        if which.domain is not None and not which.task_ids and which.batch_id is None:
            domain = await _domain_id(conn, which.domain)
            assert domain is not None
            await frontier.set_page_priorities(conn, domain, priority)
    return await _many(conn, "priority", chosen, limit=limit, dry_run=dry_run)


async def restart_failed(
    conn: Connection,
    *,
    by: str,
    reason: str | None = None,
    domain: str | None = None,
    error_code: str | None = None,
    failed_after: datetime | None = None,
    limit: int = 1000,
    dry_run: bool = False,
) -> Many:
    """Restarts pages whose last visit failed, newest first; each gets a new task whose retry count starts at zero."""
    validate_limit(limit)
    found = await conn.fetch(SQL["choose_failed"], await _domain_id(conn, domain), error_code, failed_after, limit)
    return await _restart_many(
        conn, "restart-failed", [row["id"] for row in found], limit=limit, dry_run=dry_run, by=by, reason=reason
    )


async def restart_tasks(
    conn: Connection, task_ids: Sequence[int], *, by: str, reason: str | None = None, dry_run: bool = False
) -> Many:
    """Visits the pages of these closed tasks again; a page that has an open task by now is left unchanged."""
    limit = len(task_ids) + 1
    return await _restart_many(conn, "restart", task_ids, limit=limit, dry_run=dry_run, by=by, reason=reason)


async def restart_batch(
    conn: Connection,
    batch_id: int,
    *,
    by: str,
    reason: str | None = None,
    limit: int = MOST_AT_ONCE,
    dry_run: bool = False,
) -> Many:
    """Visits every page of a batch that has no open task again, for the same batch."""
    validate_limit(limit)
    found = [row["id"] for row in await conn.fetch(SQL["choose_batch"], batch_id, limit)]
    return await _restart_many(conn, "restart-batch", found, limit=limit, dry_run=dry_run, by=by, reason=reason)


async def _restart_many(
    conn: Connection, verb: str, task_ids: Sequence[int], *, limit: int, dry_run: bool, by: str, reason: str | None
) -> Many:
    if dry_run:
        return await _many(conn, verb, task_ids, limit=limit, dry_run=True)
    held = [each for each in await hold(conn, task_ids) if each.status in CLOSED]
    made = await restart_locked(conn, held, RestartOrder(), by=by, reason=reason)
    done = await _many(conn, verb, [each.task_id for each in made.values()], limit=limit, dry_run=False)
    return replace(done, is_all=len(task_ids) < limit)


async def _select_open(
    conn: Connection, which: TaskFilter, statuses: Sequence[TaskStatus], *, limit: int, leaves_waiting: bool = False
) -> list[int]:
    validate_limit(limit)
    domain = await _domain_id(conn, which.domain)
    ids = list(which.task_ids) or None
    rows = await conn.fetch(SQL["choose_open"], list(statuses), domain, which.batch_id, ids, leaves_waiting, limit)
    return [row["id"] for row in rows]


async def _domain_id(conn: Connection, name: str | None) -> int | None:
    known = await known_name(conn, name)
    return (await domain_store.find_domains(conn, [known]))[known] if known is not None else None


async def _many(conn: Connection, verb: str, task_ids: Sequence[int], *, limit: int, dry_run: bool) -> Many:
    rows = await conn.fetch(SQL["read_states"], task_ids)
    states = tuple(state_of(row, not dry_run, "") for row in rows)
    return Many(verb, states, is_dry=dry_run, is_all=len(task_ids) < limit)


def validate_limit(limit: int) -> None:
    if not 1 <= limit <= MOST_AT_ONCE:
        raise UsageError(f"One order is for 1 to {MOST_AT_ONCE} tasks, not for {limit}; ordered again it goes on.")
