"""Archived history, what retention will do next, and purges: what is deleted for good, always with a dry run."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from forager.accounts.identity import Identity
from forager.api import paging
from forager.api.access import Admin, User, forbidden
from forager.api.database import exclusive_request, extend_timeout, get_forager, look, snapshot
from forager.api.errors import responses
from forager.api.paging import Listed, Paged
from forager.api.reply import listed, reply
from forager.api.types import After, DryRun, Limit, Name, PathName, Reason, Text
from forager.db.types import Connection
from forager.errors import ConflictError, UsageError
from forager.frontier.history import ArchivePlan
from forager.retention import archive as cold
from forager.retention import clear_frontier as clear
from forager.retention import purge
from forager.retention import schemas as retention_models
from forager.retention.purge_files import delete_files, order_of
from forager.retention.purge_record import PurgeOrder
from forager.retention.service import retention_of
from forager.storage.routes import REPORT_S

router = APIRouter(tags=["storage"])
LONGEST_S = 600.0
Why = Annotated[Reason, Query(description="For the record.")]
Counted = Callable[[Any, PurgeOrder], Awaitable[Any]]


@router.get("/api/storage/cold", response_model=Listed[retention_models.ColdFile], responses=responses())
async def list_cold(request: Request, _who: User) -> Response:
    """History that left the database for cold files."""
    async with look(request) as conn:
        return listed(await cold.list_archive_parts(conn))


@router.get("/api/storage/retention", response_model=Listed[ArchivePlan], responses=responses())
async def plan_retention(request: Request, _who: User) -> Response:
    """What would leave for cold files now. Moves nothing."""
    async with exclusive_request(request), snapshot(request, REPORT_S) as conn:
        return listed(await cold.plan(conn, retention_of(get_forager(request).settings)))


@router.get("/api/storage/purges", response_model=Paged[retention_models.PurgeRow], responses=responses(404))
async def list_purges(request: Request, _who: User, limit: Limit = 100, after: After = None) -> Response:
    """What was deleted for good, by whom and why, newest first."""
    (before,) = paging.read(request, after, paging.BY_ID)
    async with look(request) as conn:
        rows = await purge.list_purges(conn, before=before, limit=limit + 1)
    return paging.page(request, rows, limit)


# Deleting ------------------------------------------------------------------------------------------------------------


@router.delete("/api/frontier", response_model=retention_models.Purged, responses=responses(404, 409))
async def clear_frontier(
    request: Request,
    who: Admin,
    *,
    domain: Annotated[Name | None, Query(description="Only of this domain.")] = None,
    reason: Why = "",
    dry_run: DryRun = False,
) -> Response:
    """Forget all pages that wait for their first visit. Only domains concerned are held up. It needs a reason."""
    subject = domain or "all domains"
    return await _purge(
        request,
        who,
        lambda conn, order: clear.clear_frontier(conn, order, domain=domain),
        subject=subject,
        reason=reason,
        dry_run=dry_run,
        history_of=None,
    )


@router.delete("/api/admin/pages", response_model=retention_models.Purged, responses=responses(404, 409))
async def purge_pages(
    request: Request,
    who: Admin,
    *,
    domain: Annotated[Name, Query()],
    contains: Annotated[Text, Query(min_length=1, max_length=2000, description="A part of their URLs.")],
    reason: Why = "",
    dry_run: DryRun = False,
) -> Response:
    """Delete pages of a domain, with all that is known of them. Only this domain is held up. Where pages were visited
    it needs a reason, and a session or a token of scope `admin`."""
    return await _purge(
        request,
        who,
        lambda conn, order: purge.purge_pages(conn, domain, contains, order),
        subject=f"{domain} {contains}",
        reason=reason,
        dry_run=dry_run,
        history_of=domain,
    )


@router.delete("/api/admin/domains/{domain}", response_model=retention_models.Purged, responses=responses(404, 409))
async def purge_domain(
    request: Request,
    who: Admin,
    domain: PathName,
    *,
    reason: Why = "",
    forever: Annotated[bool, Query(description="Put it on the deny list, so that no link adds it again.")] = False,
    dry_run: DryRun = False,
) -> Response:
    """Delete a domain with everything that is known of it. Other domains go on. It needs a reason, and a session or a
    token of scope `admin`; a dry run needs neither."""
    if not dry_run:
        _require_admin(who, reason)
    return await _purge(
        request,
        who,
        lambda conn, order: purge.purge_domain(conn, domain, order, is_forever=forever),
        subject=domain,
        reason=reason,
        dry_run=dry_run,
        history_of=domain,
    )


def _require_admin(who: Identity, reason: str) -> None:
    if not who.can_manage:
        raise forbidden("Deleting history needs a token of scope admin")
    if not reason.strip():
        raise UsageError("Say why: what is deleted is gone for good, and the record shows the reason.", field="reason")


async def _require_reason(conn: Connection, who: Identity, reason: str, history_of: str | None) -> None:
    """Clearing the frontier needs a reason. So does deleting visits, which prove what Forager did: only who may manage
    accounts, too, does that."""
    if history_of is not None:
        if await purge.has_history(conn, history_of):
            _require_admin(who, reason)
    elif not reason.strip():
        raise UsageError("Say why: what is deleted is gone for good, and the record shows the reason.", field="reason")


async def _purge(
    request: Request,
    who: Admin,
    work: Counted,
    *,
    subject: str,
    reason: str,
    dry_run: bool,
    history_of: str | None,
) -> Response:
    """A trial has to understand the order first. It works in many transactions, and keeps its own record."""
    settings = get_forager(request).settings
    async with exclusive_request(request), look(request, LONGEST_S) as conn:
        async with conn.transaction(readonly=True):
            await extend_timeout(request, conn, REPORT_S)
            done = await work(conn, order_of(settings, who=who, reason=reason, is_trial=True))
        if not dry_run:
            await _require_reason(conn, who, reason, history_of)
            done = await _run_purge(conn, work, order_of(settings, who=who, reason=reason, is_trial=False))
    await delete_files(settings, done.keys)
    return reply({"subject": subject, "counts": dict(done.counts), "dry_run": dry_run})


async def _run_purge(conn: Connection, work: Counted, order: PurgeOrder) -> Any:
    """The trial understood the order: what is refused now does not fit what is there."""
    try:
        return await work(conn, order)
    except UsageError as error:
        raise ConflictError(str(error), "storage_busy") from None
