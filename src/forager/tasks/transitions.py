"""State changes shared by actions on one task and on many, for tasks that are locked.

Rows of domains are locked before those of tasks, as workers do. Every change is recorded with actor and reason.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from forager.db import statements
from forager.db.types import Connection, Row
from forager.domains import store as domain_store
from forager.domains import tasks as domains
from forager.errors import UsageError
from forager.frontier import tasks as frontier
from forager.frontier.page_priority import URGENT
from forager.frontier.task_status import TaskStatus
from forager.frontier.tasks import LockedTask, NewTask, RescheduledTask
from forager.stats import store as stats

SQL = statements.load("forager.tasks", "service.sql")
PENDING, PAUSED, CANCELLED = TaskStatus.PENDING, TaskStatus.PAUSED, TaskStatus.CANCELLED


@dataclass(frozen=True, slots=True)
class TaskState:
    """A task after an action: its state, and whether the action changed it."""

    task_id: int
    url: str
    domain: str
    status: TaskStatus
    priority: int
    scheduled_for: datetime
    retry_count: int
    was_changed: bool
    message: str


@dataclass(frozen=True, slots=True)
class RestartOrder:
    resets_retries: bool = True
    priority: int | None = None
    scheduled_at: datetime | None = None


class Restarted(NamedTuple):
    """The open task of a page that is visited again."""

    task_id: int
    is_new: bool
    change: str | None
    """For a task that was already open: what was changed, as text."""


async def pause_locked(conn: Connection, held: Sequence[LockedTask], *, by: str, reason: str | None) -> None:
    await frontier.pause(conn, [each.id for each in held])
    await note_moves(conn, "pause", held, PAUSED, by=by, reason=reason)


async def resume_locked(conn: Connection, held: Sequence[LockedTask], *, by: str, reason: str | None) -> set[int]:
    """Resumes tasks; returns the ids of those that still wait for a task that is not completed."""
    wanted = [each.depends_on for each in held if each.depends_on is not None]
    ended = {row["id"]: row["outcome"] for row in await conn.fetch(SQL["outcomes_of"], wanted)} if wanted else {}
    waiting = {each.id for each in held if ended.get(each.depends_on or 0, "success") != "success"}
    if waiting:
        await frontier.set_waiting(conn, sorted(waiting))
    first = await frontier.resume(conn, [each.id for each in held if each.id not in waiting])
    await domains.expect_visits(conn, first, {})
    await note_moves(conn, "resume", [each for each in held if each.id in waiting], PAUSED, by=by, reason=reason)
    await note_moves(conn, "resume", [each for each in held if each.id not in waiting], PENDING, by=by, reason=reason)
    return waiting


async def cancel_locked(conn: Connection, held: Sequence[LockedTask], *, by: str, reason: str | None) -> None:
    words = f"cancelled by {by}" + (f": {reason}" if reason else "")
    freed, lost = await frontier.cancel(conn, {each.id: each.page_id for each in held}, reason=words)
    await domain_store.return_claims(conn, freed)
    for run, _, pages, _ in freed:
        await stats.return_pages(conn, run, pages)
    await domains.lose_pages(conn, lost)
    await note_moves(conn, "cancel", held, CANCELLED, by=by, reason=reason)


async def set_priorities(
    conn: Connection, held: Sequence[LockedTask], priority: int, *, by: str, reason: str | None
) -> None:
    await frontier.set_priorities(conn, [each.id for each in held], priority)
    words = f"priority {priority}" + (f": {reason}" if reason else "")
    moves = [(each.id, each.status, each.status) for each in held]
    await frontier.note_orders(conn, moves, verb="priority", by=by, reason=words)


async def restart_locked(
    conn: Connection, held: Sequence[LockedTask], order: RestartOrder, *, by: str, reason: str | None
) -> dict[int, Restarted]:
    """Returns the open task of each page. The given tasks are closed, and their domains locked. A task that is
    already open gets the time and the priority that the restart names, which is recorded as well; a restart that
    names neither leaves it as it is."""
    parents = {row["page_id"]: row for row in await frontier.closed_orders(conn, [each.id for each in held])}
    added = await frontier.queue_pages(conn, list(parents))
    new = await frontier.add(conn, [_build_task(row, order) for row in parents.values()], by=by)
    opened = await frontier.list_open(conn, list(parents))
    known = [task.id for page, task in opened.items() if page not in new]
    moved = await frontier.reschedule(conn, known, priority=order.priority, at=order.scheduled_at)
    changes = {task: describe_change(each) for task, each in moved.items()}
    await frontier.move_dependencies(conn, {parents[page]["id"]: task.id for page, task in opened.items()})
    first = first_due(
        task for task in (await frontier.list_open(conn, list(parents))).values() if task.status is PENDING
    )
    await domains.expect_visits(conn, first, added)
    moves: list[tuple[int, TaskStatus | None, TaskStatus]] = [(task, None, PENDING) for task in new.values()]
    await frontier.note_orders(conn, moves, verb="restart", by=by, reason=reason)
    await note_changes(conn, "restart", list(moved.values()), by=by, reason=reason)
    return {page: Restarted(task.id, page in new, changes.get(task.id)) for page, task in opened.items()}


async def note_changes(
    conn: Connection, verb: str, changed: Sequence[RescheduledTask], *, by: str, reason: str | None
) -> None:
    """Records what changed, a row per task."""
    why = f": {reason}" if reason else ""
    words = [(each.id, each.status, f"{describe_change(each)}{why}") for each in changed]
    await frontier.note_changes(conn, words, verb=verb, by=by)


def describe_change(each: RescheduledTask) -> str:
    parts = []
    if each.scheduled_for != each.was_scheduled_for:
        parts.append(
            f"due {each.scheduled_for:%Y-%m-%d %H:%M:%S} UTC instead of {each.was_scheduled_for:%Y-%m-%d %H:%M:%S} UTC"
        )
    if each.priority != each.was_priority:
        parts.append(f"priority {each.priority} instead of {each.was_priority}")
    return ", ".join(parts) or "other options"


def _build_task(row: Row, order: RestartOrder) -> NewTask:
    return NewTask(
        row["page_id"],
        priority=order.priority or row["priority"],
        scheduled_for=order.scheduled_at,
        retry_count=0 if order.resets_retries else row["retry_count"],
        parent_task_id=row["id"],
        is_recurring=row["is_recurring"],
        revisit_every_s=row["revisit_every_s"],
        max_retries=row["max_retries"],
        webhook_url=row["webhook_url"],
        batch_id=row["batch_id"],
        recrawl_count=row["recrawl_count"],
        is_urgent=row["is_urgent"] if order.priority is None else order.priority <= URGENT,
    )


def first_due(tasks: Iterable[frontier.OpenTask]) -> dict[int, datetime]:
    """Returns when the first of these tasks is due, by domain."""
    first: dict[int, datetime] = {}
    for task in tasks:
        first[task.domain_id] = min(task.scheduled_for, first.get(task.domain_id, task.scheduled_for))
    return first


async def hold(conn: Connection, task_ids: Sequence[int]) -> list[LockedTask]:
    """Locks the tasks, domains first, as workers do."""
    await domains.hold(conn, await frontier.domains_of(conn, task_ids))
    return await frontier.hold(conn, task_ids)


async def note_moves(
    conn: Connection, verb: str, held: Sequence[LockedTask], to: TaskStatus, *, by: str, reason: str | None
) -> None:
    moves = [(each.id, each.status, to) for each in held]
    await frontier.note_orders(conn, moves, verb=verb, by=by, reason=reason)


def state_of(row: Row, was_changed: bool, message: str) -> TaskState:
    return TaskState(
        row["id"],
        row["url"],
        row["domain"],
        TaskStatus(row["status"]),
        row["priority"],
        row["scheduled_for"],
        row["retry_count"],
        was_changed,
        message,
    )


def validate_priority(priority: int | None) -> None:
    if priority is not None and not 1 <= priority <= 10:
        raise UsageError(f"There is no priority {priority}: 1 is the first, 10 the last.", field="priority")
