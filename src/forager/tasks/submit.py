"""Creates tasks: visits that a person or a program submits by URL, one by one or many at once under the name of a
batch.

All tasks of a call are created in one transaction, however many. Unknown pages are added, as seeds are; a page that has
an open task keeps it, and the submission is merged into it: no page is visited twice because it was submitted twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlsplit

from forager.db.types import Connection
from forager.domains import store as domain_store
from forager.domains import tasks as domains
from forager.domains.denied import require_allowed
from forager.domains.settings import Order, drop_implied_scopes, find_crawled, remember_order
from forager.errors import AddressBlockedError, BadUrlError, ConflictError, NotFoundError, UsageError
from forager.frontier import store
from forager.frontier import tasks as frontier
from forager.frontier.enqueue import EnqueueResult, enqueue
from forager.frontier.page_priority import URGENT
from forager.frontier.task_status import TaskStatus
from forager.frontier.tasks import NewTask, RescheduledTask
from forager.links.models import Discovery
from forager.plugins.rewriting import rewrite_seed
from forager.politeness.guard import AddressGuard, host_as_ip
from forager.runs.models import Scope
from forager.tasks.transitions import (
    SQL,
    TaskState,
    describe_change,
    first_due,
    note_changes,
    state_of,
    validate_priority,
)
from forager.urls.domain import domain_of
from forager.urls.normalize import normalize, url_key

MOST_ORDERS = 100_000
LONGEST_WEBHOOK = 2000
PENDING, PAUSED = TaskStatus.PENDING, TaskStatus.PAUSED


@dataclass(frozen=True, slots=True)
class TaskOrder:
    """One visit to submit; None selects the default."""

    url: str
    priority: int | None = None
    """1 is first, 10 is last; None: 5, or the priority of an open task."""
    scheduled_for: datetime | None = None
    """None: now."""
    is_recurring: bool | None = None
    """False: visit once, whatever the frequency of its domain."""
    revisit_every_s: float | None = None
    """Overrides the frequency of page and domain, also for later visits."""
    max_retries: int | None = None
    webhook_url: str | None = None
    depends_on: int | None = None
    """The task that must be completed first."""


@dataclass(frozen=True, slots=True)
class SubmitResult:
    tasks: tuple[TaskState, ...]
    """In the order submitted; a URL given twice appears once. `was_changed`: the task is new, or was open and is
    earlier, more urgent or has other options now."""
    batch_id: int | None
    batch: str | None
    new: int
    """Number of tasks that were created."""


async def submit(
    conn: Connection,
    orders: Sequence[TaskOrder],
    *,
    by: str,
    reason: str | None = None,
    batch: str | None = None,
    guard: AddressGuard | None = None,
    is_only: bool | None = None,
) -> SubmitResult:
    """Creates all of the tasks or none. With the guard, addresses that are never allowed are rejected here already.

    `is_only`: of a domain that is not crawled otherwise, visit no other page. None: so for domains without a scope.
    """
    wanted = read_orders(orders, guard)
    names = sorted({domain_of(url) for url in wanted})
    crawled = await find_crawled(conn, names)
    ends = await _ends_of_dependencies(conn, list(wanted.values()))
    row = await frontier.name_batch(conn, _batch_name(batch), by=by) if batch is not None else None
    page_ids = await _enqueue(conn, list(wanted))
    if is_only is not False:
        only = Order(Scope.PAGE, {}, {}, crawled, is_default=is_only is None, is_for_pages=True)
        await remember_order(conn, only, names, by=by)
    else:
        await drop_implied_scopes(conn, names, by=by)
    await _check_dependencies(conn, wanted, page_ids)
    tasks = [_new_task(page_ids[url], order, row["id"] if row else None, ends) for url, order in wanted.items()]
    added = await frontier.queue_pages(conn, [task.page_id for task in tasks])
    new = await frontier.add(conn, tasks, by=by)
    changed = await frontier.update_tasks(conn, [task for task in tasks if task.page_id not in new])
    opened = await frontier.list_open(conn, [task.page_id for task in tasks])
    first = first_due(task for task in opened.values() if task.status is PENDING)
    await domains.expect_visits(conn, first, added)
    moves: list[tuple[int, TaskStatus | None, TaskStatus]] = [
        (task, None, opened[page].status) for page, task in new.items()
    ]
    await frontier.note_orders(conn, moves, verb="submit", by=by, reason=reason)
    await note_changes(conn, "submit", list(changed.values()), by=by, reason=reason)
    states = {state["id"]: state for state in await conn.fetch(SQL["read_states"], [t.id for t in opened.values()])}
    told = tuple(
        state_of(states[task], page in new or task in changed, _describe(page in new, changed.get(task)))
        for page, task in ((page, opened[page].id) for page in page_ids.values())
    )
    return SubmitResult(told, row["id"] if row else None, row["name"] if row else None, len(new))


def _describe(is_new: bool, change: RescheduledTask | None) -> str:
    if is_new:
        return "Ordered."
    return f"It was open already: now {describe_change(change)}." if change else "It was open already."


def read_orders(orders: Sequence[TaskOrder], guard: AddressGuard | None = None) -> dict[str, TaskOrder]:
    """Returns the submissions by normalised URL, each once; the first one for a URL counts. Rejects all if one is
    invalid."""
    if not orders:
        raise UsageError("There is nothing to submit: name at least one URL.", field="urls")
    if len(orders) > MOST_ORDERS:
        raise UsageError(
            f"One call orders at most {MOST_ORDERS:,} visits, not {len(orders):,}; split the list.", field="tasks"
        )
    wanted: dict[str, TaskOrder] = {}
    for order in orders:
        _validate_order(order)
        webhook = read_webhook(order.webhook_url, guard) if order.webhook_url is not None else None
        wanted.setdefault(_read_page_url(order.url, guard), replace(order, webhook_url=webhook))
    return wanted


def read_webhook(url: str, guard: AddressGuard | None = None) -> str:
    """Validates a webhook URL: http or https, without user name and password, and none that the guard would reject
    whenever it is called."""
    if len(url) > LONGEST_WEBHOOK:
        raise UsageError(f"A webhook's URL has at most {LONGEST_WEBHOOK} characters.", field="webhook_url")
    normal = _read_url(url, None)
    if guard is not None:
        parts = urlsplit(normal)
        try:
            guard.check_host(parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
        except AddressBlockedError as error:
            raise UsageError(f"The webhook could never be called: {error}", field="webhook_url") from None
    return normal


def _read_page_url(url: str, guard: AddressGuard | None) -> str:
    try:
        return rewrite_seed(_read_url(url, guard))
    except BadUrlError as error:
        raise UsageError(str(error)) from None


def _read_url(url: str, guard: AddressGuard | None) -> str:
    try:
        normal = normalize(url)
    except BadUrlError as error:
        raise UsageError(str(error)) from None
    parts = urlsplit(normal)
    ip = host_as_ip(parts.hostname or "")
    if guard is not None and ip is not None:
        try:
            guard.check_ip(ip, parts.port or (443 if parts.scheme == "https" else 80))
        except AddressBlockedError as error:
            raise UsageError(f"{normal} may not be asked: {error}") from None
    return normal


def _validate_order(order: TaskOrder) -> None:
    validate_priority(order.priority)
    if order.max_retries is not None and not 0 <= order.max_retries <= 20:
        raise UsageError(f"{order.max_retries} are no retries: 0 to 20 are possible.", field="max_retries")
    if order.revisit_every_s is not None and not 1 <= order.revisit_every_s < float("inf"):
        raise UsageError("A page is visited again after one second at the soonest.", field="revisit_every_s")
    if order.scheduled_for is not None and order.scheduled_for.tzinfo is None:
        raise UsageError(
            "Say in which time zone the visit is scheduled, such as 2026-01-31T10:00:00Z.", field="scheduled_for"
        )


def _batch_name(name: str) -> str:
    clean = " ".join(name.split())
    if not 1 <= len(clean) <= 200 or not clean.isprintable():
        raise UsageError("A batch has a name of 1 to 200 printable characters.", field="name")
    return clean


async def _enqueue(conn: Connection, urls: Sequence[str]) -> dict[str, int]:
    """Returns the page id of each URL, adding unknown pages. Their domains are locked."""
    links = {url: Discovery(url, url_key(url), domain_of(url), 0, 0, "", "seed") for url in urls}
    await require_allowed(conn, {link.domain for link in links.values()})
    learned = EnqueueResult()

    async def find_or_add(conn: Connection, bases: Mapping[str, str]) -> Mapping[str, int]:
        await domain_store.add_domains(conn, bases, source="order", run=None)
        return await domain_store.find_domains(conn, bases)

    await enqueue(conn, learned, {link.key: link for link in links.values()}, find_or_add, are_seeds=True)
    await domains.hold(conn, await _domains_of(conn, list(learned.page_ids.values())))
    await store.mark_seeds(conn, list(learned.page_ids.values()))
    await domain_store.count_discovered(conn, learned.new, run=None)
    if learned.nearer and (nearer := await store.update_depths(conn, learned.nearer)):
        await domain_store.wake(conn, sorted(nearer))
    return {url: learned.page_ids[link.key] for url, link in links.items()}


async def _domains_of(conn: Connection, page_ids: Sequence[int]) -> list[int]:
    return [row["domain_id"] for row in await conn.fetch(SQL["domains_of_pages"], page_ids)]


async def _ends_of_dependencies(conn: Connection, orders: Sequence[TaskOrder]) -> dict[int, str | None]:
    """Returns the outcome of each task that a submission depends on, None while it is open."""
    wanted = sorted({order.depends_on for order in orders if order.depends_on is not None})
    if not wanted:
        return {}
    ends = {row["id"]: row["outcome"] for row in await conn.fetch(SQL["outcomes_of"], wanted)}
    for task in wanted:
        if task not in ends:
            raise NotFoundError(f"There is no task {task} to depend on; `forager tasks` lists them.")
        if ends[task] not in {None, "success"}:
            raise ConflictError(
                f"Task {task} ended {ends[task]}, so nothing can wait for it; restart it first.", "dependency_ended"
            )
    return ends


async def _check_dependencies(conn: Connection, wanted: Mapping[str, TaskOrder], page_ids: Mapping[str, int]) -> None:
    """Checks that no open task would get a new dependency: a page has one open task, which cannot wait for a task
    that it was not submitted to wait for."""
    waiting = {page_ids[url]: order.depends_on for url, order in wanted.items() if order.depends_on is not None}
    if not waiting:
        return
    for page, task in (await frontier.list_open(conn, list(waiting))).items():
        if task.id == waiting[page]:
            raise ConflictError(f"Task {task.id} cannot wait for itself.", "dependency_cycle")
        if task.depends_on != waiting[page]:
            raise ConflictError(
                f"Task {task.id} is open for the same page and does not depend on task {waiting[page]}; "
                "cancel it first, or leave the dependency out.",
                "task_open",
            )


def _new_task(page: int, order: TaskOrder, batch: int | None, ends: Mapping[int, str | None]) -> NewTask:
    return NewTask(
        page,
        priority=order.priority,
        scheduled_for=order.scheduled_for,
        is_recurring=order.is_recurring,
        revisit_every_s=order.revisit_every_s,
        max_retries=order.max_retries,
        webhook_url=order.webhook_url,
        depends_on=order.depends_on,
        is_waiting=order.depends_on is not None and ends[order.depends_on] is None,
        batch_id=batch,
        is_urgent=order.priority is not None and order.priority <= URGENT,
    )
