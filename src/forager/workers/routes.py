"""Worker processes: list them, drain one, list leases by worker."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from forager.api import paging
from forager.api.access import Admin, User
from forager.api.database import change, get_forager, look, snapshot
from forager.api.errors import responses
from forager.api.paging import Paged
from forager.api.reply import reply
from forager.api.types import After, Limit, PathId
from forager.tasks import schemas as task_models
from forager.workers import queries as worker_queries
from forager.workers import service as workers

router = APIRouter(tags=["system"])


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
        rows = await worker_queries.list_workers(
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
        (sent,) = await workers.drain_workers(deed.conn, worker=worker)
        await deed.note("worker.drain", "worker", worker, host=sent.host)
    return reply({**asdict(sent), "message": "It ends as soon as what is open is finished."})


@router.get("/api/workers/claims", response_model=task_models.Claims, responses=responses())
async def list_claims(request: Request, _who: User) -> Response:
    """Who works on how many domains, which leases outlived their holder, who waits to be claimed."""
    async with snapshot(request) as conn:
        return reply(
            await worker_queries.list_claims(conn, dead_after_s=get_forager(request).settings.worker.dead_after)
        )
