"""Actions on many tasks at once, by id, domain or batch: pause, resume, cancel, restart, priority. Each has a dry
run."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from forager.api.access import Admin
from forager.api.database import Change, change
from forager.api.errors import responses
from forager.api.reply import reply
from forager.api.types import Body, Flag, Id, Moment, Name, PathId, Priority, Reason, Text, Whole
from forager.domains import queries as domain_queries
from forager.tasks import batches
from forager.tasks import bulk as tasks_many
from forager.tasks import schemas as models
from forager.tasks.bulk import Many, TaskFilter
from forager.tasks.routes.tasks import LONGEST_S, MOST_AT_ONCE, state_of

router = APIRouter(tags=["tasks"])


class RestartFailed(Body):
    domain: Name | None = None
    domain_id: Id | None = None
    error_code: Annotated[Text, Field(min_length=1, max_length=60)] | None = Field(default=None, examples=["timeout"])
    failed_after: Moment | None = None
    limit: Whole = Field(default=1000, ge=1, le=MOST_AT_ONCE)
    dry_run: Flag = False
    reason: Reason | None = None


class TaskSelection(Body):
    """Which tasks; all that is said holds together."""

    task_ids: Annotated[list[Id], Field(max_length=MOST_AT_ONCE)] = Field(default=[])
    domain: Name | None = None
    batch_id: Id | None = None
    limit: Whole = Field(default=MOST_AT_ONCE, ge=1, le=MOST_AT_ONCE)
    dry_run: Flag = False
    reason: Reason | None = None

    @property
    def which(self) -> TaskFilter:
        return TaskFilter(tuple(self.task_ids), self.domain, self.batch_id)


class TaskSelectionPriority(TaskSelection):
    priority: Priority


@router.post("/api/admin/tasks/restart-failed", response_model=models.BulkResult, responses=responses(404))
async def restart_failed(request: Request, who: Admin, body: RestartFailed | None = None) -> Response:
    """Pages whose last visit failed, newest first, get a new task each."""
    order = body or RestartFailed()
    async with change(request, who, LONGEST_S) as deed:
        domain = order.domain
        if order.domain_id is not None:
            domain = await domain_queries.name_of_domain(deed.conn, order.domain_id)
        done = await tasks_many.restart_failed(
            deed.conn,
            by=deed.by,
            reason=order.reason,
            domain=domain,
            error_code=order.error_code,
            failed_after=order.failed_after,
            limit=order.limit,
            dry_run=order.dry_run,
        )
        await _note(deed, done, **order.model_dump(exclude_none=True, exclude={"dry_run"}))
    return _tell(done)


@router.post("/api/admin/tasks/pause", response_model=models.BulkResult, responses=responses(404))
async def pause_tasks(request: Request, who: Admin, body: TaskSelection) -> Response:
    """Pause tasks by number, domain or batch."""
    return await _many(request, who, body, tasks_many.pause_many)


@router.post("/api/admin/tasks/resume", response_model=models.BulkResult, responses=responses(404))
async def resume_tasks(request: Request, who: Admin, body: TaskSelection) -> Response:
    """Resume tasks by number, domain or batch."""
    return await _many(request, who, body, tasks_many.resume_many)


@router.post("/api/admin/tasks/cancel", response_model=models.BulkResult, responses=responses(404))
async def cancel_tasks(request: Request, who: Admin, body: TaskSelection) -> Response:
    """Cancel tasks by number, domain or batch."""
    return await _many(request, who, body, tasks_many.cancel_many)


@router.post("/api/admin/tasks/priority", response_model=models.BulkResult, responses=responses(404))
async def set_priorities(request: Request, who: Admin, body: TaskSelectionPriority) -> Response:
    """Give tasks another priority; of a whole domain also pages that have no task yet."""
    return await _many(request, who, body, tasks_many.set_priority_many, priority=body.priority)


@router.post("/api/admin/batches/{batch:int}/restart", response_model=models.BulkResult, responses=responses(404))
async def restart_batch(
    request: Request, who: Admin, batch: PathId, dry_run: Annotated[bool, Query()] = False
) -> Response:
    """Every page of a batch that has no open task is visited again."""
    async with change(request, who, LONGEST_S) as deed:
        await batches.find_batch(deed.conn, batch)
        done = await tasks_many.restart_batch(deed.conn, batch, by=deed.by, dry_run=dry_run)
        await _note(deed, done, batch_id=batch)
    return _tell(done)


async def _many(
    request: Request, who: Admin, body: TaskSelection, deed_of: Callable[..., Awaitable[Many]], **order: Any
) -> Response:
    async with change(request, who, LONGEST_S) as deed:
        done = await deed_of(
            deed.conn, body.which, by=deed.by, reason=body.reason, limit=body.limit, dry_run=body.dry_run, **order
        )
        await _note(deed, done, **body.model_dump(exclude_none=True, exclude={"dry_run", "task_ids"}))
    return _tell(done)


async def _note(deed: Change, done: Many, **details: Any) -> None:
    """A dry run changes nothing, and is not written down."""
    if not done.is_dry:
        first = [task.task_id for task in done.tasks[:20]]
        await deed.note(f"tasks.{done.verb}", "task", None, **details, tasks=len(done.tasks), first=first)


def _tell(done: Many) -> Response:
    states = [state_of(task) for task in done.tasks]
    return reply(
        {
            "verb": done.verb,
            "count": len(states),
            "tasks": states,
            "dry_run": done.is_dry,
            "is_all": done.is_all,
        }
    )
