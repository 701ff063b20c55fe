"""Queues of the broker, if one is configured: depths, dead letters, redrive, purge."""

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from forager.api import paging
from forager.api.access import Admin, Identity, User
from forager.api.database import change, look
from forager.api.errors import responses
from forager.api.paging import Paged
from forager.api.reply import reply
from forager.api.types import After, DryRun, Limit
from forager.dispatch import schemas as models
from forager.dispatch import service as control
from forager.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from forager.dispatch.broker import Broker

router = APIRouter(tags=["queues"])
LONGEST_S = 30.0
BY_PLACE = paging.Order(("place",), ("int",), hidden=("place",))


@router.get("/api/queues", response_model=models.Queues, responses=responses())
async def show_queues(request: Request, _who: User) -> Response:
    """The mode, whether the broker answers, what each queue holds and how many listen."""
    return reply(asdict(await _get_queue_status(request)))


@router.get("/api/queues/dead", response_model=Paged[models.DeadMessage], responses=responses(404))
async def list_dead_messages(request: Request, _who: User, limit: Limit = 100, after: After = None) -> Response:
    """Messages that no worker could use, with the reason. They stay where they are."""
    (place,) = paging.read(request, after, BY_PLACE)
    rows = await control.list_dead(_broker(request), after=place, limit=limit + 1)
    return paging.page(request, rows, limit, BY_PLACE)


@router.post("/api/admin/queues/dead/redrive", response_model=models.RedrivenMessages, responses=responses(404))
async def redrive_dead_messages(request: Request, who: Admin, body: models.RedriveMessages) -> Response:
    """Put dead letters back into the queues they were refused in."""
    broker = _broker(request)
    if (body.ids is None) is not body.all:
        raise UsageError("Say which: ids, or all.", field="ids")
    async with change(request, who, LONGEST_S) as deed:
        done = await control.redrive(broker, body.ids, dry_run=body.dry_run)
        if not done.is_dry:
            await deed.note("queue.redrive", "queue", letters=done.count)
    return reply({"redriven": done.count, "dry_run": done.is_dry})


@router.delete("/api/admin/queues/dead", response_model=models.EmptiedQueues, responses=responses(404))
async def purge_dead_messages(request: Request, who: Admin, dry_run: DryRun = False) -> Response:
    """Throw the dead letters away."""
    return await _purge(request, who, only_dead=True, dry_run=dry_run)


@router.delete("/api/admin/queues", response_model=models.EmptiedQueues, responses=responses(404))
async def purge_queues(request: Request, who: Admin, dry_run: DryRun = False) -> Response:
    """Empty the queues of hints. What is to be done stays in the database, and is offered anew."""
    return await _purge(request, who, only_dead=False, dry_run=dry_run)


async def _purge(request: Request, who: Identity, *, only_dead: bool, dry_run: bool) -> Response:
    broker = _broker(request)
    async with change(request, who, LONGEST_S) as deed:
        emptied = await control.purge(deed.conn, broker, only_dead=only_dead, is_trial=dry_run)
        if not dry_run:
            await deed.note("queue.purge", "queue", messages=sum(emptied.values()))
    return reply({"purged": emptied, "dry_run": dry_run})


def _broker(request: Request) -> "Broker":
    found: Broker | None = request.app.state.broker
    if found is None:
        raise NotFoundError(control.NO_QUEUES)
    return found


async def _get_queue_status(request: Request) -> control.QueueStatus:
    """Who asks while the broker is being asked gets the same answer: one that fell silent takes seconds for each. The
    connection to the database is given back before."""
    state = request.app.state
    if state.broker is None:
        return await control.describe(None, ())
    async with look(request) as conn:
        names = await control.queue_names(conn, state.broker)
    if state.queues_asked is None or state.queues_asked.done():
        state.queues_asked = asyncio.create_task(control.describe(state.broker, names))
    standing: control.QueueStatus = await asyncio.shield(state.queues_asked)
    return standing
