"""Tasks and batches: submit and show visits; pause, resume, cancel, restart one task or change its priority."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import AliasChoices, Field

from forager.accounts.audit import FAILED
from forager.api import paging
from forager.api.access import Admin, Seeding, User
from forager.api.database import change, exclusive_request, get_forager, look, snapshot
from forager.api.errors import responses
from forager.api.filters import ParserFilter, SourceFilter, StatusCodeFilter, UrlPartFilter
from forager.api.paging import Paged
from forager.api.reply import reply
from forager.api.types import (
    LARGEST_ID,
    After,
    Body,
    Flag,
    Id,
    Limit,
    Moment,
    Name,
    Number,
    PathId,
    Priority,
    Reason,
    ReasonBody,
    Text,
    Url,
    Whole,
    reason_of,
)
from forager.db import scans
from forager.errors import ConflictError
from forager.politeness.guard import guard_from_settings as guard_of
from forager.replay.service import of_task
from forager.replay.single import replay_task
from forager.runs.guard import guard_of_workers
from forager.tasks import batches, submit
from forager.tasks import queries as task_queries
from forager.tasks import schemas as models
from forager.tasks import service as control
from forager.tasks.transitions import TaskState
from forager.webhooks import service as webhooks

router = APIRouter(tags=["tasks"])
LONGEST_S = 60.0
MOST_AT_ONCE = 10_000
RESTART_PARSING = "task.restart_parsing"
SEED_PATHS = frozenset({"/api/admin/tasks/batch"})


WHEN = AliasChoices("scheduled_for", "scheduled_at")
EVERY = AliasChoices("revisit_every_s", "crawl_frequency")
RetryCount = Annotated[
    Flag,
    Field(
        description="True: the new task begins with 0 retries. False: it goes on counting from those of the task it"
        " follows. Reading a body again makes no task, so there it has no effect."
    ),
]


ONLY = (
    "True: visit no other page of a domain that is not crawled otherwise. False: crawl all of it. "
    "Null: true, unless its profile or settings name a scope."
)


class VisitOrder(Body):
    """One visit; what is not said is as usual."""

    url: Url = Field(examples=["https://shop.example/lamp"])
    priority: Priority | None = None
    scheduled_for: Moment | None = Field(
        default=None, description="Null: now. `scheduled_at` is another name for it.", validation_alias=WHEN
    )
    is_recurring: Flag | None = Field(default=None, description="False: once, whatever the frequency of its domain.")
    revisit_every_s: Number | None = Field(
        default=None,
        ge=1,
        le=315_360_000,
        description="Visit it again at this interval, as `--every` does; null: as often as its domain. "
        "`crawl_frequency` is another name for it.",
        validation_alias=EVERY,
    )
    max_retries: Whole | None = Field(default=None, ge=0, le=20)
    webhook_url: Annotated[Url, Field(max_length=2000)] | None = None
    depends_on: Id | None = Field(default=None, description="The task that has to be completed before.")


class Submission(VisitOrder):
    reason: Reason | None = None
    only: Flag | None = Field(default=None, description=ONLY)


class BatchOrder(Body):
    name: Annotated[Text, Field(min_length=1, max_length=200)] = Field(examples=["lamps of November"])
    tasks: Annotated[list[VisitOrder], Field(min_length=1, max_length=MOST_AT_ONCE)]
    reason: Reason | None = None
    only: Flag | None = Field(default=None, description=ONLY)


class Restart(Body):
    reset_retry_count: RetryCount = True
    priority: Priority | None = None
    scheduled_for: Moment | None = Field(
        default=None,
        description="Null: now; an open task of the page keeps its time. `scheduled_at` is another name for it.",
        validation_alias=WHEN,
    )
    force: Flag = Field(default=False, description="Restart one that is open: it is cancelled first.")
    reason: Reason | None = None


class RestartParsing(Body):
    reset_retry_count: RetryCount = True
    reason: Reason | None = None


class NewPriority(Body):
    priority: Priority
    reason: Reason | None = None


# Queries -------------------------------------------------------------------------------------------------------------


@router.get("/api/admin/tasks", response_model=Paged[models.TaskRow], responses=responses(404))
@router.get("/api/tasks", response_model=Paged[models.TaskRow], responses=responses(404))
async def list_tasks(
    request: Request,
    _who: User,
    *,
    domain: Annotated[Name | None, Query()] = None,
    status: Annotated[models.TaskStatus | None, Query()] = None,
    outcome: Annotated[models.Outcome | None, Query()] = None,
    error_code: Annotated[Text | None, Query(max_length=60, examples=["timeout"])] = None,
    run: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None,
    is_open: Annotated[bool | None, Query(description="True: the queue; false: the history.")] = None,
    kind: Annotated[models.TaskKind | None, Query(description="What the visit is for.")] = None,
    batch_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Only of this batch.")] = None,
    status_code: StatusCodeFilter = None,
    worker: Annotated[
        int | None, Query(ge=1, le=LARGEST_ID, description="Only those that this worker works on now.")
    ] = None,
    created_by: Annotated[
        Text | None, Query(max_length=200, description="Who ordered them.", examples=["refresh", "cli:ann"])
    ] = None,
    created_since: Annotated[Moment | None, Query()] = None,
    created_until: Annotated[Moment | None, Query(description="Before this moment.")] = None,
    completed_since: Annotated[Moment | None, Query()] = None,
    completed_until: Annotated[Moment | None, Query(description="Before this moment.")] = None,
    priority: Annotated[int | None, Query(ge=1, le=10)] = None,
    q: UrlPartFilter = None,
    source: SourceFilter = None,
    parser: ParserFilter = None,
    limit: Limit = 100,
    after: After = None,
) -> Response:
    """Tasks, newest first: open ones are the queue, closed ones the history. Filters that no index serves (`q`,
    `priority`, `source`, `parser`) may end a page before `limit`; it is the last only if `next` is null."""
    wanted = task_queries.TaskFilter(
        domain=domain,
        status=status,
        outcome=outcome,
        error_code=error_code,
        run=run,
        is_open=is_open,
        is_image=None if kind is None else kind == "image",
        batch=batch_id,
        worker=worker,
        status_code=status_code,
        created_by=created_by,
        created_since=created_since,
        created_until=created_until,
        completed_since=completed_since,
        completed_until=completed_until,
        priority=priority,
        url_part=q,
        source=source,
        parser=parser,
    )
    async with look(request) as conn:
        if batch_id is not None:
            await batches.find_batch(conn, batch_id)
        found = await task_queries.list_tasks(
            conn,
            wanted,
            paging.read(request, after, models.NEWEST_TASKS),
            limit=limit + 1,
            within_s=scans.LONGEST_S,
        )
    resume_at = None if found.resume_at is None else {"id": found.resume_at}
    return paging.page(request, found.rows, limit, models.NEWEST_TASKS, resume_at)


@router.get("/api/admin/tasks/{task:int}", response_model=models.Task, responses=responses(404))
@router.get("/api/tasks/{task:int}", response_model=models.Task, responses=responses(404))
async def show_task(request: Request, who: User, task: PathId) -> Response:
    """One task, with the other visits of its page and what people ordered for it."""
    async with snapshot(request) as conn:
        found = await control.describe(conn, task)
    if found["webhook_url"] is not None:
        found["webhook_url"] = webhooks.mask_url(found["webhook_url"], in_full=who.can_change)
    return reply(found)


@router.get("/api/admin/tasks/{task:int}/history", response_model=Paged[models.Visit], responses=responses(404))
@router.get("/api/tasks/{task:int}/history", response_model=Paged[models.Visit], responses=responses(404))
async def show_task_history(
    request: Request, _who: User, task: PathId, limit: Limit = 100, after: After = None
) -> Response:
    """All visits of the task's page, newest first."""
    (before,) = paging.read(request, after, paging.BY_ID)
    async with look(request) as conn:
        await task_queries.check_task_exists(conn, task)
        rows = await control.history(conn, task, before=before, limit=limit + 1)
    return paging.page(request, rows, limit)


@router.get("/api/batches", response_model=Paged[models.Batch], responses=responses(404))
async def list_batches(request: Request, _who: User, limit: Limit = 50, after: After = None) -> Response:
    """Batches, newest first, each with where its pages stand."""
    (before,) = paging.read(request, after, paging.BY_ID)
    async with look(request) as conn:
        rows = await batches.list_batches(conn, before=before, limit=limit + 1)
    return paging.page(request, rows, limit)


@router.get("/api/batches/{batch:int}", response_model=models.Batch, responses=responses(404))
async def show_batch(request: Request, _who: User, batch: PathId) -> Response:
    """One batch, with where its pages stand."""
    async with look(request) as conn:
        return reply(await batches.describe_batch(conn, batch))


# Submitting ----------------------------------------------------------------------------------------------------------


@router.post("/api/admin/tasks", status_code=201, response_model=models.TaskState, responses=responses(404, 409))
async def submit_task(request: Request, who: Seeding, body: Submission) -> Response:
    """Order a visit. A page that has an open task keeps it: the order makes it earlier and more urgent, never later.
    `was_changed` says whether it did."""
    order = submit.TaskOrder(**body.model_dump(exclude={"reason", "only"}))
    async with change(request, who) as deed:
        guard = await guard_of_workers(deed.conn, guard_of(get_forager(request).settings))
        done = await submit.submit(deed.conn, [order], by=deed.by, reason=body.reason, guard=guard, is_only=body.only)
        await deed.note("task.submit", "task", done.tasks[0].task_id, url=body.url, reason=body.reason)
    return reply(state_of(done.tasks[0]), 201)


@router.post("/api/admin/tasks/batch", status_code=201, response_model=models.Submitted, responses=responses(404, 409))
async def submit_batch(request: Request, who: Seeding, body: BatchOrder) -> Response:
    """Order many visits under one name: all of them or none."""
    orders = [submit.TaskOrder(**order.model_dump()) for order in body.tasks]
    async with change(request, who, LONGEST_S) as deed:
        guard = await guard_of_workers(deed.conn, guard_of(get_forager(request).settings))
        done = await submit.submit(
            deed.conn, orders, by=deed.by, reason=body.reason, batch=body.name, guard=guard, is_only=body.only
        )
        await deed.note("task.submit_batch", "batch", done.batch_id, name=body.name, tasks=len(done.tasks))
    states = [state_of(task) for task in done.tasks]
    return reply({"batch_id": done.batch_id, "batch": done.batch, "new": done.new, "tasks": states}, 201)


# One task ------------------------------------------------------------------------------------------------------------


@router.post("/api/admin/tasks/{task:int}/pause", response_model=models.TaskState, responses=responses(404, 409))
async def pause_task(request: Request, who: Admin, task: PathId, body: ReasonBody | None = None) -> Response:
    """It stays as it is until it is resumed; a worker puts it down at its next step."""
    return await _one(request, who, "pause", task, control.pause, reason=reason_of(body))


@router.post("/api/admin/tasks/{task:int}/resume", response_model=models.TaskState, responses=responses(404, 409))
async def resume_task(request: Request, who: Admin, task: PathId, body: ReasonBody | None = None) -> Response:
    """It is due now. That never counts as another try."""
    return await _one(request, who, "resume", task, control.resume, reason=reason_of(body))


@router.post("/api/admin/tasks/{task:int}/cancel", response_model=models.TaskState, responses=responses(404, 409))
async def cancel_task(request: Request, who: Admin, task: PathId, body: ReasonBody | None = None) -> Response:
    """It is closed with the outcome `cancelled`."""
    return await _one(request, who, "cancel", task, control.cancel, reason=reason_of(body))


@router.post("/api/admin/tasks/{task:int}/restart", response_model=models.TaskState, responses=responses(404, 409))
async def restart_task(request: Request, who: Admin, task: PathId, body: Restart | None = None) -> Response:
    """The page is visited again by a new task. Asked twice, there is still one: it keeps its time and its priority
    unless the second restart names others, and then `was_changed` is true."""
    order = (body or Restart()).model_dump()
    order["scheduled_at"] = order.pop("scheduled_for")
    return await _one(request, who, "restart", task, control.restart, **order)


@router.post("/api/admin/tasks/{task:int}/restart-parsing", response_model=models.Reread, responses=responses(404, 409))
async def restart_parsing(request: Request, who: Admin, task: PathId, body: RestartParsing | None = None) -> Response:
    """The stored body of the task's page is read again, without any request. 409 where none was kept."""
    order = body or RestartParsing()
    async with exclusive_request(request), _parsing_on_record(request, who, task, order.reason) as told:
        done = await replay_task(get_forager(request), task)
        if not done["tally"]["read"]:
            reasons = ", ".join(done["tally"]["left"]) or "it is gone"
            raise ConflictError(
                f"The body of task {task} could not be read again ({reasons}); nothing was changed."
                f" `forager tasks restart {task}` visits the page anew.",
                "body_not_readable",
            )
        told["changed"] = done["tally"]["changed"]
    return reply(
        {
            "task_id": task,
            "status": "completed",
            "pages": done["tally"]["read"],
            "changed": done["tally"]["changed"],
            "message": "Its stored body was read again.",
        }
    )


@contextlib.asynccontextmanager
async def _parsing_on_record(
    request: Request, who: Admin, task: int, reason: str | None
) -> AsyncIterator[dict[str, Any]]:
    """Another process reads, in transactions of its own: like a purge it is noted before it begins and when it ended.
    Of what cannot be begun nothing is noted."""
    told: dict[str, Any] = {"reason": reason}
    async with change(request, who) as deed:
        await of_task(deed.conn, task, default_policy=get_forager(request).settings.storage.content_policy)
        await deed.note(RESTART_PARSING, "task", task, step="begun", **told)
    try:
        yield told
    except (Exception, asyncio.CancelledError) as error:
        with contextlib.suppress(Exception):  # a database that is away cannot be told; then it has begun and not ended
            async with change(request, who) as deed:
                told |= {"step": "stopped", "error": str(error)}
                await deed.note(RESTART_PARSING, "task", task, outcome=FAILED, **told)
        raise
    async with change(request, who) as deed:
        await deed.note(RESTART_PARSING, "task", task, step="done", **told)


@router.patch("/api/admin/tasks/{task:int}/priority", response_model=models.TaskState, responses=responses(404, 409))
async def set_priority(request: Request, who: Admin, task: PathId, body: NewPriority) -> Response:
    """1 is first, 10 is last. It counts from the next claim on."""
    return await _one(request, who, "priority", task, control.set_priority, priority=body.priority, reason=body.reason)


async def _one(
    request: Request, who: Admin, verb: str, task: int, deed_of: Callable[..., Awaitable[TaskState]], **order: Any
) -> Response:
    async with change(request, who) as deed:
        done = await deed_of(deed.conn, task, by=deed.by, **order)
        told = {name: value for name, value in order.items() if value is not None}
        await deed.note(f"task.{verb}", "task", task, **told, was_changed=done.was_changed)
    return reply(state_of(done))


def state_of(state: TaskState) -> dict[str, Any]:
    return {**asdict(state), "scheduled_at": state.scheduled_for}
