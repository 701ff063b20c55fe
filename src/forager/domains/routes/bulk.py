"""Applies one action to many domains: each is a separate action with its own audit entry and its own result.

An unknown name, a domain whose status does not allow the action, or one whose row another transaction keeps locked does
not stop the others.
"""

import asyncio
import contextlib
from typing import Annotated

import asyncpg
from fastapi import APIRouter, Request, Response
from pydantic import Field

from forager.api.access import Admin
from forager.api.command_hints import add_http_requests
from forager.api.database import Change, change, get_forager
from forager.api.errors import responses
from forager.api.reply import reply
from forager.api.types import Body, Flag, Name, Reason
from forager.config.settings import Settings
from forager.db.pool import CONNECTION_LOST
from forager.domains import schemas as models
from forager.domains.many import Verb, apply_verb
from forager.domains.routes.domains import RESET_WITHIN_S
from forager.domains.schemas import DomainTold
from forager.errors import ForagerError

router = APIRouter(tags=["domains"])
MOST_AT_ONCE = 200
"""Domains per request: a reset changes all pages of a domain, and the client waits for the response."""
LONGEST_S = 60.0
"""After this time no further domain is started; the response lists the rest, which can be requested again."""
BUSY = (
    asyncpg.QueryCanceledError,
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.LockNotAvailableError,
)


class BulkOrder(Body):
    verb: Verb = Field(examples=["pause"])
    names: Annotated[list[Name], Field(min_length=1, max_length=MOST_AT_ONCE)] = Field(examples=[["shop.example"]])
    reason: Reason | None = Field(default=None, examples=["the owner asked for it"])
    dry_run: Flag = Field(default=False, description="Change nothing: say of each what would happen.")


@router.post("/api/admin/domains/bulk", response_model=models.ManyDomains, responses=responses())
async def order_for_many(request: Request, who: Admin, body: BulkOrder) -> Response:
    """Pause, resume, reset or re-score many domains, or close their breakers; the answer says of each what happened."""
    clock = asyncio.get_running_loop()
    until = clock.time() + LONGEST_S
    told: list[DomainTold] = []
    stop: str | None = None
    for name in dict.fromkeys(body.names):
        if stop is None and clock.time() > until:
            stop = "There was no time left for it; order it again."
        if stop is not None:
            told.append(DomainTold(name, False, stop))
            continue
        try:
            told.append(DomainTold(name, True, await _order(request, who, body, name)))
        except ForagerError as error:
            told.append(DomainTold(name, False, add_http_requests(str(error))))
        except BUSY:
            told.append(DomainTold(name, False, "Somebody else is changing it and took too long; order it again."))
        except CONNECTION_LOST:
            if not told:
                raise
            stop = "The database went away; look whether it was done, and order it again."
            told.append(DomainTold(name, False, stop))
    done = sum(each.is_done for each in told)
    numbers = {"done": done, "failed": len(told) - done}
    return reply({"verb": body.verb, **numbers, "dry_run": body.dry_run, "domains": told})


class _DryRunRollback(Exception):  # noqa: N818 (nothing is wrong)
    """What a dry run did is taken back."""


async def _order(request: Request, who: Admin, body: BulkOrder, name: str) -> str:
    """A dry run does the same, so that it says the same, and takes it back."""
    message = ""
    with contextlib.suppress(_DryRunRollback):
        async with change(request, who, RESET_WITHIN_S if body.verb == "reset" else None) as deed:
            known, message = await _do(deed, body, name, get_forager(request).settings)
            if body.dry_run:
                raise _DryRunRollback
            await deed.note(f"domain.{body.verb}", "domain", known, reason=body.reason, is_one_of_many=True)
    return message


async def _do(deed: Change, body: BulkOrder, name: str, settings: Settings) -> tuple[str, str]:
    """The name as the domain has it, and what happened to it."""
    reason = body.reason or f"{body.verb.replace('_', ' ')} of many by the API"
    return await apply_verb(deed.conn, body.verb, name, by=deed.by, reason=reason, settings=settings)
