"""Proxies and the pools of domains. Passwords are accepted and never returned."""

import asyncio
from decimal import Decimal
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from forager.api.access import Admin, User
from forager.api.database import change, get_forager, look
from forager.api.errors import responses
from forager.api.paging import Listed
from forager.api.reply import listed, reply
from forager.api.types import (
    NOT_GIVEN,
    Body,
    Changes,
    Country,
    Flag,
    Id,
    Number,
    PathId,
    PathName,
    Priority,
    Text,
    Whole,
)
from forager.config.keys import get_cipher
from forager.db.types import Connection
from forager.errors import ConflictError, NotFoundError, UsageError
from forager.proxies import schemas as models
from forager.proxies import service as control
from forager.proxies import store
from forager.proxies.address import parse_address
from forager.proxies.admin import ProxyInfo
from forager.proxies.probe import probe
from forager.proxies.rotation import proxies_needed

router = APIRouter(tags=["proxies"])
Label = Annotated[Text, Field(min_length=1, max_length=100)]
Cost = Annotated[Number, Field(ge=0, le=99_999_999)]
PerHour = Annotated[Whole, Field(ge=1, le=2**31 - 1)]
CountryFilter = Annotated[str | None, Query(pattern="^[A-Z]{2}$", examples=["DE"])]
Ids = Annotated[list[Id], Field(max_length=1000, examples=[[1, 2, 3]])]


class NewProxies(Body):
    """One or more, with what is known of all of them."""

    urls: Annotated[
        list[Annotated[Text, Field(min_length=1, max_length=2000)]],
        Field(min_length=1, max_length=1000, examples=[["http://user:password@proxy.example:3128"]]),
    ]
    country: Country | None = None
    city: Label | None = None
    provider: Label | None = None
    monthly_cost: Cost | None = None
    max_requests_per_hour: PerHour | None = None
    is_forwarding: Flag | None = None
    is_default: Flag | None = Field(default=None, description="In the default pool.")


class ProxyChanges(Changes):
    """Null clears a detail; an hourly limit gets its default again."""

    country: Country | None = NOT_GIVEN
    city: Label | None = NOT_GIVEN
    provider: Label | None = NOT_GIVEN
    monthly_cost: Cost | None = NOT_GIVEN
    max_requests_per_hour: PerHour | None = NOT_GIVEN
    is_forwarding: Flag = NOT_GIVEN
    is_default: Flag = Field(default=NOT_GIVEN, description="It serves all domains without a pool.")
    password: Annotated[Text, Field(min_length=1, max_length=255)] = NOT_GIVEN


class Members(Body):
    proxies: Ids = Field(default=[])
    country: Country | None = Field(default=None, description="All of this country.")
    provider: Label | None = Field(default=None, description="All of this provider.")
    priority: Priority | None = None


class MemberChanges(Changes):
    is_active: Flag = Field(default=NOT_GIVEN, description="True forgets its failures in a row.")
    priority: Priority = NOT_GIVEN


# Proxies -------------------------------------------------------------------------------------------------------------


@router.get("/api/admin/proxies", response_model=Listed[models.ProxyRow], responses=responses())
@router.get("/api/proxies", response_model=Listed[models.ProxyRow], responses=responses())
async def list_proxies(
    request: Request,
    _who: User,
    country: CountryFilter = None,
    provider: Annotated[Text | None, Query(max_length=100)] = None,
) -> Response:
    """All proxies with their health."""
    async with look(request) as conn:
        return listed(await control.list_all(conn, country=country, provider=provider))


@router.get("/api/proxies/costs", response_model=models.Costs, responses=responses())
async def proxy_costs(request: Request, _who: User) -> Response:
    """What proxies cost in a month, and what those cost that nobody uses."""
    async with look(request) as conn:
        return reply(await control.costs(conn))


@router.get("/api/admin/proxies/{proxy:int}", response_model=models.ProxyRow, responses=responses(404))
async def show_proxy(request: Request, _who: User, proxy: PathId) -> Response:
    """One proxy with its health."""
    async with look(request) as conn:
        return reply(await _find(conn, proxy))


async def _find(conn: Connection, proxy: int) -> dict[str, Any]:
    for row in await control.list_all(conn):
        if row["id"] == proxy:
            return row
    raise NotFoundError(f"There is no proxy {proxy}.")


@router.post("/api/admin/proxies", status_code=201, response_model=models.AddedProxies, responses=responses(409))
async def add_proxies(request: Request, who: Admin, body: NewProxies) -> Response:
    """Proxies, or new facts of known ones. All of them or none."""
    addresses = []
    for place, url in enumerate(body.urls, 1):
        try:
            addresses.append(parse_address(url))
        except UsageError as error:
            raise UsageError(f"{error} (address {place})") from None
    cost = None if body.monthly_cost is None else Decimal(str(body.monthly_cost))
    facts = ProxyInfo(
        *(body.country, body.city, body.provider, cost, body.max_requests_per_hour),
        is_forwarding=body.is_forwarding,
        is_default=body.is_default,
    )
    has_password = any(address.password for address in addresses)
    vault = await asyncio.to_thread(get_cipher, get_forager(request).settings, creates=has_password)
    async with change(request, who) as deed:
        done = await control.add(deed.conn, vault, addresses, facts)
        hosts = [f"{address.protocol}://{address.host}:{address.port}" for address in addresses[:100]]
        await deed.note("proxy.add", "proxy", None, ids=[each.id for each in done], hosts=hosts)
    return reply({"proxies": done}, 201)


@router.patch("/api/admin/proxies/{proxy:int}", response_model=models.ProxyRow, responses=responses(404, 409))
async def configure_proxy(request: Request, who: Admin, proxy: PathId, body: ProxyChanges) -> Response:
    """New facts of one proxy; what is not named stays."""
    changes = body.model_dump(exclude_unset=True)
    if not changes:
        raise UsageError("Nothing to set.")
    password = changes.get("password")
    facts = {name: value for name, value in changes.items() if name != "password"}
    vault = await asyncio.to_thread(get_cipher, get_forager(request).settings, creates=bool(password))
    async with change(request, who) as deed:
        known = await _find(deed.conn, proxy)
        if password and known["username"] is None:
            raise ConflictError("A proxy without a user name has no password.", "proxy_without_user")
        await control.change_facts(deed.conn, vault, [proxy], facts, password=password)
        await deed.note("proxy.configure", "proxy", proxy, changes=changes)
        row = await _find(deed.conn, proxy)
    return reply(row)


@router.delete("/api/admin/proxies/{proxy:int}", response_model=models.RemovedProxies, responses=responses(404, 409))
async def remove_proxy(
    request: Request,
    who: Admin,
    proxy: PathId,
    force: Annotated[bool, Query(description="Also if a domain is asked directly then.")] = False,
) -> Response:
    """Forget a proxy; the history keeps its number."""
    async with change(request, who) as deed:
        await control.reject_unknown(deed.conn, [proxy])
        try:
            gone = await control.remove(deed.conn, [proxy], is_forced=force)
        except UsageError as error:
            raise ConflictError(str(error), "proxy_in_use") from None
        await deed.note("proxy.remove", "proxy", proxy, force=force)
    return reply({"removed": gone})


@router.post("/api/admin/proxies/{proxy:int}/enable", response_model=control.SwitchedProxies, responses=responses(404))
async def enable_proxy(request: Request, who: Admin, proxy: PathId) -> Response:
    """Switch it on and forget its failures."""
    return await _switch(request, who, proxy, True)


@router.post("/api/admin/proxies/{proxy:int}/disable", response_model=control.SwitchedProxies, responses=responses(404))
async def disable_proxy(request: Request, who: Admin, proxy: PathId) -> Response:
    """Switch it off until somebody enables it."""
    return await _switch(request, who, proxy, False)


@router.post("/api/proxies/{proxy:int}/probe", response_model=models.Probed, responses=responses(404))
async def probe_proxy(request: Request, who: Admin, proxy: PathId) -> Response:
    """Try it now: one that its failures switched off comes back if it works."""
    async with look(request) as conn:
        await control.reject_unknown(conn, [proxy])
        rows = await store.find_for_probe(conn, [proxy])
    probed = await probe(get_forager(request).settings, rows)
    async with change(request, who) as deed:
        await store.end_probes(deed.conn, probed)
        error = next((each.error for each in probed), None)
        await deed.note("proxy.probe", "proxy", proxy, works=error is None)
        row = await _find(deed.conn, proxy)
    return reply({"id": proxy, "works": error is None, "error": error, "is_active": row["is_active"]})


async def _switch(request: Request, who: Admin, proxy: int, is_active: bool) -> Response:
    async with change(request, who) as deed:
        done = await control.switch(deed.conn, [proxy], is_active)
        await deed.note("proxy.enable" if is_active else "proxy.disable", "proxy", proxy)
    return reply(done)


# Pools ---------------------------------------------------------------------------------------------------------------


@router.get("/api/admin/domains/{domain}/proxies", response_model=Listed[models.MemberRow], responses=responses(404))
async def list_pool(request: Request, _who: User, domain: PathName) -> Response:
    """The pool of a domain, with success_rate_percent of each proxy there."""
    async with look(request) as conn:
        return listed(await control.list_all(conn, domain=domain))


@router.post("/api/admin/domains/{domain}/proxies", response_model=control.Assigned, responses=responses(404, 409))
async def assign_proxies(request: Request, who: Admin, domain: PathName, body: Members) -> Response:
    """From now on the domain is asked through its pool only. Those that are in it stay as they are."""
    if not (body.proxies or body.country or body.provider):
        raise UsageError("Which proxies? Name some, a country, or a provider.", field="proxies")
    async with change(request, who) as deed:
        done = await control.assign(
            deed.conn,
            domain,
            body.proxies,
            country=body.country,
            provider=body.provider,
            priority=body.priority,
            by=deed.by,
        )
        await deed.note("domain.assign_proxies", "domain", done.domain, new=done.new)
    return reply(done)


@router.delete(
    "/api/admin/domains/{domain}/proxies/{proxy:int}", response_model=control.Assigned, responses=responses(404)
)
async def unassign_proxy(request: Request, who: Admin, domain: PathName, proxy: PathId) -> Response:
    """Take a proxy from a domain; without any it uses the default pool, else it is asked directly."""
    async with change(request, who) as deed:
        done = await control.unassign(deed.conn, domain, [proxy], by=deed.by)
        await deed.note("domain.unassign_proxy", "domain", done.domain, proxy=proxy)
    return reply(done)


@router.patch(
    "/api/admin/domains/{domain}/proxies/{proxy:int}", response_model=models.MemberRow, responses=responses(404)
)
async def configure_member(
    request: Request, who: Admin, domain: PathName, proxy: PathId, body: MemberChanges
) -> Response:
    """Switch a proxy of the pool on or off, or give it another priority."""
    changes = body.model_dump(exclude_unset=True)
    if not changes:
        raise UsageError("Nothing to set.")
    async with change(request, who) as deed:
        pool = {row["id"] for row in await control.list_all(deed.conn, domain=domain)}
        if proxy not in pool:
            raise NotFoundError(f"Proxy {proxy} is not in the pool of {domain}.")
        if "is_active" in changes:
            await control.switch(deed.conn, [proxy], body.is_active, domain=domain)
        if "priority" in changes:
            await control.assign(deed.conn, domain, [proxy], priority=body.priority, by=deed.by)
        await deed.note("domain.configure_proxy", "domain", domain, proxy=proxy, **changes)
        rows = await control.list_all(deed.conn, domain=domain)
    return reply(next(row for row in rows if row["id"] == proxy))


@router.get(
    "/api/admin/domains/{domain}/proxies/advice", response_model=Listed[control.PoolSize], responses=responses(404)
)
async def advise_pool(
    request: Request,
    _who: User,
    domain: PathName,
    pages_per_hour: Annotated[float | None, Query(gt=0, le=1e9, allow_inf_nan=False)] = None,
    per_proxy: Annotated[float | None, Query(ge=0.001, le=1e9, allow_inf_nan=False)] = None,
) -> Response:
    """How a pool does, and how large it should be."""
    delay_s = get_forager(request).settings.politeness.delay
    async with look(request) as conn:
        return listed(
            await control.compute_pool_size(
                conn, domain, pages_per_hour=pages_per_hour, requests_per_proxy_hour=per_proxy, delay_s=delay_s
            )
        )


@router.get("/api/proxies/advice", response_model=Listed[control.PoolSize], responses=responses())
async def advise_all(request: Request, _who: User) -> Response:
    """How all pools do."""
    delay_s = get_forager(request).settings.politeness.delay
    async with look(request) as conn:
        return listed(await control.compute_pool_size(conn, None, delay_s=delay_s))


@router.get("/api/proxies/sizing", response_model=models.Sizing, responses=responses())
async def size_pool(
    _who: User,
    pages_per_hour: Annotated[float, Query(gt=0, le=1e9, allow_inf_nan=False, examples=[100])],
    per_proxy: Annotated[float, Query(ge=0.001, le=1e9, allow_inf_nan=False, examples=[20])] = 1000,
) -> Response:
    """How many proxies so many pages an hour need, with a fifth in reserve."""
    needed = proxies_needed(pages_per_hour, per_proxy)
    return reply({"pages_per_hour": pages_per_hour, "requests_per_proxy_hour": per_proxy, "needed": needed})
