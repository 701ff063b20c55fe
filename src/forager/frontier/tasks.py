"""Applies task commands of operators and API clients, one short function per statement of `tasks.sql`.

Opens no transactions: the caller does, and locks the rows of the domains first, so that their counters stay correct.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from forager.db import statements
from forager.db.query import BulkQuery, Query
from forager.db.types import Connection, Row
from forager.frontier.page_priority import URGENT
from forager.frontier.rows import AddedTask, DomainPages, DueTask, FreedTasks, NewTaskColumns
from forager.frontier.task_status import TaskStatus

SQL = statements.load("forager.frontier", "tasks.sql")
Freed = list[FreedTasks]
"""Pages to be returned to the limits of their runs."""


class LockedTask(NamedTuple):
    """A task whose row this transaction has locked."""

    id: int
    page_id: int
    domain_id: int
    status: TaskStatus
    priority: int
    retry_count: int
    is_waiting: bool
    depends_on: int | None
    locked_by: int | None
    is_urgent: bool
    """A person ordered it with a priority that lifts its domain."""

    def has_priority(self, priority: int) -> bool:
        """Returns whether setting this priority would change nothing."""
        return self.priority == priority and self.is_urgent == (priority <= URGENT)


class OpenTask(NamedTuple):
    """The one open task of a page."""

    id: int
    page_id: int
    domain_id: int
    status: TaskStatus
    scheduled_for: datetime
    retry_count: int
    priority: int
    parent_task_id: int | None
    depends_on: int | None


class RescheduledTask(NamedTuple):
    """An open task that was changed: its due time and its priority before and after. Where both are the same, other
    options changed."""

    id: int
    status: TaskStatus
    priority: int
    scheduled_for: datetime
    was_priority: int
    was_scheduled_for: datetime


@dataclass(frozen=True, slots=True)
class NewTask:
    """A visit that is ordered; None uses the default."""

    page_id: int
    priority: int | None = None
    scheduled_for: datetime | None = None
    retry_count: int = 0
    parent_task_id: int | None = None
    is_recurring: bool | None = None
    revisit_every_s: float | None = None
    max_retries: int | None = None
    webhook_url: str | None = None
    depends_on: int | None = None
    is_waiting: bool = False
    batch_id: int | None = None
    recrawl_count: int = 0
    is_urgent: bool = False
    """While it is due, its domain is claimed before others."""


class Call(NamedTuple):
    """A signal to a worker: a running task that was paused or cancelled."""

    task_id: int
    domain_id: int
    is_over: bool
    """The worker no longer holds the task: there is nothing to abandon."""


class CancelledTask(NamedTuple):
    """A task that its worker abandoned after a signal."""

    task_id: int
    requests: Sequence[datetime] = ()
    """Requests that were already made for it."""
    pace_ms: int | None = None


class FinishedDependency(NamedTuple):
    """A task whose dependency is closed."""

    id: int
    domain_id: int
    depends_on: int
    outcome: str


DOMAINS_OF_TASKS = Query(SQL["domains_of_tasks"], int)
HOLD_TASKS = Query(SQL["hold_tasks"], LockedTask)
RESUME_TASKS = Query(SQL["resume_tasks"], DueTask)
CANCEL_TASKS = Query(SQL["cancel_tasks"], FreedTasks)
SETTLE_CANCELLED = Query(SQL["settle_cancelled"], DomainPages)
QUEUE_PAGES = Query(SQL["queue_pages"], DomainPages)
ADD_TASKS = BulkQuery(SQL["add_tasks"], NewTaskColumns, AddedTask)
AMEND_TASKS = Query(SQL["amend_tasks"], RescheduledTask)
RESCHEDULE_TASKS = Query(SQL["reschedule_tasks"], RescheduledTask)
OPEN_TASKS_OF = Query(SQL["open_tasks_of"], OpenTask)
FIND_SETTLED = Query(SQL["find_finished_dependencies"], FinishedDependency)
RELEASE_DEPENDENTS = Query(SQL["release_waiting"], DueTask)
HEAR_CALLS = Query(SQL["poll_signals"], Call)
PUT_DOWN = Query(SQL["put_down"], FreedTasks)
TAKE_UP = Query(SQL["take_up"], int)


async def domains_of(conn: Connection, task_ids: Sequence[int]) -> list[int]:
    return await DOMAINS_OF_TASKS.fetch(conn, task_ids)


async def hold(conn: Connection, task_ids: Sequence[int]) -> list[LockedTask]:
    return await HOLD_TASKS.fetch(conn, task_ids)


async def note_orders(
    conn: Connection,
    moves: Sequence[tuple[int, TaskStatus | None, TaskStatus]],
    *,
    verb: str,
    by: str,
    reason: str | None,
) -> None:
    """Logs commands: task, its previous status (None if it is new), its new status."""
    if moves:
        await conn.execute(SQL["note_orders"], *map(list, zip(*moves, strict=True)), verb, by, reason)


async def note_changes(conn: Connection, changes: Sequence[tuple[int, TaskStatus, str]], *, verb: str, by: str) -> None:
    """Logs changes of tasks whose status stays: task, status, what changed and why."""
    if changes:
        await conn.execute(SQL["note_changes"], *map(list, zip(*changes, strict=True)), verb, by)


async def pause(conn: Connection, task_ids: Sequence[int]) -> None:
    await conn.execute(SQL["delete_stale_signals"])
    await conn.execute(SQL["pause_tasks"], task_ids)


async def resume(conn: Connection, task_ids: Sequence[int]) -> dict[int, datetime]:
    """Returns domain → when the first of its resumed tasks is due."""
    return _first(await RESUME_TASKS.fetch(conn, task_ids))


async def set_waiting(conn: Connection, task_ids: Sequence[int]) -> None:
    await conn.execute(SQL["set_waiting"], task_ids)


async def cancel(conn: Connection, tasks: Mapping[int, int], *, reason: str) -> tuple[Freed, dict[int, int]]:
    """Cancels tasks, given with their pages. Returns the pages to return to the limits of runs, and domain → number of
    pages that left its frontier."""
    await conn.execute(SQL["delete_stale_signals"])
    freed = await CANCEL_TASKS.fetch(conn, list(tasks), reason)
    return freed, dict(await SETTLE_CANCELLED.fetch(conn, list(tasks.values())))


async def set_priorities(conn: Connection, task_ids: Sequence[int], priority: int) -> None:
    await conn.execute(SQL["set_priorities"], task_ids, priority, priority <= URGENT)


async def set_page_priorities(conn: Connection, domain_id: int, priority: int) -> int:
    """Returns the number of pages waiting for their first visit whose priority changed."""
    changed: int = await conn.fetchval(SQL["set_page_priorities"], domain_id, priority)
    return changed


async def queue_pages(conn: Connection, page_ids: Sequence[int]) -> dict[int, int]:
    """Returns domain → number of its pages that entered the frontier."""
    return dict(await QUEUE_PAGES.fetch(conn, page_ids))


async def add(conn: Connection, tasks: Sequence[NewTask], *, by: str) -> dict[int, int]:
    """Returns page → its new task. A page with an open task gets none."""
    columns = NewTaskColumns(
        page_id=[task.page_id for task in tasks],
        priority=[task.priority for task in tasks],
        scheduled_for=[task.scheduled_for for task in tasks],
        retry_count=[task.retry_count for task in tasks],
        parent_task_id=[task.parent_task_id for task in tasks],
        is_recurring=[task.is_recurring for task in tasks],
        revisit_every_s=[task.revisit_every_s for task in tasks],
        max_retries=[task.max_retries for task in tasks],
        webhook_url=[task.webhook_url for task in tasks],
        depends_on=[task.depends_on for task in tasks],
        is_waiting=[task.is_waiting for task in tasks],
        batch_id=[task.batch_id for task in tasks],
        recrawl_count=[task.recrawl_count for task in tasks],
        created_by=by,
        is_urgent=[task.is_urgent for task in tasks],
    )
    return {task.page_id: task.id for task in await ADD_TASKS.fetch(conn, columns)}


async def update_tasks(conn: Connection, tasks: Sequence[NewTask]) -> dict[int, RescheduledTask]:
    """Updates the open tasks of pages that are ordered again. Returns the changes by task."""
    if not tasks:
        return {}
    changed = await AMEND_TASKS.fetch(
        conn,
        [task.page_id for task in tasks],
        [task.priority for task in tasks],
        [task.scheduled_for for task in tasks],
        [task.is_recurring for task in tasks],
        [task.revisit_every_s for task in tasks],
        [task.max_retries for task in tasks],
        [task.webhook_url for task in tasks],
        [task.batch_id for task in tasks],
        URGENT,
    )
    return {task.id: task for task in changed}


async def reschedule(
    conn: Connection, task_ids: Sequence[int], *, priority: int | None, at: datetime | None
) -> dict[int, RescheduledTask]:
    """Returns the changes by task; None keeps a value."""
    is_urgent = None if priority is None else priority <= URGENT
    moved = await RESCHEDULE_TASKS.fetch(conn, task_ids, priority, at, is_urgent) if task_ids else []
    return {task.id: task for task in moved}


async def list_open(conn: Connection, page_ids: Sequence[int]) -> dict[int, OpenTask]:
    """Returns page → its open task."""
    return {task.page_id: task for task in await OPEN_TASKS_OF.fetch(conn, page_ids)}


async def closed_orders(conn: Connection, task_ids: Sequence[int]) -> list[Row]:
    """Returns what successors inherit from these tasks: rows of the statement `closed_orders`."""
    return await conn.fetch(SQL["closed_orders"], task_ids)


async def move_dependencies(conn: Connection, successors: Mapping[int, int]) -> None:
    """Moves dependencies: old task → its successor."""
    if successors:
        await conn.execute(SQL["move_dependencies"], list(successors), list(successors.values()))


async def find_finished_dependencies(conn: Connection, *, limit: int) -> list[FinishedDependency]:
    return await FIND_SETTLED.fetch(conn, limit)


async def release_waiting(conn: Connection, task_ids: Sequence[int]) -> dict[int, datetime]:
    """Returns domain → when the first of its released tasks is due."""
    return _first(await RELEASE_DEPENDENTS.fetch(conn, task_ids))


def _first(tasks: Sequence[DueTask]) -> dict[int, datetime]:
    first: dict[int, datetime] = {}
    for domain, at in tasks:
        first[domain] = min(at, first.get(domain, at))
    return first


async def poll_signals(conn: Connection, worker: int) -> list[Call]:
    return await HEAR_CALLS.fetch(conn, worker)


async def delete_stale_signals(conn: Connection) -> None:
    await conn.execute(SQL["delete_stale_signals"])


async def release_tasks(conn: Connection, worker: int, tasks: Sequence[CancelledTask]) -> Freed:
    return await PUT_DOWN.fetch(
        conn,
        worker,
        [task.task_id for task in tasks],
        [_array(task.requests) for task in tasks],
        [task.pace_ms for task in tasks],
    )


def _array(moments: Sequence[datetime]) -> str | None:
    return "{" + ",".join(moment.isoformat() for moment in moments) + "}" if moments else None


async def resume_finished(conn: Connection, worker: int, task_ids: Sequence[int]) -> set[int]:
    """Returns those of the tasks that were paused after this worker had finished them: they may be closed now."""
    await conn.execute(SQL["take_up_paused"], worker, task_ids)
    return set(await TAKE_UP.fetch(conn, worker, task_ids))


async def name_batch(conn: Connection, name: str, *, by: str) -> Row | None:
    """Returns a row (id, name, created_by, created_at, is_new)."""
    return await conn.fetchrow(SQL["name_batch"], name, by)
