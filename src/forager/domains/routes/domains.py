"""Domains: list, add, configure, reset, pause, block; robots.txt, traps, history, and why a domain is idle."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from forager.api import paging
from forager.api.access import Admin, Seeding, User
from forager.api.database import change, get_forager, look, snapshot
from forager.api.errors import responses
from forager.api.filters import ParserFilter, SourceFilter
from forager.api.paging import Listed, Paged
from forager.api.reply import listed, reply
from forager.api.types import (
    LARGEST_ID,
    NOT_GIVEN,
    After,
    Body,
    Flag,
    Limit,
    Name,
    Number,
    PathId,
    PathName,
    Reason,
    ReasonBody,
    Text,
    Url,
    reason_of,
)
from forager.config.keys import get_cipher
from forager.config.settings import Settings
from forager.db.types import Connection
from forager.domains import queries as domain_queries
from forager.domains import schemas as models
from forager.domains import service as domain_admin
from forager.domains import sitemaps
from forager.domains import trap_service as traps
from forager.domains.settings import Configured
from forager.domains.store import find_domains
from forager.errors import BadUrlError, UsageError
from forager.explain.conditions import build_fetch_policy
from forager.explain.why import explain
from forager.politeness.guard import AddressGuard
from forager.politeness.guard import guard_from_settings as guard_of
from forager.runs.guard import guard_of_workers
from forager.seeds import add
from forager.seeds.found import Seed, to_url
from forager.seeds.validate import find_seed_error
from forager.urls.domain import domain_of

router = APIRouter(tags=["domains"])
BY_NAME = paging.Order(("name",), ("text",))
BY_DAY = paging.Order(("day",), ("day",))
RESET_WITHIN_S = 60.0
"""A reset changes all pages of a domain."""
SortName = Literal["id", "name"]
By = Annotated[SortName, Query(description="The order of the list.")]
StatusFilter = Annotated[models.Status | None, Query()]
ActiveFilter = Annotated[bool | None, Query(description="False: only those that are paused.")]
ParentFilter = Annotated[Name | None, Query(description="Only this registrable domain and its sub-domains.")]
FileAfter = Annotated[int, Query(ge=0, le=LARGEST_ID, description="Only files with a higher id.")]
RunFilter = Annotated[int | None, Query(ge=1, le=LARGEST_ID)]
PartFilter = Annotated[Name | None, Query(description="A part of the name.")]
LabelFilter = Annotated[
    Text | None, Query(max_length=63, description="Only those that want this label of workers; empty: none.")
]
BreakerFilter = Annotated[models.Breaker | None, Query(description="Open: it rests because its server failed.")]


# Looking -------------------------------------------------------------------------------------------------------------


@router.get("/api/domains", response_model=Paged[models.DomainRow], responses=responses(404))
@router.get("/api/admin/domains", response_model=Paged[models.DomainRow], responses=responses(404))
async def list_domains(
    request: Request,
    _who: User,
    *,
    status: StatusFilter = None,
    is_active: ActiveFilter = None,
    parent: ParentFilter = None,
    run: RunFilter = None,
    q: PartFilter = None,
    breaker: BreakerFilter = None,
    source: SourceFilter = None,
    parser: ParserFilter = None,
    label: LabelFilter = None,
    sort: By = "id",
    limit: Limit = 100,
    after: After = None,
) -> Response:
    """All domains, page by page."""
    order = BY_NAME if sort == "name" else paging.BY_ID
    async with look(request) as conn:
        rows = await domain_queries.list_domains(
            conn,
            paging.read(request, after, order),
            by_name=sort == "name",
            status=status,
            is_active=is_active,
            parent=parent,
            run=run,
            part=q,
            breaker=breaker,
            source=source,
            parser=parser,
            label=label,
            limit=limit + 1,
        )
    return paging.page(request, rows, limit, order)


@router.get("/api/domains/top", response_model=Listed[models.TopDomain], responses=responses())
async def top_domains(
    request: Request,
    _who: User,
    *,
    by: Annotated[Literal["yield", "score", "pages", "errors", "change"], Query()] = "pages",
    status: StatusFilter = None,
    is_active: ActiveFilter = None,
    parent: ParentFilter = None,
    run: RunFilter = None,
    q: PartFilter = None,
    breaker: BreakerFilter = None,
    source: SourceFilter = None,
    parser: ParserFilter = None,
    label: LabelFilter = None,
    limit: Limit = 20,
) -> Response:
    """The first domains by images per page, score, pages, errors, or changes, of all that match; a thousand at most."""
    async with look(request) as conn:
        rows = await domain_queries.top_domains(
            conn,
            by=by,
            status=status,
            is_active=is_active,
            parent=parent,
            run=run,
            part=q,
            breaker=breaker,
            source=source,
            parser=parser,
            label=label,
            limit=limit,
        )
    return listed(rows, models.TopDomain)


@router.get("/api/domains/groups", response_model=Listed[models.DomainGroup], responses=responses())
async def group_domains(
    request: Request,
    _who: User,
    *,
    by: Annotated[Literal["parent", "status", "source", "parser"], Query()] = "parent",
    limit: Limit = 20,
) -> Response:
    """Domains added up by registrable domain, state, source or parser, those with most pages first."""
    async with look(request) as conn:
        return listed(await domain_queries.group_domains(conn, by=by, limit=limit), models.DomainGroup)


@router.get("/api/domains/{domain}", response_model=models.Domain, responses=responses(404))
@router.get("/api/admin/domains/{domain}", response_model=models.Domain, responses=responses(404))
async def show_domain(request: Request, _who: User, domain: PathName) -> Response:
    """Everything about one domain."""
    async with snapshot(request) as conn:
        return reply(await domain_queries.describe_domain(conn, domain))


@router.get("/api/domains/{domain}/robots", response_model=Listed[models.Robots], responses=responses(404))
async def show_robots(request: Request, _who: User, domain: PathName) -> Response:
    """The robots.txt of each origin of a domain, as it was last seen."""
    async with look(request) as conn:
        return listed(await domain_queries.list_robots(conn, domain))


@router.get("/api/domains/{domain}/history", response_model=Paged[models.Move], responses=responses(404))
async def show_history(
    request: Request, _who: User, domain: PathName, limit: Limit = 100, after: After = None
) -> Response:
    """What happened to a domain, newest first."""
    async with look(request) as conn:
        rows = await domain_queries.list_moves(conn, domain, paging.read(request, after, paging.BY_ID), limit=limit + 1)
    return paging.page(request, rows, limit)


@router.get("/api/domains/{domain}/days", response_model=Paged[models.DomainDay], responses=responses(404))
async def show_days(request: Request, _who: User, domain: PathName, limit: Limit = 90, after: After = None) -> Response:
    """What was done in a domain day by day, newest first. Days are counted every quarter of an hour."""
    async with look(request) as conn:
        rows = await domain_queries.list_days(conn, domain, paging.read(request, after, BY_DAY), limit=limit + 1)
    return paging.page(request, rows, limit, BY_DAY)


@router.get("/api/domains/{domain}/traps", response_model=Listed[models.Trap], responses=responses(404))
async def show_traps(request: Request, _who: User, domain: PathName) -> Response:
    """Links of a domain that would never end, and what is suspected."""
    async with look(request) as conn:
        return listed(await traps.list_traps(conn, domain))


@router.get("/api/domains/{domain}/sitemaps", response_model=models.Sitemaps, responses=responses(404))
async def show_sitemaps(
    request: Request, _who: User, domain: PathName, after: FileAfter = 0, limit: Limit = 100
) -> Response:
    """The sitemaps and feeds of a domain, what the last reading of each found, and what they list in all."""
    async with look(request) as conn:
        totals = await sitemaps.count_listed(conn, domain)
        files = await sitemaps.list_sitemaps(conn, domain, after=after, limit=limit)
        return reply({**totals, "files": files})


@router.get("/api/why", response_model=models.Why, responses=responses())
async def why(
    request: Request, _who: User, of: Annotated[Url, Query(description="A URL or a domain.", examples=["shop.example"])]
) -> Response:
    """Why a page or domain is, or is not, being fetched now, gate by gate."""
    manners = build_fetch_policy(get_forager(request).settings)
    async with snapshot(request) as conn:
        answer = await explain(conn, of, manners)
    outlook = answer.outlook
    return reply(
        {
            "asked": answer.asked,
            "url": answer.url,
            "domain": answer.domain,
            "asked_at": answer.asked_at,
            "answer": outlook.kind,
            "because": outlook.because,
            "next_fetch_at": outlook.at if outlook.kind == "at" else None,
            "remedy": outlook.remedy,
            "page_checks": answer.page_checks,
            "domain_checks": answer.domain_checks,
        }
    )


# Changing ------------------------------------------------------------------------------------------------------------


class NewDomain(Body):
    url: Url = Field(description="Its home, or just its name.", examples=["https://shop.example/"])
    settings: dict[str, Any] = Field(
        default={}, description="Crawl settings that hold before its first request.", examples=[{"delay": "2s"}]
    )
    hold: Flag = Field(default=False, description="Add it paused: nothing is requested before it is resumed.")


class ResetOrder(Body):
    reason: Reason | None = None
    also_gone: Flag = Field(default=False, description="Try pages again that are gone.")


class BlockOrder(Body):
    reason: Reason = Field(min_length=1, examples=["the owner asked for it"])
    rest_s: Number | None = Field(default=None, gt=0, le=315_360_000, description="Null: until somebody resets it.")


class DomainChanges(models.CrawlSettingsChanges):  # type: ignore[misc] # built from the record
    """What is named is changed; null takes a setting back: the profile's or the default holds."""

    is_active: Flag = Field(default=NOT_GIVEN, description="False pauses it, true resumes it.")
    reason: Reason | None = Field(default=NOT_GIVEN, description="Why; required where robots.txt is not obeyed.")


@router.post("/api/admin/domains", status_code=201, response_model=models.Added, responses=responses(409))
async def add_domain(request: Request, who: Seeding, body: NewDomain) -> Response:
    """A domain by its home page, which waits to be crawled."""
    settings = get_forager(request).settings
    async with change(request, who) as deed:
        url = seed_url(body.url, await guard_of_workers(deed.conn, guard_of(settings)))
        is_scored = get_forager(request).settings.crawl.domain_order == "smart"
        name = domain_of(url)
        is_new = not await find_domains(deed.conn, [name])
        if body.settings or body.hold:
            await _prepare_domain(deed.conn, name, body, get_forager(request).settings, by=deed.by)
        done = await add.add_urls(deed.conn, [Seed(url)], source="api", is_scored=is_scored, are_seeds=True)
        known = await find_domains(deed.conn, [name])
        await deed.note("domain.add", "domain", name, url=url)
    added = {"id": known.get(name), "name": name, "is_new": is_new and name in known, "new_pages": done.pages}
    return reply(added, 201)


async def _prepare_domain(conn: Connection, name: str, body: NewDomain, settings: Settings, *, by: str) -> None:
    """Adds a domain before its first page, with its settings."""
    if body.settings:
        await domain_admin.configure(
            conn,
            name,
            body.settings,
            by=by,
            cipher=get_cipher(settings, creates=True),
            refresh_every_s=settings.refresh.interval if settings.refresh.enabled else None,
        )
    else:
        await domain_admin.add_unknown(conn, name)
    if body.hold:
        await domain_admin.switch(conn, name, False, by=by, reason="added on hold")


def seed_url(text: str, guard: AddressGuard) -> str:
    try:
        url = to_url(text)
    except BadUrlError as error:
        raise UsageError(str(error)) from None
    if reason := find_seed_error(url, guard):
        raise UsageError(reason)
    return url


@router.patch("/api/admin/domains/{domain}", response_model=Configured, responses=responses(404, 409))
async def configure_domain(request: Request, who: Admin, domain: PathName, body: DomainChanges) -> Response:
    """How a domain is crawled. A new frequency plans the next visits at once."""
    changes = body.model_dump(exclude_unset=True, warnings=False)  # `none` and hidden secrets are texts in any field
    is_active, reason = changes.pop("is_active", None), changes.pop("reason", None)
    if changes.get("obey_robots") is False and not reason:
        raise UsageError("Say why robots.txt is not obeyed; the reason is stored on record.", field="reason")
    settings = get_forager(request).settings
    rest_s = settings.refresh.interval if settings.refresh.enabled else None
    async with change(request, who) as deed:
        switched = None
        if is_active is not None:
            switched = await domain_admin.switch(deed.conn, domain, is_active, by=deed.by, reason="by the API")
        if changes or is_active is None:
            configured = await domain_admin.configure(
                deed.conn,
                domain,
                changes,
                by=deed.by,
                cipher=get_cipher(settings, creates=True),
                refresh_every_s=rest_s,
                reason=reason,
            )
            done = asdict(configured)
        else:
            assert switched is not None
            done = {"name": switched.name, "changes": {}, "planned": 0, "dropped": 0}
        if is_active is not None:
            done["changes"] = {**done["changes"], "is_active": is_active}
        await deed.note("domain.configure", "domain", done["name"], changes=done["changes"])
    return reply(done)


@router.post("/api/admin/domains/{domain}/reset", response_model=domain_admin.Reset, responses=responses(404, 409))
async def reset_domain(request: Request, who: Admin, domain: PathName, body: ResetOrder | None = None) -> Response:
    """Forget whatever held a domain back: it is due now, and what failed is tried again."""
    order = body or ResetOrder()
    async with change(request, who, RESET_WITHIN_S) as deed:
        reason = order.reason or "reset by the API"
        done = await domain_admin.reset(deed.conn, domain, by=deed.by, reason=reason, also_gone=order.also_gone)
        await deed.note("domain.reset", "domain", done.name, reason=order.reason, also_gone=order.also_gone)
    return reply(done)


@router.post(
    "/api/admin/domains/{domain}/reset-breaker", response_model=domain_admin.BreakerReset, responses=responses(404)
)
async def reset_breaker(request: Request, who: Admin, domain: PathName, body: ReasonBody | None = None) -> Response:
    """Only the breaker is closed: requests may leave again at their pace."""
    reason, rest_s = reason_of(body) or "breaker reset by the API", get_forager(request).settings.failures.breaker_reset
    async with change(request, who) as deed:
        done = await domain_admin.reset_breaker(deed.conn, domain, by=deed.by, reason=reason, rest_s=rest_s)
        await deed.note("domain.reset_breaker", "domain", done.name, reason=reason)
    return reply(done)


@router.post("/api/admin/domains/{domain}/pause", response_model=domain_admin.Switched, responses=responses(404))
async def pause_domain(request: Request, who: Admin, domain: PathName, body: ReasonBody | None = None) -> Response:
    """No visits until somebody resumes it; what is under way is finished."""
    return await _switch(request, who, domain, False, reason_of(body) or "paused by the API")


@router.post("/api/admin/domains/{domain}/resume", response_model=domain_admin.Switched, responses=responses(404))
async def resume_domain(request: Request, who: Admin, domain: PathName, body: ReasonBody | None = None) -> Response:
    """Visits go on where they stopped."""
    return await _switch(request, who, domain, True, reason_of(body) or "resumed by the API")


async def _switch(request: Request, who: Admin, domain: str, is_active: bool, reason: str) -> Response:
    async with change(request, who) as deed:
        done = await domain_admin.switch(deed.conn, domain, is_active, by=deed.by, reason=reason)
        await deed.note("domain.resume" if is_active else "domain.pause", "domain", done.name, reason=reason)
    return reply(done)


@router.post("/api/admin/domains/{domain}/block", response_model=domain_admin.Blocked, responses=responses(404, 409))
async def block_domain(request: Request, who: Admin, domain: PathName, body: BlockOrder) -> Response:
    """No visits until somebody resets it, or for some time. A lease ends at once. An unknown domain is added."""
    hush_s = get_forager(request).settings.worker.dead_after
    async with change(request, who) as deed:
        done = await domain_admin.block(
            deed.conn, domain, by=deed.by, reason=body.reason, rest_s=body.rest_s, hush_s=hush_s
        )
        await deed.note("domain.block", "domain", done.name, reason=body.reason, rest_s=body.rest_s)
    return reply(done)


@router.post(
    "/api/admin/domains/{domain}/traps/{trap:int}/release", response_model=traps.Released, responses=responses(404)
)
async def release_trap(request: Request, who: Admin, domain: PathName, trap: PathId) -> Response:
    """Take the links of a trap after all."""
    async with change(request, who) as deed:
        done = await traps.release(deed.conn, domain, trap, by=deed.by)
        await deed.note("domain.release_trap", "domain", done.name, trap=trap)
    return reply(done)
