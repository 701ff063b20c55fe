"""The instance itself: health, timetable, workers, settings, promises, politeness, who changed what."""

import asyncio
import shutil
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from forager import __version__
from forager.accounts import audit
from forager.api import paging, problems
from forager.api.access import Admin, Anyone, User
from forager.api.models import system as models
from forager.api.models import tasks as task_models
from forager.api.paging import Listed, Paged
from forager.api.problems import TooManyError, responses
from forager.api.reply import listed, reply
from forager.api.types import After, Limit, Moment, Name, PathId, Text
from forager.api.work import alone, change, get_forager, look, snapshot
from forager.app.schedule import DUTIES, Loop, find_jobs, is_kept, loop_of
from forager.config.settings import FIELDS, SECRETS, Settings, write_value
from forager.control import checks, listing, workers
from forager.control import look as looking
from forager.control.audit import audit_politeness
from forager.control.search import ExternalSearch
from forager.engine.transaction_retry import AGAIN, AWAY
from forager.errors import ConflictError, NotFoundError, SearchServerError, UsageError
from forager.masking import mask_value
from forager.records import describe_pause
from forager.scheduler.run_now import hasten
from forager.scheduler.scheduler import read_duties
from forager.search.tend import read_sync_status
from forager.stats.stall import Stall, detect_stall

router = APIRouter(tags=["system"])
LATE_S = 300.0
"""Who keeps the timetable is never so late with a duty, unless others of its loop take their time."""
LONGEST_S = {Loop.SLOW: 3600.0, Loop.NIGHTLY: 86_400.0}
"""Those that may take long, and for how long that is no reason to worry."""
QUEUE_LATE_S = 30.0
LITTLE_ROOM = 0.05
MASK = "***"
CHECK_WITHIN_S = 60.0
HEALTH_S = 2.5
"""A little more than whoever waits for a connection has."""
NO_CHECK: dict[str, Any] = {
    "state": "none",
    **dict.fromkeys(
        ("id", "started_at", "started_by", "has_files", "is_deep", "heard_at", "ended_at", "error", "result")
    ),
    **dict.fromkeys(("done", "total"), 0),
}
SEARCH_WITHIN_S = 1.0
"""A search server that takes longer to say that it is there counts as away: who asks after our health does not wait."""
DOWN: dict[int | str, dict[str, Any]] = {
    **{status: responses()[status] for status in (422, 429)},
    503: {
        "model": models.Health,
        "description": "Something essential is down",
        "content": {problems.MEDIA_TYPE: {"schema": problems.SCHEMA}},
    },
}
"""Who shows a token while the database is away cannot be recognised, and gets a problem instead of the parts."""


# Health --------------------------------------------------------------------------------------------------------------


@router.get("/health", response_model=models.Health, responses=DOWN)
async def health(request: Request, who: Anyone) -> Response:
    """Whether it works, part by part."""
    forager = get_forager(request)
    parts: dict[str, dict[str, str]] = {}
    try:
        numbers, duties, stall, trouble = await _query_with_timeout(request)
        detail = forager.database.description if who.user_id is not None else "answers"
        parts["database"] = {"state": "ok", "detail": detail}
        if trouble is not None:
            parts["database"] = {"state": "degraded", "detail": f"takes no writes: {trouble}"}
        parts |= {"scheduler": _scheduler(duties), "workers": _workers(numbers), "progress": _progress(stall)}
        if forager.settings.dispatch.mode == "celery":
            parts["queue"] = _queue(numbers)
    except TooManyError:
        parts["database"] = {"state": "degraded", "detail": "all connections are in use"}
    except (TimeoutError, *AWAY, *AGAIN):
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
    """What the database says, within `HEALTH_S`: a server that is frozen would keep whoever asks for as long as a
    statement may take. All who ask meanwhile wait for the same answer."""
    state = request.app.state
    asking: asyncio.Task[Facts] | None = getattr(state, "health_asking", None)
    if asking is None or asking.done():
        asking = state.health_asking = asyncio.create_task(_ask(request))
        asking.add_done_callback(lambda task: None if task.cancelled() else task.exception())
    done, _ = await asyncio.wait({asking}, timeout=HEALTH_S)
    if not done:
        raise TimeoutError
    return asking.result()


async def _ask(request: Request) -> Facts:
    settings = get_forager(request).settings
    async with look(request) as conn:
        numbers = await listing.parts(conn, dead_after_s=settings.worker.dead_after)
        duties = await listing.duties_now(conn, [name for name in DUTIES if is_kept(name, settings)])
        stall = await detect_stall(conn, dead_after_s=settings.worker.dead_after, stall_s=settings.alerts.max_idle_time)
        trouble = await request.app.state.write_probe.find_write_error(conn)
    return numbers, duties, stall, trouble


def _scheduler(duties: list[dict[str, Any]]) -> dict[str, str]:
    """By how late each duty is: a backup of an hour is no alarm, and a loop that hangs is one, whatever others do."""
    busy = {loop_of(duty["name"]) for duty in duties if duty["is_under_way"]}
    for duty in duties:
        loop = loop_of(duty["name"])
        if duty["late_s"] > (LONGEST_S.get(loop, LATE_S) if loop in busy else LATE_S):
            return {"state": "degraded", "detail": f"{duty['name']} has been due for {duty['late_s']:.0f} s"}
    if not any(duty["was_done"] or duty["is_under_way"] for duty in duties):
        return {"state": "idle", "detail": "nobody has kept the timetable yet"}
    failed = sum(duty["has_failed"] for duty in duties)
    return {"state": "degraded" if failed else "ok", "detail": f"{failed} duties failed" if failed else "keeps time"}


def _workers(numbers: dict[str, Any]) -> dict[str, str]:
    alive, silent = numbers["workers"], numbers["silent_workers"]
    if silent:
        return {"state": "degraded", "detail": f"{alive} alive, {silent} silent"}
    if paused := numbers["paused_workers"]:
        says = describe_pause(numbers["pause_reason"], numbers["pause_detail"])
        return {"state": "degraded", "detail": f"{alive} alive, {paused} paused: {says}"}
    return {"state": "ok" if alive else "idle", "detail": f"{alive} alive"}


def _progress(stall: Stall | None) -> dict[str, str]:
    """Never down: what was read is there, and who restarts the API because workers are missing helps nobody."""
    if stall is None:
        return {"state": "ok", "detail": "no work waits without a reason"}
    return {"state": "degraded", "detail": stall.message}


def _redis(answers: bool) -> dict[str, str]:
    """Never down: losing it loses nothing."""
    if answers:
        return {"state": "ok", "detail": "answers"}
    return {"state": "degraded", "detail": "Redis does not answer, PostgreSQL answers alone"}


async def _search(request: Request, elsewhere: ExternalSearch) -> dict[str, str]:
    """Never down: without the search server PostgreSQL answers."""
    try:
        async with asyncio.timeout(SEARCH_WITHIN_S):
            await elsewhere.server.ask("GET", "/")
        async with look(request) as conn:
            standing = await read_sync_status(conn)
    except (SearchServerError, TimeoutError):
        return {"state": "degraded", "detail": "the search server does not answer, PostgreSQL does"}
    except (TooManyError, *AWAY, *AGAIN):
        return {"state": "degraded", "detail": "the database does not answer"}
    if not standing.has_live:
        return {"state": "degraded", "detail": "the search server has no index yet, PostgreSQL answers"}
    if standing.refused:
        return {"state": "degraded", "detail": f"the search server refused {standing.refused} documents"}
    return {"state": "ok", "detail": f"the search server answers, {standing.waiting} changes wait"}


def _queue(numbers: dict[str, Any]) -> dict[str, str]:
    """As whoever sends hints found it."""
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


# Looking -------------------------------------------------------------------------------------------------------------


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
            {"name": path, "value": _shown(path, settings), "description": field.description}
            for path, field in FIELDS.items()
        ]
    )


def _shown(path: str, settings: Settings) -> Any:
    value = settings.get(path)
    if path in SECRETS:
        return MASK if value else None
    return mask_value(write_value(path, value))


@router.get("/api/workers", response_model=Paged[task_models.WorkerRow], responses=responses(404))
async def list_workers(
    request: Request,
    _who: User,
    status: Annotated[str | None, Query(pattern="^(running|stopped|dead)$")] = None,
    limit: Limit = 100,
    after: After = None,
) -> Response:
    """Worker processes, newest first."""
    async with look(request) as conn:
        rows = await listing.workers(
            conn,
            paging.read(request, after, paging.BY_ID),
            dead_after_s=get_forager(request).settings.worker.dead_after,
            status=status,
            limit=limit + 1,
        )
    return paging.page(request, rows, limit)


@router.post("/api/workers/{worker:int}/drain", response_model=task_models.WorkerDrained, responses=responses(404, 409))
async def drain_worker(request: Request, who: Admin, worker: PathId) -> Response:
    """It takes nothing new, finishes what is open, hands its leases back and ends."""
    async with change(request, who) as deed:
        (sent,) = await workers.send_away(deed.conn, worker=worker)
        await deed.note("worker.drain", "worker", worker, host=sent.host)
    return reply({**asdict(sent), "message": "It ends as soon as what is open is finished."})


@router.get("/api/workers/claims", response_model=task_models.Claims, responses=responses())
async def list_claims(request: Request, _who: User) -> Response:
    """Who works on how many domains, which leases outlived their holder, who waits to be claimed."""
    async with snapshot(request) as conn:
        return reply(await looking.list_claims(conn, dead_after_s=get_forager(request).settings.worker.dead_after))


@router.get("/api/schedule", response_model=Listed[models.Duty], responses=responses())
async def show_schedule(request: Request, _who: User) -> Response:
    """Every duty, when it was done, with which result, and when it is next."""
    async with look(request) as conn:
        found = {row["name"]: row for row in await read_duties(conn)}
    unknown = dict.fromkeys(("started_at", "ended_at", "took_s", "result", "error", "next_at")) | {"times": 0}
    names = sorted({*DUTIES, *found})
    return listed([found.get(name) or {"name": name, "every_s": DUTIES[name].EVERY_S, **unknown} for name in names])


@router.post("/api/check", status_code=202, response_model=models.CheckJob, responses=responses(409))
async def start_check(
    request: Request,
    who: Admin,
    *,
    files: Annotated[bool, Query(description="Look for stored files too.")] = False,
    deep: Annotated[bool, Query(description="Read bodies, history and schema from end to end, too.")] = False,
) -> Response:
    """Start a check whether the promises are kept, in one snapshot; one is under way at a time. `GET /api/check` shows
    how far it is and what came of it."""
    async with change(request, who) as deed:
        job = await checks.begin(deed.conn, by=deed.by, has_files=files or deep, is_deep=deep)
        await deed.note("check.start", "check", job["id"], files=files or deep, deep=deep)
    request.app.state.checking.start(job["id"], has_files=files or deep, is_deep=deep)
    return reply(job, 202)


@router.get("/api/check", response_model=models.CheckJob, responses=responses())
async def show_check(request: Request, _who: User) -> Response:
    """The last check: whether it is under way, how far it is, and which promises are kept."""
    async with look(request) as conn:
        return reply(await checks.newest(conn) or NO_CHECK)


@router.get("/api/audit/politeness", response_model=models.Politeness, responses=responses(404))
async def prove_politeness(
    request: Request,
    _who: User,
    domain: Annotated[Name | None, Query()] = None,
    since: Annotated[Moment | None, Query()] = None,
) -> Response:
    """Was every request polite? Proved from the history; one such question at a time."""
    agent = get_forager(request).settings.politeness.robots_agent
    async with alone(request), snapshot(request, CHECK_WITHIN_S) as conn:
        found = await audit_politeness(conn, agent=agent, domain=domain, since=since)
    return reply(
        {
            "is_clean": found.is_clean,
            "domains": found.pace.domains,
            "requests": found.pace.requests,
            "unpaced": found.pace.unpaced,
            "unproved": found.pace.unproved,
            "too_early": found.pace.too_early,
            "early_examples": found.pace.examples,
            "robots_visits": found.robots.visits,
            "robots_forbidden": found.robots.forbidden,
            "forbidden_examples": found.robots.examples,
        }
    )


@router.get("/api/admin/audit", response_model=Paged[models.AuditEntry], responses=responses(404))
async def list_audit(
    request: Request,
    _who: Admin,
    *,
    who: Annotated[Name | None, Query(description="Such as api:alice.")] = None,
    action: Annotated[Name | None, Query(description="Such as domain.pause, or domain.")] = None,
    kind: Annotated[Name | None, Query()] = None,
    object_id: Annotated[Text | None, Query(max_length=2000)] = None,
    since: Annotated[Moment | None, Query()] = None,
    until: Annotated[Moment | None, Query()] = None,
    limit: Limit = 100,
    after: After = None,
) -> Response:
    """Who changed what, newest first."""
    (before,) = paging.read(request, after, paging.BY_ID)
    async with look(request) as conn:
        rows = await audit.read(
            conn,
            before=before,
            limit=limit + 1,
            who=who,
            action=action,
            kind=kind,
            object_id=object_id,
            since=since,
            until=until,
        )
    return paging.page(request, rows, limit)


# Changing ------------------------------------------------------------------------------------------------------------


@router.post(
    "/api/admin/schedule/{duty}/run", status_code=202, response_model=models.JobTriggered, responses=responses(404, 409)
)
async def run_duty(
    request: Request, who: Admin, duty: Annotated[str, Path(pattern="^[a-z_]{1,40}$", examples=["score"])]
) -> Response:
    """A duty is due at once; whoever keeps the timetable does it."""
    try:
        (found,) = find_jobs([duty])
    except UsageError as error:
        raise NotFoundError(str(error)) from None
    async with change(request, who) as deed:
        if not await hasten(deed.conn, duty, found.EVERY_S):
            raise ConflictError(f"{duty} is being done right now.", "job_running")
        await deed.note("schedule.run", "duty", duty)
    return reply({"duty": duty, "message": "It is due now."}, 202)
