"""Failures grouped by problem, dead letters, and retrying them."""

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import Field

from forager.api import paging
from forager.api.access import Admin, User
from forager.api.database import change, look, snapshot
from forager.api.errors import responses
from forager.api.paging import Paged
from forager.api.reply import reply
from forager.api.types import After, Body, Flag, Limit, Number, Whole
from forager.errors import UsageError
from forager.stats.store import read_clock
from forager.tasks import failure_schemas as models
from forager.tasks import failures as control
from forager.webhooks import service as webhooks

router = APIRouter(tags=["errors"])
DAY_S = 86_400.0
TEN_YEARS_S = 3650 * DAY_S
SinceS = Annotated[float, Query(gt=0, le=TEN_YEARS_S, allow_inf_nan=False, description="Seconds back from now.")]
Fingerprint = Annotated[str, Path(pattern="^[0-9a-f]{4,32}$", examples=["3f9a12bc44d0"])]
BY_FAILURES = paging.Order(("failures", "fingerprint", "until"), ("int", "text", "time"), hidden=("until",))
BY_BOTH_IDS = paging.Order(("task_id", "id"), ("int", "int"))
LONGEST_S = 60.0


class Redrive(Body):
    fingerprint: Annotated[str, Field(pattern="^[0-9a-f]{4,32}$")] | None = Field(
        default=None, description="Everything that failed with one problem; null: all dead letters."
    )
    category: control.Category | None = Field(default=None, description="Only dead letters with this cause.")
    since_s: Number = Field(default=TEN_YEARS_S, gt=0, le=TEN_YEARS_S)
    limit: Whole = Field(
        default=1000, ge=1, le=control.MOST_REDRIVEN, description="So many visits, and so many calls, the newest."
    )
    dry_run: Flag = False


@router.get("/api/errors", response_model=Paged[models.Pattern], responses=responses(404))
async def list_errors(
    request: Request,
    _who: User,
    since_s: SinceS = DAY_S,
    category: Annotated[control.Category | None, Query()] = None,
    limit: Limit = 50,
    after: After = None,
) -> Response:
    """The largest problems first: each is many failures. All pages of a list count up to the moment of the first."""
    failures, fingerprint, until = paging.read(request, after, BY_FAILURES)
    async with look(request) as conn:
        until = until or await read_clock(conn)
        since = timedelta(seconds=since_s)
        found = await control.patterns(
            conn, since=since, until=until, category=category, after=(failures, fingerprint), limit=limit + 1
        )
    return paging.page(request, [{**asdict(each), "until": until} for each in found], limit, BY_FAILURES)


@router.get("/api/errors/categories", response_model=models.Categories, responses=responses())
async def count_errors(request: Request, _who: User, since_s: SinceS = DAY_S) -> Response:
    """Failures by category."""
    async with look(request) as conn:
        return reply(await control.count_categories(conn, since=timedelta(seconds=since_s)))


@router.get("/api/errors/dead", response_model=models.DeadLetters, responses=responses(404))
async def list_dead_letters(
    request: Request,
    who: User,
    *,
    since_s: SinceS = TEN_YEARS_S,
    category: Annotated[
        control.Category | None, Query(description="Only visits with this cause, and no calls.")
    ] = None,
    limit: Limit = 100,
    after: After = None,
) -> Response:
    """Visits that were given up, by our own fault or after all retries, and calls that nobody took: of each the newest
    first, and `limit` of them on a page. Definite answers, such as 404, are no dead letters."""
    task, call = paging.read(request, after, BY_BOTH_IDS)
    async with look(request) as conn:
        since = timedelta(seconds=since_s)
        found = await control.list_dead(conn, since=since, category=category, before=(task, call), limit=limit + 1)
    following = paging.truncate_lists(request, (found["tasks"], found["webhooks"]), limit, BY_BOTH_IDS, ends=(0, 0))
    for each in found["webhooks"]:
        each["url"] = webhooks.mask_url(each["url"], in_full=who.can_change)
    return reply({**found, "next": following})


@router.get("/api/errors/{fingerprint}", response_model=models.ErrorPattern, responses=responses(404))
async def show_error(request: Request, _who: User, fingerprint: Fingerprint, since_s: SinceS = DAY_S) -> Response:
    """One problem: what, since when, where, day by day."""
    async with snapshot(request) as conn:
        return reply(await control.describe(conn, fingerprint, since=timedelta(seconds=since_s)))


@router.post("/api/admin/errors/redrive", response_model=models.Redriven, responses=responses(404))
async def redrive(request: Request, who: Admin, body: Redrive | None = None) -> Response:
    """Try again what failed for good."""
    order = body or Redrive()
    if order.fingerprint is not None and order.category is not None:
        raise UsageError("A problem has one category: name the problem or the category.", field="category")
    async with change(request, who, LONGEST_S) as deed:
        done = await control.redrive(
            deed.conn,
            by=deed.by,
            fingerprint=order.fingerprint,
            category=order.category,
            since=timedelta(seconds=order.since_s),
            limit=order.limit,
            dry_run=order.dry_run,
        )
        if not done.is_dry:
            tasks, calls = len(done.tasks), done.webhooks
            await deed.note("errors.redrive", "error", done.fingerprint, tasks=tasks, webhooks=calls)
    return reply(
        {
            "fingerprint": done.fingerprint,
            "count": len(done.tasks),
            "tasks": done.tasks,
            "webhooks": done.webhooks,
            "dry_run": done.is_dry,
        }
    )
