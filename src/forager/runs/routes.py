"""Runs: orders to crawl, how they do, and an end before their time."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from forager.api import paging
from forager.api.access import Admin, Seeding, User
from forager.api.database import change, get_forager, look, snapshot
from forager.api.errors import responses
from forager.api.paging import Paged
from forager.api.reply import reply
from forager.api.types import LARGEST_ID, After, Body, Flag, Limit, Number, PathId, Text, Url, Whole
from forager.config.crawl_settings import SECRETS, read_layer
from forager.errors import BadUrlError, NotFoundError, UsageError
from forager.runs import queries as run_queries
from forager.runs import service as control
from forager.runs.models import RunSpec, Scope
from forager.runs.report import read_progress
from forager.seeds.found import credentials_note, to_url
from forager.seeds.service import MOST_NAMED
from forager.seeds.validate import validate_seed
from forager.tasks import schemas as models

router = APIRouter(tags=["runs"])
Glob = Annotated[Text, Field(min_length=1, max_length=2000)]


class RunOrder(Body):
    """What `forager crawl` takes, but for lists that are too long to be named."""

    urls: Annotated[list[Url], Field(min_length=1, max_length=MOST_NAMED, examples=[["https://shop.example/"]])]
    scope: Scope | None = Field(default=None, description="Null: as the settings of each domain say, by default host.")
    include: Annotated[list[Glob], Field(max_length=100)] = Field(default=[], examples=[["*/products/*"]])
    exclude: Annotated[list[Glob], Field(max_length=100)] = Field(default=[])
    max_depth: Whole | None = Field(default=None, ge=0, le=1000)
    max_pages: Whole | None = Field(default=None, ge=1, le=LARGEST_ID)
    max_pages_per_domain: Whole | None = Field(default=None, ge=1, le=2**31 - 1)
    delay_s: Number | None = Field(default=None, ge=0, le=86_400)
    settings: dict[str, Any] = Field(
        default={}, description="Further crawl settings of these domains.", examples=[{"revisit_every": "1d"}]
    )
    dry_run: Flag = False


def _settings_of(body: RunOrder) -> dict[str, Any]:
    """Returns the crawl settings that a run was given; they become settings of its domains."""
    given = {
        **body.settings,
        "include": body.include or None,
        "exclude": body.exclude or None,
        "max_depth": body.max_depth,
        "max_pages": body.max_pages_per_domain,
        "max_pages_per": "run" if body.max_pages_per_domain else None,
        "delay": body.delay_s,
    }
    layer = read_layer({name: value for name, value in given.items() if value is not None})
    if secret := SECRETS & layer.keys():
        raise UsageError(f"{min(secret)} is a secret: set it with the domain, where it is encrypted.", field="settings")
    return layer


@router.get("/api/runs", response_model=Paged[models.RunRow], responses=responses(404))
async def list_runs(
    request: Request,
    _who: User,
    status: Annotated[models.RunStatus | None, Query()] = None,
    limit: Limit = 100,
    after: After = None,
) -> Response:
    """Runs, newest first, with what they did."""
    async with look(request) as conn:
        rows = await run_queries.list_runs(
            conn, paging.read(request, after, paging.BY_ID), status=status, limit=limit + 1
        )
    return paging.page(request, rows, limit)


@router.get("/api/runs/{run:int}", response_model=models.Run, responses=responses(404))
async def show_run(request: Request, _who: User, run: PathId) -> Response:
    """One run at this moment."""
    async with snapshot(request) as conn:
        found = await run_queries.list_runs(conn, (run + 1,), limit=1)
        if not found or found[0]["id"] != run:
            raise NotFoundError(f"There is no run {run}.")
        progress = await read_progress(conn, run)
        drops = await control.drops(conn, run)
    row = found[0]
    kept: dict[str, Any] = {name: row[name] for name in ("status", "spec", "created_by", "started_at", "ended_at")}
    return reply({**asdict(progress), **kept, "drops": drops})


@router.post("/api/admin/runs", status_code=201, response_model=models.Ordered, responses=responses(409))
async def start_run(request: Request, who: Seeding, body: RunOrder) -> Response:
    """Order a crawl; the workers of `forager up` carry it out."""
    settings = get_forager(request).settings
    try:
        seeds = tuple(dict.fromkeys(map(to_url, body.urls)))
    except BadUrlError as error:
        raise UsageError(str(error)) from None
    for note in filter(None, map(credentials_note, body.urls)):
        raise UsageError(note, field="urls")
    for seed in seeds:
        validate_seed(seed, settings)
    spec = RunSpec(
        seeds=seeds,
        scope=body.scope or Scope.HOST,
        is_scope_given=body.scope is not None,
        settings=_settings_of(body),
        include=tuple(body.include),
        exclude=tuple(body.exclude),
        max_depth=settings.crawl.max_depth if body.max_depth is None else body.max_depth,
        max_pages=body.max_pages,
        max_pages_per_domain=body.max_pages_per_domain,
        delay_s=body.delay_s,
    )
    async with look(request) as conn:
        visited, waiting = await control.preview_seeds(conn, seeds)
    ordered = {"run": None, "seeds": seeds, "visited": visited, "waiting": waiting, "dry_run": body.dry_run}
    if body.dry_run:
        return reply(ordered, 201)
    async with change(request, who, 60.0) as deed:
        run = await control.order_run(deed.conn, spec, by=deed.by, is_scored=settings.crawl.domain_order == "smart")
        await deed.note("run.start", "run", run, seeds=seeds[:10], scope=spec.scope.value)
    return reply(ordered | {"run": run}, 201)


@router.post("/api/admin/runs/{run:int}/stop", response_model=models.Stopping, responses=responses(404, 409))
async def stop_run(request: Request, who: Admin, run: PathId) -> Response:
    """Its workers finish what is open, and it is over."""
    async with change(request, who) as deed:
        await control.stop_run(deed.conn, run)
        await deed.note("run.stop", "run", run)
    return reply({"run": run, "message": "It ends as soon as what is open is finished."})
