"""Metrics: now, over time, live, and for Prometheus."""

import asyncio
from datetime import timedelta
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Header, Query, Request, Response
from starlette.responses import StreamingResponse

from forager import clock
from forager.api.access import Anyone, Role, User, is_database_unavailable, reject_cross_site
from forager.api.database import get_forager, look
from forager.api.errors import responses
from forager.api.paging import Listed
from forager.api.reply import Stream, listed
from forager.api.types import Moment
from forager.stats import overview as numbers
from forager.stats import schemas as models
from forager.stats.routes import prometheus as metrics
from forager.stats.routes.live import EventStream
from forager.tasks import service as tasks

router = APIRouter(tags=["stats"])
TEXT: dict[int | str, dict[str, Any]] = {200: {"description": "The numbers", "content": {"text/plain": {}}}}
EVENTS: dict[int | str, dict[str, Any]] = {200: {"description": "The events", "content": {"text/event-stream": {}}}}


def get_event_stream(request: Request) -> EventStream:
    found: EventStream = request.app.state.live
    return found


@router.get("/api/stats", response_model=models.Stats | models.PublicStats, responses=responses())
async def stats(request: Request, who: Anyone) -> Response:
    """Everything at a glance; to whoever is not signed in, a little of it."""
    written = await get_event_stream(request).written(is_public=who.role is Role.ANONYMOUS)
    return Response(written, media_type="application/json")


@router.get("/api/stats/timeseries", response_model=numbers.Series, responses=responses(404))
async def timeseries(
    request: Request,
    _who: User,
    *,
    metric: Annotated[str, Query(pattern="^[a-z_]{1,40}$", examples=["pages_per_second"])],
    since: Annotated[
        Moment | None, Query(description="By default an hour ago; without a step 1,500 days ago at most.")
    ] = None,
    until: Annotated[Moment | None, Query(description="By default now.")] = None,
    step_s: Annotated[int | None, Query(ge=60, le=86_400, description="Seconds; a whole part of a day.")] = None,
) -> Response:
    """One number over time, for charts."""
    async with look(request) as conn:
        begin = since or clock.now() - timedelta(hours=1)
        found = await numbers.series(conn, metric, since=begin, until=until, step_s=step_s)
    if len(found.points) > numbers.LARGE_POINTS:
        return Response(await asyncio.to_thread(orjson.dumps, found), media_type="application/json")
    return Response(orjson.dumps(found), media_type="application/json")


@router.get("/api/stats/metrics", response_model=Listed[numbers.Metric], responses=responses())
async def list_metrics(_who: User) -> Response:
    """What can be asked for over time."""
    return listed(list(numbers.METRICS.values()))


@router.get("/api/stats/tasks", response_model=Listed[models.TaskNumbers], responses=responses())
async def task_stats(
    request: Request, _who: User, since: Annotated[Moment | None, Query(description="By default a day ago.")] = None
) -> Response:
    """Tasks that are open, or were closed since, by state: how many, how long they took and how long they waited."""
    async with look(request) as conn:
        return listed(await tasks.count(conn, since=since or clock.now() - timedelta(days=1)))


@router.get("/api/live", response_class=StreamingResponse, responses={**EVENTS, **responses()})
async def live(
    request: Request, who: User, last_event_id: Annotated[str | None, Header(max_length=100)] = None
) -> Stream:
    """The numbers of /api/stats every second, as server-sent events (`numbers`, `away`, `end`)."""
    reject_cross_site(request, who)
    broadcast = get_event_stream(request)
    listener = broadcast.join(who.user_id)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    events = broadcast.listen(request, last_event_id, listener)

    async def end() -> None:
        await events.aclose()
        broadcast.leave(listener)

    return Stream(events, "text/event-stream", headers, end)


@router.get("/metrics", response_class=Response, responses={**TEXT, **responses()})
async def prometheus(request: Request, _who: User) -> Response:
    """The numbers as Prometheus reads them; it needs a token of scope read. Without the database: that it is away."""
    if is_database_unavailable(request):
        return Response(metrics.render(None), 200, media_type=metrics.CONTENT_TYPE)
    if request.app.state.exposition is None:
        forager = get_forager(request)
        request.app.state.exposition = metrics.MetricsExporter(
            forager.pool,
            dead_after_s=forager.settings.worker.dead_after,
            stall_s=forager.settings.alerts.max_idle_time,
            services=request.app.state.services,
        )
    exposition: metrics.MetricsExporter = request.app.state.exposition
    return Response(await exposition.render(), 200, media_type=metrics.CONTENT_TYPE)
