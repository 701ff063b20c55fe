"""What people order for tasks, one short function per statement of `tasks.sql`.

Opens no transactions: the floor above does, and locks the rows of the domains first, so that their counters stay right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from forager.db import statements
from forager.frontier.task_status import TaskStatus

SQL = statements.load("forager.frontier", "tasks.sql")
Freed = list[tuple[int, int, int]]
"""Run, domain, pages that are to be given back to the run's limits."""


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
    """An open task that was given another moment, or another priority."""

    id: int
    status: TaskStatus
    priority: int
    scheduled_for: datetime
    was_priority: int
    was_scheduled_for: datetime


@dataclass(frozen=True, slots=True)
class NewTask:
    """A visit that is ordered; None takes what is usual."""

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


class Call(NamedTuple):
    """A running task that was paused or cancelled."""

    task_id: int
    domain_id: int
    is_over: bool
    """It is nobody's any more: nothing is to be put down."""


class AbandonedTask(NamedTuple):
    """A task whose worker obeyed a call."""

    task_id: int
    requests: Sequence[datetime] = ()
    """That were made for it already."""
    pace_ms: int | None = None


class Settled(NamedTuple):
    """A task whose dependency is closed."""

    id: int
    domain_id: int
    depends_on: int
    outcome: str


async def domains_of(conn: Any, task_ids: Sequence[int]) -> list[int]:
    return [row["domain_id"] for row in await conn.fetch(SQL["domains_of_tasks"], task_ids)]


async def hold(conn: Any, task_ids: Sequence[int]) -> list[LockedTask]:
    rows = await conn.fetch(SQL["hold_tasks"], task_ids)
    return [LockedTask(**dict(row) | {"status": TaskStatus(row["status"])}) for row in rows]


async def note_orders(
    conn: Any,
    moves: Sequence[tuple[int, TaskStatus | None, TaskStatus]],
    *,
    verb: str,
    by: str,
    reason: str | None,
) -> None:
    """Task, what it was (None: it is new), what it is now."""
    if moves:
        await conn.execute(SQL["note_orders"], *map(list, zip(*moves, strict=True)), verb, by, reason)


async def pause(conn: Any, task_ids: Sequence[int]) -> None:
    await conn.execute(SQL["sweep_calls"])
    await conn.execute(SQL["pause_tasks"], task_ids)


async def resume(conn: Any, task_ids: Sequence[int]) -> dict[int, datetime]:
    """Domain → when the first of them may be taken."""
    return _first(await conn.fetch(SQL["resume_tasks"], task_ids))


async def let_wait(conn: Any, task_ids: Sequence[int]) -> None:
    await conn.execute(SQL["let_wait"], task_ids)


async def cancel(conn: Any, tasks: Mapping[int, int], *, reason: str) -> tuple[Freed, dict[int, int]]:
    """Task → its page. What goes back to the limits of runs; and domain → how many pages left its frontier."""
    await conn.execute(SQL["sweep_calls"])
    freed = [tuple(row) for row in await conn.fetch(SQL["cancel_tasks"], list(tasks), reason)]
    rows = await conn.fetch(SQL["settle_cancelled"], list(tasks.values()))
    return freed, {row["domain_id"]: row["pages"] for row in rows}


async def set_priorities(conn: Any, task_ids: Sequence[int], priority: int) -> None:
    await conn.execute(SQL["set_priorities"], task_ids, priority)


async def set_page_priorities(conn: Any, domain_id: int, priority: int) -> int:
    """How many pages that wait for their first visit have another priority now."""
    changed: int = await conn.fetchval(SQL["set_page_priorities"], domain_id, priority)
    return changed


async def queue_pages(conn: Any, page_ids: Sequence[int]) -> dict[int, int]:
    """Domain → how many of its pages came into the frontier."""
    rows = await conn.fetch(SQL["queue_pages"], page_ids)
    return {row["domain_id"]: row["pages"] for row in rows}


async def add(conn: Any, tasks: Sequence[NewTask], *, by: str) -> dict[int, int]:
    """Page → its new task. A page that has an open one gets none."""
    rows = await conn.fetch(
        SQL["add_tasks"],
        [task.page_id for task in tasks],
        [task.priority for task in tasks],
        [task.scheduled_for for task in tasks],
        [task.retry_count for task in tasks],
        [task.parent_task_id for task in tasks],
        [task.is_recurring for task in tasks],
        [task.revisit_every_s for task in tasks],
        [task.max_retries for task in tasks],
        [task.webhook_url for task in tasks],
        [task.depends_on for task in tasks],
        [task.is_waiting for task in tasks],
        [task.batch_id for task in tasks],
        [task.recrawl_count for task in tasks],
        by,
    )
    return {row["page_id"]: row["id"] for row in rows}


async def update_tasks(conn: Any, tasks: Sequence[NewTask]) -> None:
    """Open tasks of these pages that are ordered once more."""
    if tasks:
        await conn.execute(
            SQL["amend_tasks"],
            [task.page_id for task in tasks],
            [task.priority for task in tasks],
            [task.scheduled_for for task in tasks],
            [task.is_recurring for task in tasks],
            [task.revisit_every_s for task in tasks],
            [task.max_retries for task in tasks],
            [task.webhook_url for task in tasks],
            [task.batch_id for task in tasks],
        )


async def hurry(
    conn: Any, task_ids: Sequence[int], *, priority: int | None, at: datetime | None
) -> dict[int, RescheduledTask]:
    """Returns what changed, by task."""
    rows = await conn.fetch(SQL["hurry_orders"], task_ids, priority, at) if task_ids else []
    return {row["id"]: RescheduledTask(**dict(row) | {"status": TaskStatus(row["status"])}) for row in rows}


async def list_open(conn: Any, page_ids: Sequence[int]) -> dict[int, OpenTask]:
    """Page → its open task."""
    rows = await conn.fetch(SQL["open_tasks_of"], page_ids)
    return {row["page_id"]: OpenTask(**dict(row) | {"status": TaskStatus(row["status"])}) for row in rows}


async def closed_orders(conn: Any, task_ids: Sequence[int]) -> list[Any]:
    """What successors of these tasks take from them: rows as `closed_orders` names them."""
    rows: list[Any] = await conn.fetch(SQL["closed_orders"], task_ids)
    return rows


async def move_dependents(conn: Any, successors: Mapping[int, int]) -> None:
    """Old task → the one to wait for now."""
    if successors:
        await conn.execute(SQL["move_dependents"], list(successors), list(successors.values()))


async def find_settled(conn: Any, *, limit: int) -> list[Settled]:
    return [Settled(*row) for row in await conn.fetch(SQL["find_settled"], limit)]


async def release_dependents(conn: Any, task_ids: Sequence[int]) -> dict[int, datetime]:
    """Domain → when the first of its released tasks is due."""
    return _first(await conn.fetch(SQL["release_dependents"], task_ids))


def _first(rows: Sequence[Any]) -> dict[int, datetime]:
    first: dict[int, datetime] = {}
    for domain, at in rows:
        first[domain] = min(at, first.get(domain, at))
    return first


async def hear_calls(conn: Any, worker: int) -> list[Call]:
    return [Call(*row) for row in await conn.fetch(SQL["hear_calls"], worker)]


async def sweep_calls(conn: Any) -> None:
    await conn.execute(SQL["sweep_calls"])


async def abandon(conn: Any, worker: int, tasks: Sequence[AbandonedTask]) -> Freed:
    rows = await conn.fetch(
        SQL["put_down"],
        worker,
        [task.task_id for task in tasks],
        [_array(task.requests) for task in tasks],
        [task.pace_ms for task in tasks],
    )
    return [tuple(row) for row in rows]


def _array(moments: Sequence[datetime]) -> str | None:
    return "{" + ",".join(moment.isoformat() for moment in moments) + "}" if moments else None


async def reclaim(conn: Any, worker: int, task_ids: Sequence[int]) -> set[int]:
    """Of these, those that were paused after this worker had finished them: they may be closed now."""
    await conn.execute(SQL["take_up_paused"], worker, task_ids)
    return {row["id"] for row in await conn.fetch(SQL["take_up"], worker, task_ids)}


async def name_batch(conn: Any, name: str, *, by: str) -> Any:
    """Row (id, name, created_by, created_at, is_new)."""
    return await conn.fetchrow(SQL["name_batch"], name, by)
