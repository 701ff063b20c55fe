"""Queues of the broker, where there is one: what they hold, messages nobody could use, once more, emptying."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from forager.api.access import Admin, User, Who
from forager.api.models import queues as models
from forager.api.paging import Listed
from forager.api.problems import responses
from forager.api.reply import listed, reply
from forager.api.words import DryRun, Limit
from forager.api.work import change, look
from forager.control import queue as control
from forager.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from forager.queue.broker import Broker

router = APIRouter(tags=["queues"])
LONGEST_S = 30.0


@router.get("/api/queues", response_model=models.Queues, responses=responses())
async def show_queues(request: Request, _who: User) -> Response:
    """The mode, whether the broker answers, what each queue holds and how many listen."""
    return reply(asdict(await _standing(request)))


@router.get("/api/queues/dead", response_model=Listed[models.DeadMessage], responses=responses(404))
async def list_dead_messages(request: Request, _who: User, limit: Limit = 100) -> Response:
    """Messages that no worker could use, with the reason. They stay where they are."""
    return listed([asdict(letter) for letter in await _broker(request).dead_letters(limit)])


@router.post("/api/admin/queues/dead/redrive", response_model=models.RedrivenMessages, responses=responses(404))
async def redrive_dead_messages(request: Request, who: Admin, body: models.RedriveMessages) -> Response:
    """Put dead letters back into the queues they were refused in."""
    broker = _broker(request)
    if (body.ids is None) is not body.all:
        raise UsageError("Say which: ids, or all.")
    if body.dry_run:
        return reply({"redriven": await _count_dead(broker, body.ids), "dry_run": True})
    async with change(request, who, LONGEST_S) as deed:
        moved = await control.redrive(broker, body.ids)
        await deed.note("queue.redrive", "queue", letters=len(moved))
    return reply({"redriven": len(moved), "dry_run": False})


async def _count_dead(broker: "Broker", ids: Sequence[str] | None) -> int:
    """Refuses ids that there are not, as the deed does."""
    if ids is None:
        return (await broker.look([]))[broker.names.dead].messages
    known = {letter.id for letter in await broker.dead_letters(control.MOST_DEAD)}
    if missing := [each for each in ids if each not in known]:
        raise NotFoundError(f"There is no dead letter {missing[0]}; `forager queue dead` lists them.")
    return len(set(ids))


@router.delete("/api/admin/queues/dead", response_model=models.EmptiedQueues, responses=responses(404))
async def purge_dead_messages(request: Request, who: Admin, dry_run: DryRun = False) -> Response:
    """Throw the dead letters away."""
    return await _purge(request, who, only_dead=True, dry_run=dry_run)


@router.delete("/api/admin/queues", response_model=models.EmptiedQueues, responses=responses(404))
async def purge_queues(request: Request, who: Admin, dry_run: DryRun = False) -> Response:
    """Empty the queues of hints. What is to be done stays in the database, and is offered anew."""
    return await _purge(request, who, only_dead=False, dry_run=dry_run)


async def _purge(request: Request, who: Who, *, only_dead: bool, dry_run: bool) -> Response:
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


async def _standing(request: Request) -> control.Standing:
    """Who asks while the broker is being asked gets the same answer: one that fell silent takes seconds for each. The
    connection to the database is given back before."""
    state = request.app.state
    if state.broker is None:
        return await control.describe(None, ())
    async with look(request) as conn:
        names = await control.queue_names(conn, state.broker)
    if state.queues_asked is None or state.queues_asked.done():
        state.queues_asked = asyncio.create_task(control.describe(state.broker, names))
    standing: control.Standing = await asyncio.shield(state.queues_asked)
    return standing
