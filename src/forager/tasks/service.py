"""Operator actions on one task: show, pause, resume, cancel, restart, change its priority. All interfaces (CLI, API)
call these; actions on many tasks are in `bulk.py`, new tasks in `submit.py`.

Each action runs in the caller's transaction and locks the rows of the domains first, then those of the tasks. It is
recorded with actor and reason (`task_orders`). Called twice it returns the same result and creates no second task. A
closed task never changes: a restart is a new task whose parent is the old one. When a running task is paused or
cancelled, its worker abandons it at its next step.
"""

from datetime import datetime

from forager.db.rows import Row
from forager.db.types import Connection
from forager.errors import ConflictError, NotFoundError
from forager.frontier.task_status import CLOSED, TaskStatus, can_transition
from forager.frontier.tasks import LockedTask
from forager.tasks.transitions import (
    CANCELLED,
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

SHOWN = 50
MOST_REDIRECTS = 5
"""Maximum number of pages shown that redirect to the page of a task; a home page may have thousands."""


# queries -------------------------------------------------------------------------------------------------------------


async def describe(conn: Connection, task_id: int, *, limit: int = SHOWN) -> Row:
    """Returns one task, with the other visits of its page and the operator actions on it."""
    found = await conn.fetchrow(SQL["describe_task"], task_id)
    if found is None:
        raise _unknown(task_id)
    return dict(found) | {
        "redirects": await redirects(conn, task_id),
        "history": await history(conn, task_id, limit=limit),
        "orders": await orders(conn, task_id),
    }


async def redirects(conn: Connection, task_id: int) -> list[Row]:
    """Returns the redirect target of a task, and the pages that redirect to its page; empty where links are not
    stored."""
    return [dict(row) for row in await conn.fetch(SQL["redirects_of_task"], task_id, MOST_REDIRECTS)]


async def history(conn: Connection, task_id: int, *, limit: int = SHOWN, before: int | None = None) -> list[Row]:
    """Returns all visits to the page of a task, newest first; `before` is the id of the last one on the previous
    page."""
    return [dict(row) for row in await conn.fetch(SQL["visits_of_page"], task_id, limit, before)]


async def orders(conn: Connection, task_id: int, *, limit: int = SHOWN) -> list[Row]:
    return [dict(row) for row in await conn.fetch(SQL["orders_of_task"], task_id, limit)]


async def count(conn: Connection, *, since: datetime) -> list[Row]:
    """Returns the number of tasks by state, and how long they took and waited on average."""
    return [dict(row) for row in await conn.fetch(SQL["count_tasks"], since)]


# one task ------------------------------------------------------------------------------------------------------------


async def pause(conn: Connection, task_id: int, *, by: str, reason: str | None = None) -> TaskState:
    held = await _hold_one(conn, task_id)
    if held.status is PAUSED and not held.is_waiting:
        return await _tell(conn, held, False, "It was paused already.")
    _reject(held, PAUSED, "paused")
    await pause_locked(conn, [held], by=by, reason=reason)
    running = " Its worker puts it down at its next step." if held.locked_by is not None else ""
    return await _tell(conn, held, True, f"Paused; it stays so until it is resumed.{running}")


async def resume(conn: Connection, task_id: int, *, by: str, reason: str | None = None) -> TaskState:
    """Resumes a task. Never counts as a retry."""
    held = await _hold_one(conn, task_id)
    if held.status is not PAUSED or held.is_waiting:
        if held.status in CLOSED:
            raise _closed(held, "resumed")
        return await _tell(conn, held, False, _resume_error(held))
    waiting = await resume_locked(conn, [held], by=by, reason=reason)
    return await _tell(conn, held, True, f"Waits for task {held.depends_on}." if waiting else "Resumed.")


async def cancel(conn: Connection, task_id: int, *, by: str, reason: str | None = None) -> TaskState:
    held = await _hold_one(conn, task_id)
    if held.status is CANCELLED:
        return await _tell(conn, held, False, "It was cancelled already.")
    _reject(held, CANCELLED, "cancelled")
    await cancel_locked(conn, [held], by=by, reason=reason)
    return await _tell(conn, held, True, "Cancelled.")


async def restart(
    conn: Connection,
    task_id: int,
    *,
    by: str,
    reason: str | None = None,
    reset_retry_count: bool = True,
    priority: int | None = None,
    scheduled_at: datetime | None = None,
    force: bool = False,
) -> TaskState:
    """Visits the page again, by a new task. An open task is restarted only by force: it is cancelled first."""
    validate_priority(priority)
    held = await _hold_one(conn, task_id)
    if held.status not in CLOSED:
        if not force:
            raise ConflictError(
                f"Task {task_id} is {held.status}; force cancels it and starts another one.", "task_open"
            )
        await cancel_locked(conn, [held], by=by, reason=reason or "restarted")
    order = RestartOrder(reset_retry_count, priority, scheduled_at)
    made = await restart_locked(conn, [held], order, by=by, reason=reason)
    again = made[held.page_id]
    if again.is_new:
        message = f"Visits the page of task {task_id} again."
    else:
        kept = "; it keeps its time and priority, as the restart names none"
        names_any = priority is not None or scheduled_at is not None
        change = f": now {again.change}" if again.change else "" if names_any else kept
        message = f"Was open for the page of task {task_id} already{change}."
    was_changed = again.is_new or again.change is not None
    return await _tell(conn, held._replace(id=again.task_id), was_changed, message)


async def set_priority(
    conn: Connection, task_id: int, priority: int, *, by: str, reason: str | None = None
) -> TaskState:
    """Sets the priority: 1 is first, 10 is last. Takes effect from the next claim on; a worker that already has the
    task continues with it."""
    validate_priority(priority)
    held = await _hold_one(conn, task_id)
    if held.status in CLOSED:
        raise _closed(held, "given another priority")
    if held.has_priority(priority):
        return await _tell(conn, held, False, f"Its priority was {priority} already.")
    await set_priorities(conn, [held], priority, by=by, reason=reason)
    return await _tell(conn, held, True, f"Its priority is {priority}, it was {held.priority}.")


# results and rejections ---------------------------------------------------------------------------------------------


async def _hold_one(conn: Connection, task_id: int) -> LockedTask:
    held = await hold(conn, [task_id])
    if not held:
        raise _unknown(task_id)
    return held[0]


async def _tell(conn: Connection, held: LockedTask, was_changed: bool, message: str) -> TaskState:
    (row,) = await conn.fetch(SQL["read_states"], [held.id])
    return state_of(row, was_changed, message)


def _reject(held: LockedTask, to: TaskStatus, verb: str) -> None:
    """Raises if the task cannot change to this state. A task that waits for another one is already paused, and an
    operator may pause it too."""
    if held.status in CLOSED:
        raise _closed(held, verb)
    if held.status is not to and not can_transition(held.status, to):
        raise ConflictError(
            f"Task {held.id} is {held.status} and cannot be {verb} now; try again in a moment.", "task_busy"
        )


def _closed(held: LockedTask, verb: str) -> ConflictError:
    return ConflictError(
        f"Task {held.id} is {held.status} and cannot be {verb}: what is closed never changes. "
        "A restart visits its page again.",
        "task_closed",
    )


def _unknown(task_id: int) -> NotFoundError:
    return NotFoundError(f"There is no task {task_id}; `forager tasks` lists them.")


def _resume_error(held: LockedTask) -> str:
    return f"It waits for task {held.depends_on}." if held.is_waiting else f"It was not paused; it is {held.status}."
