"""What an operator may do to tasks: pause, resume, cancel, restart, hurry. Every door (CLI, API) calls these; new tasks
are ordered in `submit.py`.

Each verb runs in the caller's one transaction and locks the rows of the domains first, then those of the tasks. It is
written down with who and why (`task_orders`). Called twice it gives the same answer, and makes no second task. What is
closed never changes (C-04): a restart is a new task whose parent is the old one. A running task that is paused or
cancelled is put down by its worker at its next step.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from forager.control.look import Row, known_name
from forager.db import statements
from forager.domains import store as domain_store
from forager.domains import tasks as domains
from forager.errors import ConflictError, NotFoundError, UsageError
from forager.frontier import tasks as frontier
from forager.frontier.task_status import CLOSED, TaskStatus, may_move
from forager.frontier.tasks import HeldTask, NewTask
from forager.stats import store as stats

SQL = statements.load("forager.control", "tasks.sql")
MOST_AT_ONCE = 10_000
"""Tasks one bulk order is for, at most; ordered again it goes on with the rest."""
SHOWN = 50
MOST_REDIRECTS = 5
"""Pages that are shown of those which send to the page of a task; a home may have thousands."""
PENDING, PAUSED, CANCELLED = TaskStatus.PENDING, TaskStatus.PAUSED, TaskStatus.CANCELLED
PAUSABLE = tuple(status for status in TaskStatus if may_move(status, PAUSED))
OPEN = tuple(status for status in TaskStatus if status not in CLOSED)


@dataclass(frozen=True, slots=True)
class TaskState:
    """A task after an order: where it stands, and whether the order changed that."""

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
class Which:
    """Tasks a bulk order is for; all conditions hold together, and at least one is given."""

    task_ids: tuple[int, ...] = ()
    domain: str | None = None
    batch_id: int | None = None

    def __post_init__(self) -> None:
        if not self.task_ids and self.domain is None and self.batch_id is None:
            raise UsageError("Say which tasks: their numbers, a domain, or a batch.")


@dataclass(frozen=True, slots=True)
class Many:
    """What a bulk order did, or would do."""

    verb: str
    tasks: tuple[TaskState, ...]
    """Those it was for; of a restart, the new ones."""
    is_dry: bool
    is_all: bool
    """False: there may be more, and the same order goes on with them."""


# looking -------------------------------------------------------------------------------------------------------------


async def describe(conn: Any, task_id: int, *, limit: int = SHOWN) -> Row:
    """One task, with the other visits of its page and what people ordered for it."""
    found = await conn.fetchrow(SQL["describe_task"], task_id)
    if found is None:
        raise _unknown(task_id)
    return dict(found) | {
        "redirects": await redirects(conn, task_id),
        "history": await history(conn, task_id, limit=limit),
        "orders": await orders(conn, task_id),
    }


async def redirects(conn: Any, task_id: int) -> list[Row]:
    """Where it was sent on to, and which pages send to its page; nothing where links are not stored."""
    return [dict(row) for row in await conn.fetch(SQL["redirects_of_task"], task_id, MOST_REDIRECTS)]


async def history(conn: Any, task_id: int, *, limit: int = SHOWN) -> list[Row]:
    """All visits to the page of a task, newest first."""
    return [dict(row) for row in await conn.fetch(SQL["visits_of_page"], task_id, limit)]


async def orders(conn: Any, task_id: int, *, limit: int = SHOWN) -> list[Row]:
    return [dict(row) for row in await conn.fetch(SQL["orders_of_task"], task_id, limit)]


async def count(conn: Any, *, since: datetime) -> list[Row]:
    """By state: how many tasks, and how long they took on average (R456)."""
    return [dict(row) for row in await conn.fetch(SQL["count_tasks"], since)]


# one task ------------------------------------------------------------------------------------------------------------


async def pause(conn: Any, task_id: int, *, by: str, reason: str | None = None) -> TaskState:
    held = await _hold_one(conn, task_id)
    if held.status is PAUSED and not held.is_waiting:
        return await _tell(conn, held, False, "It was paused already.")
    _refuse(held, PAUSED, "paused")
    await _pause(conn, [held], by=by, reason=reason)
    running = " Its worker puts it down at its next step." if held.locked_by is not None else ""
    return await _tell(conn, held, True, f"Paused; it stays so until it is resumed.{running}")


async def resume(conn: Any, task_id: int, *, by: str, reason: str | None = None) -> TaskState:
    """Never counts as another try (D-08)."""
    held = await _hold_one(conn, task_id)
    if held.status is not PAUSED or held.is_waiting:
        if held.status in CLOSED:
            raise _closed(held, "resumed")
        return await _tell(conn, held, False, _why_not_paused(held))
    waiting = await _resume(conn, [held], by=by, reason=reason)
    return await _tell(conn, held, True, f"Waits for task {held.depends_on}." if waiting else "Resumed.")


async def cancel(conn: Any, task_id: int, *, by: str, reason: str | None = None) -> TaskState:
    held = await _hold_one(conn, task_id)
    if held.status is CANCELLED:
        return await _tell(conn, held, False, "It was cancelled already.")
    _refuse(held, CANCELLED, "cancelled")
    await cancel_held(conn, [held], by=by, reason=reason)
    return await _tell(conn, held, True, "Cancelled.")


async def restart(
    conn: Any,
    task_id: int,
    *,
    by: str,
    reason: str | None = None,
    reset_retry_count: bool = True,
    priority: int | None = None,
    scheduled_at: datetime | None = None,
    force: bool = False,
) -> TaskState:
    """The page is visited again, by a new task. One that is open is only restarted by force: it is cancelled first."""
    refuse_bad_priority(priority)
    held = await _hold_one(conn, task_id)
    if held.status not in CLOSED:
        if not force:
            raise ConflictError(f"Task {task_id} is {held.status}; force cancels it and starts another one.")
        await cancel_held(conn, [held], by=by, reason=reason or "restarted")
    order = _Restart(reset_retry_count, priority, scheduled_at)
    made = await _restart(conn, [held], order, by=by, reason=reason)
    task, is_new = made[held.page_id]
    message = (
        f"Visits the page of task {task_id} again." if is_new else f"Was open for the page of task {task_id} already."
    )
    return await _tell(conn, held._replace(id=task), is_new, message)


async def set_priority(conn: Any, task_id: int, priority: int, *, by: str, reason: str | None = None) -> TaskState:
    """1 is first, 10 is last. Counts from the next claim on; a worker that has it goes on with it."""
    refuse_bad_priority(priority)
    held = await _hold_one(conn, task_id)
    if held.status in CLOSED:
        raise _closed(held, "given another priority")
    if held.priority == priority:
        return await _tell(conn, held, False, f"Its priority was {priority} already.")
    await _set_priorities(conn, [held], priority, by=by, reason=reason)
    return await _tell(conn, held, True, f"Its priority is {priority}, it was {held.priority}.")


# many tasks ----------------------------------------------------------------------------------------------------------


async def pause_many(
    conn: Any, which: Which, *, by: str, reason: str | None = None, limit: int = MOST_AT_ONCE, dry_run: bool = False
) -> Many:
    chosen = await _choose(conn, which, PAUSABLE, limit=limit)
    if not dry_run:
        chosen = [held.id for held in await hold(conn, chosen) if may_move(held.status, PAUSED)]
        await _pause(conn, await frontier.hold(conn, chosen), by=by, reason=reason)
    return await _many(conn, "pause", chosen, limit=limit, dry_run=dry_run)


async def resume_many(
    conn: Any, which: Which, *, by: str, reason: str | None = None, limit: int = MOST_AT_ONCE, dry_run: bool = False
) -> Many:
    """Not those that wait for another task: they go on by themselves."""
    chosen = await _choose(conn, which, (PAUSED,), limit=limit, leaves_waiting=True)
    if not dry_run:
        held = [each for each in await hold(conn, chosen) if each.status is PAUSED and not each.is_waiting]
        chosen = [each.id for each in held]
        await _resume(conn, held, by=by, reason=reason)
    return await _many(conn, "resume", chosen, limit=limit, dry_run=dry_run)


async def cancel_many(
    conn: Any, which: Which, *, by: str, reason: str | None = None, limit: int = MOST_AT_ONCE, dry_run: bool = False
) -> Many:
    chosen = await _choose(conn, which, OPEN, limit=limit)
    if not dry_run:
        held = [each for each in await hold(conn, chosen) if each.status not in CLOSED]
        chosen = [each.id for each in held]
        await cancel_held(conn, held, by=by, reason=reason)
    return await _many(conn, "cancel", chosen, limit=limit, dry_run=dry_run)


async def set_priority_many(
    conn: Any,
    which: Which,
    priority: int,
    *,
    by: str,
    reason: str | None = None,
    limit: int = MOST_AT_ONCE,
    dry_run: bool = False,
) -> Many:
    """Of a whole domain also the pages that wait for their first visit and have no task yet (R062)."""
    refuse_bad_priority(priority)
    chosen = await _choose(conn, which, OPEN, limit=limit)
    if not dry_run:
        held = [each for each in await hold(conn, chosen) if each.status not in CLOSED]
        chosen = [each.id for each in held]
        await _set_priorities(
            conn, [each for each in held if each.priority != priority], priority, by=by, reason=reason
        )
        if which.domain is not None and not which.task_ids and which.batch_id is None:
            domain = await _domain_id(conn, which.domain)
            assert domain is not None
            await frontier.set_page_priorities(conn, domain, priority)
    return await _many(conn, "priority", chosen, limit=limit, dry_run=dry_run)


async def restart_failed(
    conn: Any,
    *,
    by: str,
    reason: str | None = None,
    domain: str | None = None,
    error_code: str | None = None,
    failed_after: datetime | None = None,
    limit: int = 1000,
    dry_run: bool = False,
) -> Many:
    """Pages whose last visit failed, newest first; each gets a new task that counts its tries from the beginning."""
    refuse_bad_limit(limit)
    found = await conn.fetch(SQL["choose_failed"], await _domain_id(conn, domain), error_code, failed_after, limit)
    return await _restart_many(
        conn, "restart-failed", [row["id"] for row in found], limit=limit, dry_run=dry_run, by=by, reason=reason
    )


async def restart_tasks(
    conn: Any, task_ids: Sequence[int], *, by: str, reason: str | None = None, dry_run: bool = False
) -> Many:
    """The pages of these closed tasks are visited again; one that has an open task by now is left as it is."""
    limit = len(task_ids) + 1
    return await _restart_many(conn, "restart", task_ids, limit=limit, dry_run=dry_run, by=by, reason=reason)


async def restart_batch(
    conn: Any,
    batch_id: int,
    *,
    by: str,
    reason: str | None = None,
    limit: int = MOST_AT_ONCE,
    dry_run: bool = False,
) -> Many:
    """Every page of a batch that has no open task is visited again, for the same batch."""
    refuse_bad_limit(limit)
    found = [row["id"] for row in await conn.fetch(SQL["choose_batch"], batch_id, limit)]
    return await _restart_many(conn, "restart-batch", found, limit=limit, dry_run=dry_run, by=by, reason=reason)


# what they have in common --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Restart:
    resets_retries: bool = True
    priority: int | None = None
    scheduled_at: datetime | None = None


async def _pause(conn: Any, held: Sequence[HeldTask], *, by: str, reason: str | None) -> None:
    await frontier.pause(conn, [each.id for each in held])
    await _note(conn, "pause", held, PAUSED, by=by, reason=reason)


async def _resume(conn: Any, held: Sequence[HeldTask], *, by: str, reason: str | None) -> set[int]:
    """Those that wait for a task that is not completed yet."""
    wanted = [each.depends_on for each in held if each.depends_on is not None]
    ended = {row["id"]: row["outcome"] for row in await conn.fetch(SQL["outcomes_of"], wanted)} if wanted else {}
    waiting = {each.id for each in held if ended.get(each.depends_on or 0, "success") != "success"}
    if waiting:
        await frontier.let_wait(conn, sorted(waiting))
    first = await frontier.resume(conn, [each.id for each in held if each.id not in waiting])
    await domains.expect_visits(conn, first, {})
    await _note(conn, "resume", [each for each in held if each.id in waiting], PAUSED, by=by, reason=reason)
    await _note(conn, "resume", [each for each in held if each.id not in waiting], PENDING, by=by, reason=reason)
    return waiting


async def cancel_held(conn: Any, held: Sequence[HeldTask], *, by: str, reason: str | None) -> None:
    words = f"cancelled by {by}" + (f": {reason}" if reason else "")
    freed, lost = await frontier.cancel(conn, {each.id: each.page_id for each in held}, reason=words)
    await domain_store.return_claims(conn, freed)
    for run, _, pages in freed:
        await stats.return_pages(conn, run, pages)
    await domains.lose_pages(conn, lost)
    await _note(conn, "cancel", held, CANCELLED, by=by, reason=reason)


async def _set_priorities(conn: Any, held: Sequence[HeldTask], priority: int, *, by: str, reason: str | None) -> None:
    await frontier.set_priorities(conn, [each.id for each in held], priority)
    words = f"priority {priority}" + (f": {reason}" if reason else "")
    moves = [(each.id, each.status, each.status) for each in held]
    await frontier.note_orders(conn, moves, verb="priority", by=by, reason=words)


async def _restart_many(
    conn: Any, verb: str, task_ids: Sequence[int], *, limit: int, dry_run: bool, by: str, reason: str | None
) -> Many:
    if dry_run:
        return await _many(conn, verb, task_ids, limit=limit, dry_run=True)
    held = [each for each in await hold(conn, task_ids) if each.status in CLOSED]
    made = await _restart(conn, held, _Restart(), by=by, reason=reason)
    done = await _many(conn, verb, [task for task, _ in made.values()], limit=limit, dry_run=False)
    return replace(done, is_all=len(task_ids) < limit)


async def _restart(
    conn: Any, held: Sequence[HeldTask], order: _Restart, *, by: str, reason: str | None
) -> dict[int, tuple[int, bool]]:
    """Page → its open task now, and whether it is new. The tasks are closed, and their domains held."""
    parents = {row["page_id"]: row for row in await frontier.closed_orders(conn, [each.id for each in held])}
    added = await frontier.queue_pages(conn, list(parents))
    new = await frontier.add(conn, [_successor(row, order) for row in parents.values()], by=by)
    opened = await frontier.open_of(conn, list(parents))
    known = [task.id for page, task in opened.items() if page not in new]
    await frontier.hurry(conn, known, priority=order.priority, at=order.scheduled_at)
    await frontier.move_dependents(conn, {parents[page]["id"]: task.id for page, task in opened.items()})
    first = first_due(task for task in (await frontier.open_of(conn, list(parents))).values() if task.status is PENDING)
    await domains.expect_visits(conn, first, added)
    moves: list[tuple[int, TaskStatus | None, TaskStatus]] = [(task, None, PENDING) for task in new.values()]
    await frontier.note_orders(conn, moves, verb="restart", by=by, reason=reason)
    return {page: (task.id, page in new) for page, task in opened.items()}


def _successor(row: Any, order: _Restart) -> NewTask:
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
    )


def first_due(tasks: Iterable[frontier.OpenTask]) -> dict[int, datetime]:
    """Domain → when the first of these tasks may be taken."""
    first: dict[int, datetime] = {}
    for task in tasks:
        first[task.domain_id] = min(task.scheduled_for, first.get(task.domain_id, task.scheduled_for))
    return first


async def _choose(
    conn: Any, which: Which, statuses: Sequence[TaskStatus], *, limit: int, leaves_waiting: bool = False
) -> list[int]:
    refuse_bad_limit(limit)
    domain = await _domain_id(conn, which.domain)
    ids = list(which.task_ids) or None
    rows = await conn.fetch(SQL["choose_open"], list(statuses), domain, which.batch_id, ids, leaves_waiting, limit)
    return [row["id"] for row in rows]


async def _domain_id(conn: Any, name: str | None) -> int | None:
    known = await known_name(conn, name)
    return (await domain_store.find_domains(conn, [known]))[known] if known is not None else None


async def hold(conn: Any, task_ids: Sequence[int]) -> list[HeldTask]:
    """Domains first, as workers do."""
    await domains.hold(conn, await frontier.domains_of(conn, task_ids))
    return await frontier.hold(conn, task_ids)


async def _hold_one(conn: Any, task_id: int) -> HeldTask:
    held = await hold(conn, [task_id])
    if not held:
        raise _unknown(task_id)
    return held[0]


async def _note(conn: Any, verb: str, held: Sequence[HeldTask], to: TaskStatus, *, by: str, reason: str | None) -> None:
    moves = [(each.id, each.status, to) for each in held]
    await frontier.note_orders(conn, moves, verb=verb, by=by, reason=reason)


async def _tell(conn: Any, held: HeldTask, was_changed: bool, message: str) -> TaskState:
    (row,) = await conn.fetch(SQL["read_states"], [held.id])
    return state_of(row, was_changed, message)


async def _many(conn: Any, verb: str, task_ids: Sequence[int], *, limit: int, dry_run: bool) -> Many:
    rows = await conn.fetch(SQL["read_states"], task_ids)
    states = tuple(state_of(row, not dry_run, "") for row in rows)
    return Many(verb, states, is_dry=dry_run, is_all=len(task_ids) < limit)


def state_of(row: Mapping[str, Any], was_changed: bool, message: str) -> TaskState:
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


def _refuse(held: HeldTask, to: TaskStatus, verb: str) -> None:
    """A task that waits for another is paused already, and may be by a person too."""
    if held.status in CLOSED:
        raise _closed(held, verb)
    if held.status is not to and not may_move(held.status, to):
        raise ConflictError(f"Task {held.id} is {held.status} and cannot be {verb} now; try again in a moment.")


def _closed(held: HeldTask, verb: str) -> ConflictError:
    return ConflictError(
        f"Task {held.id} is {held.status} and cannot be {verb}: what is closed never changes. "
        "A restart visits its page again."
    )


def _why_not_paused(held: HeldTask) -> str:
    return f"It waits for task {held.depends_on}." if held.is_waiting else f"It was not paused; it is {held.status}."


def _unknown(task_id: int) -> NotFoundError:
    return NotFoundError(f"There is no task {task_id}; `forager tasks` lists them.")


def refuse_bad_priority(priority: int | None) -> None:
    if priority is not None and not 1 <= priority <= 10:
        raise UsageError(f"There is no priority {priority}: 1 is the first, 10 the last.")


def refuse_bad_limit(limit: int) -> None:
    if not 1 <= limit <= MOST_AT_ONCE:
        raise UsageError(f"One order is for 1 to {MOST_AT_ONCE} tasks, not for {limit}; ordered again it goes on.")
