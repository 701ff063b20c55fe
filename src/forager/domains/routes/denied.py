"""The deny list: domains that no link, list or order adds."""

from datetime import datetime

from fastapi import APIRouter, Request, Response
from pydantic import Field

from forager.api import paging
from forager.api.access import Admin, User
from forager.api.database import change, look
from forager.api.errors import responses
from forager.api.paging import Paged
from forager.api.reply import reply
from forager.api.types import After, Body, Limit, Name, PathName, Reason, Row
from forager.domains import denied as service

router = APIRouter(tags=["domains"])
BY_NAME = paging.Order(("name",), ("text",))


class DeniedRow(Row):
    """One entry of the deny list."""

    name: str = Field(examples=["shop.example"])
    reason: str = Field(examples=["the owner asked for it"])
    denied_by: str
    denied_at: datetime


class DenyOrder(Body):
    name: Name = Field(examples=["shop.example"])
    reason: Reason = Field(examples=["the owner asked for it"])


@router.get("/api/denied-domains", response_model=Paged[DeniedRow], responses=responses(404))
async def list_denied(request: Request, _who: User, limit: Limit = 100, after: After = None) -> Response:
    """Domains that are kept out, by name."""
    (last,) = paging.read(request, after, BY_NAME)
    async with look(request) as conn:
        rows = [row._asdict() for row in await service.list_denied(conn, after=last, limit=limit + 1)]
    return paging.page(request, rows, limit, BY_NAME)


@router.post("/api/admin/denied-domains", status_code=201, response_model=DeniedRow, responses=responses(409))
async def deny_domain(request: Request, who: Admin, body: DenyOrder) -> Response:
    """Keep a domain out that is not known; a known one is purged with `forever`."""
    async with change(request, who) as deed:
        entry = await service.deny(deed.conn, body.name, by=deed.by, reason=body.reason)
        await deed.note("domain.deny", "domain", entry.name, reason=body.reason)
    return reply(entry._asdict(), 201)


@router.delete("/api/admin/denied-domains/{domain}", status_code=204, responses=responses(404))
async def allow_domain(request: Request, who: Admin, domain: PathName) -> Response:
    """Take a domain off the deny list: it may be crawled again."""
    async with change(request, who) as deed:
        name = await service.allow(deed.conn, domain)
        await deed.note("domain.allow", "domain", name)
    return Response(status_code=204)
