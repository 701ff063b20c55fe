"""The instance itself: health, settings, the OpenAPI document."""

import asyncio
import shutil
from typing import Any

from fastapi import APIRouter, Request, Response

from forager import __version__
from forager.api import errors as problems
from forager.api import system_schemas as models
from forager.api.access import Anyone, User
from forager.api.database import get_forager, look
from forager.api.errors import TooManyError, responses
from forager.api.paging import Listed
from forager.api.reply import listed, reply
from forager.config.settings import FIELDS, SECRETS, Settings, write_value
from forager.engine.models import describe_pause
from forager.engine.transaction_retry import AGAIN, AWAY
from forager.errors import SearchServerError
from forager.masking import mask_value
from forager.runtime.schedule import all_jobs, enabled_jobs
from forager.scheduler.job import Loop
from forager.scheduler.store import list_overdue
from forager.scheduler.text import things
from forager.search.service import ExternalSearch
from forager.search.sync import read_sync_status
from forager.stats.idle_detection import Stall, detect_idle_crawl
from forager.workers import queries as worker_queries

router = APIRouter(tags=["system"])
UNAVAILABLE: tuple[type[BaseException], ...] = (TooManyError, *AWAY, *AGAIN)
LATE_S = 300.0
"""No job is this late while a scheduler runs, unless another job of its loop takes long."""
LONGEST_S = {Loop.SLOW: 3600.0, Loop.MODEL: 3600.0, Loop.NIGHTLY: 86_400.0}
"""Loops whose jobs may take long, and how late a job of theirs may be while one runs."""
QUEUE_LATE_S = 30.0
LITTLE_ROOM = 0.05
MASK = "***"
HEALTH_S = 2.5
"""A little more than the limit for acquiring a connection."""
SEARCH_WITHIN_S = 1.0
"""A search server that takes longer to respond counts as unavailable: a health check does not wait for it."""
DOWN: dict[int | str, dict[str, Any]] = {
    **{status: responses()[status] for status in (422, 429)},
    503: {
        "model": models.Health,
        "description": "Something essential is down",
        "content": {problems.MEDIA_TYPE: {"schema": problems.SCHEMA}},
    },
}
"""While the database is unavailable, a caller with a token cannot be authenticated, and gets a problem instead of the
parts."""


# Health --------------------------------------------------------------------------------------------------------------


@router.get("/health", response_model=models.Health, responses=DOWN)
async def health(request: Request, who: Anyone) -> Response:
    """Whether it works, part by part."""
    forager = get_forager(request)
    parts: dict[str, dict[str, str]] = {}
    try:
        numbers, jobs, stall, trouble = await _query_with_timeout(request)
        detail = forager.database.description if who.user_id is not None else "answers"
        parts["database"] = {"state": "ok", "detail": detail}
        if trouble is not None:
            parts["database"] = {"state": "degraded", "detail": f"takes no writes: {trouble}"}
        parts |= {"scheduler": _scheduler(jobs), "workers": _workers(numbers), "progress": _progress(stall)}
        if forager.settings.dispatch.mode == "celery":
            parts["queue"] = _queue(numbers)
    except TooManyError:
        parts["database"] = {"state": "degraded", "detail": "all connections are in use"}
    except (*AWAY, *AGAIN):
        request.app.state.call_back()
        parts["database"] = {"state": "down", "detail": "does not answer"}
    if (elsewhere := request.app.state.searching) is not None:
        parts["search"] = await _search(request, elsewhere)
    if (is_redis_up := await request.app.state.services.is_redis_up()) is not None:
        parts["redis"] = _redis(is_redis_up)
    parts["disk"] = await asyncio.to_thread(_disk, forager.settings)
    states = {part["state"] for part in parts.values()}
    status = "down" if "down" in states else "degraded" if "degraded" in states else "ok"
    return reply({"status": status, "version": __version__, "parts": parts}, 503 if status == "down" else 200)


Facts = tuple[dict[str, Any], list[dict[str, Any]], Stall | None, str | None]


async def _query_with_timeout(request: Request) -> Facts:
    """Returns the state from the database within `HEALTH_S`: a frozen server would block the caller for a whole
    statement timeout. Concurrent callers share one query."""
    state = request.app.state
    asking: asyncio.Task[Facts] | None = getattr(state, "health_asking", None)
    if asking is None or asking.done():
        asking = state.health_asking = asyncio.create_task(_load_health(request))
        asking.add_done_callback(lambda task: None if task.cancelled() else task.exception())
    done, _ = await asyncio.wait({asking}, timeout=HEALTH_S)
    if not done:
        raise TimeoutError
    return asking.result()


async def _load_health(request: Request) -> Facts:
    settings = get_forager(request).settings
    async with look(request) as conn:
        numbers = await worker_queries.count_parts(conn, dead_after_s=settings.worker.dead_after)
        jobs = await list_overdue(conn, [job.name for job in enabled_jobs(settings)])
        stall = await detect_idle_crawl(
            conn, dead_after_s=settings.worker.dead_after, stall_s=settings.alerts.max_idle_time
        )
        trouble = await request.app.state.write_probe.find_write_error(conn)
    return numbers, jobs, stall, trouble


def _scheduler(jobs: list[dict[str, Any]]) -> dict[str, str]:
    """Judges by how late each job is: a backup of an hour is no problem, but a loop that hangs is one, whatever the
    other loops do."""
    loops = {job.name: job.loop for job in all_jobs()}
    busy = {loops[job["name"]] for job in jobs if job["is_running"]}
    for job in jobs:
        loop = loops[job["name"]]
        if job["late_s"] > (LONGEST_S.get(loop, LATE_S) if loop in busy else LATE_S):
            return {"state": "degraded", "detail": f"{job['name']} has been due for {job['late_s']:.0f} s"}
    if not any(job["was_done"] or job["is_running"] for job in jobs):
        return {"state": "idle", "detail": "no scheduler has run yet"}
    failed = sum(job["has_failed"] for job in jobs)
    if failed:
        return {"state": "degraded", "detail": f"{things(failed, 'job')} failed"}
    return {"state": "ok", "detail": "runs on time"}


def _workers(numbers: dict[str, Any]) -> dict[str, str]:
    alive, silent = numbers["workers"], numbers["silent_workers"]
    if silent:
        return {"state": "degraded", "detail": f"{alive} alive, {silent} silent"}
    if paused := numbers["paused_workers"]:
        says = describe_pause(numbers["pause_reason"], numbers["pause_detail"])
        return {"state": "degraded", "detail": f"{alive} alive, {paused} paused: {says}"}
    return {"state": "ok" if alive else "idle", "detail": f"{alive} alive"}


def _progress(stall: Stall | None) -> dict[str, str]:
    """Never down: crawled data is available, and restarting the API does not bring back missing workers."""
    if stall is None:
        return {"state": "ok", "detail": "no work waits without a reason"}
    return {"state": "degraded", "detail": stall.message}


def _redis(answers: bool) -> dict[str, str]:
    """Never down: no data depends on Redis."""
    if answers:
        return {"state": "ok", "detail": "answers"}
    return {"state": "degraded", "detail": "Redis does not answer, PostgreSQL answers alone"}


async def _search(request: Request, elsewhere: ExternalSearch) -> dict[str, str]:
    """Never down: without the search server, PostgreSQL serves searches."""
    try:
        async with asyncio.timeout(SEARCH_WITHIN_S):
            await elsewhere.server.ask("GET", "/")
        async with look(request) as conn:
            standing = await read_sync_status(conn)
    except (SearchServerError, TimeoutError):
        return {"state": "degraded", "detail": "the search server does not answer, PostgreSQL does"}
    except UNAVAILABLE:
        return {"state": "degraded", "detail": "the database does not answer"}
    if not standing.has_live:
        return {"state": "degraded", "detail": "the search server has no index yet, PostgreSQL answers"}
    if standing.refused:
        return {"state": "degraded", "detail": f"the search server refused {standing.refused} documents"}
    return {"state": "ok", "detail": f"the search server answers, {standing.waiting} changes wait"}


def _queue(numbers: dict[str, Any]) -> dict[str, str]:
    """Returns the state of the broker as the sender of dispatch messages observed it."""
    age_s = numbers["queue_age_s"]
    if age_s is None or age_s > QUEUE_LATE_S:
        return {"state": "degraded", "detail": "no word from the broker: workers ask the database themselves"}
    if numbers["dead_letters"]:
        return {"state": "degraded", "detail": f"{numbers['dead_letters']} dead letters: forager queue dead"}
    return {"state": "ok", "detail": f"{numbers['queue_messages']} messages wait"}


def _disk(settings: Settings) -> dict[str, str]:
    try:
        usage = shutil.disk_usage(settings.home if settings.home.exists() else settings.home.parent)
    except OSError as error:
        return {"state": "degraded", "detail": (error.strerror or "cannot be looked at").lower()}
    free = usage.free / usage.total
    return {"state": "degraded" if free < LITTLE_ROOM else "ok", "detail": f"{free:.0%} free"}


# API document and settings -------------------------------------------------------------------------------------------


@router.get("/api/openapi.json", response_model=dict[str, Any], responses=responses())
async def openapi(request: Request, _who: User) -> Response:
    """This document."""
    return reply(await asyncio.to_thread(request.app.openapi))


@router.get("/api/settings", response_model=Listed[models.Setting], responses=responses())
async def show_settings(request: Request, _who: User) -> Response:
    """Every setting and its value; secrets are only told to be there."""
    settings = get_forager(request).settings
    return listed(
        [
            {"name": path, "value": _mask_value(path, settings), "description": field.description}
            for path, field in FIELDS.items()
        ]
    )


def _mask_value(path: str, settings: Settings) -> Any:
    value = settings.get(path)
    if path in SECRETS:
        return MASK if value else None
    return mask_value(write_value(path, value))
