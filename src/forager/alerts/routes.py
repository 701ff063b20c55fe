"""Alerts: see them, take them, end them, mute a rule, say who is told."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import Field

from forager.alerts import schemas as models
from forager.alerts import service as control
from forager.api import paging
from forager.api.access import Admin, User
from forager.api.database import change, get_forager, look, snapshot
from forager.api.errors import responses
from forager.api.paging import Listed, Paged
from forager.api.reply import listed, reply
from forager.api.types import After, Body, Limit, Number, PathId, Reason, ReasonBody, Text, Url, reason_of
from forager.errors import NotFoundError
from forager.politeness.guard import guard_from_settings as guard_of
from forager.webhooks import service as webhooks

router = APIRouter(tags=["alerts"])
RuleName = Annotated[str, Path(pattern="^[a-z_]{1,40}$", examples=["error_rate"])]


class Mute(Body):
    seconds: Number = Field(gt=0, le=control.LONGEST_MUTE_S, examples=[3600])
    subject: Annotated[Text, Field(max_length=260)] = Field(default="", description="Empty: all of the rule.")
    reason: Reason | None = None


class NewTarget(Body):
    url: Annotated[Url, Field(max_length=2000)] = Field(examples=["https://chat.example/hook"])
    severity: models.Severity = "warning"


@router.get("/api/alerts", response_model=Paged[models.AlertRow], responses=responses(404))
async def list_alerts(
    request: Request,
    _who: User,
    *,
    is_open: Annotated[bool, Query(description="False: also those that are over.")] = True,
    rule: Annotated[str | None, Query(pattern="^[a-z_]{1,40}$")] = None,
    limit: Limit = 100,
    after: After = None,
) -> Response:
    """Alerts, newest first."""
    (before,) = paging.read(request, after, paging.BY_ID)
    async with look(request) as conn:
        rows = await control.list_alerts(conn, is_open=is_open, rule=rule, before=before, limit=limit + 1)
    return paging.page(request, rows, limit)


@router.get("/api/alerts/rules", response_model=Listed[models.AlertRule], responses=responses())
async def list_rules(_who: User) -> Response:
    """Every rule: what it is about, and how long it waits."""
    return listed(control.list_rules())


@router.get("/api/alerts/mutes", response_model=Listed[control.Muted], responses=responses())
async def list_mutes(request: Request, _who: User) -> Response:
    """What nobody is told of at present."""
    async with look(request) as conn:
        return listed(await control.list_mutes(conn))


@router.get("/api/alerts/targets", response_model=Listed[models.Target], responses=responses())
async def list_targets(request: Request, who: User) -> Response:
    """Webhooks that are told. Whoever may not change them sees scheme and host: the rest lets one call them."""
    async with look(request) as conn:
        rows = await control.list_targets(conn)
    return listed([{**row, "url": webhooks.mask_url(row["url"], in_full=who.can_change)} for row in rows])


@router.get("/api/alerts/{alert:int}", response_model=models.Alert, responses=responses(404))
async def show_alert(request: Request, _who: User, alert: PathId) -> Response:
    """One alert, with all that happened to it."""
    async with snapshot(request) as conn:
        return reply(await control.describe(conn, alert))


@router.post("/api/admin/alerts/{alert:int}/ack", response_model=control.AlertChanged, responses=responses(404))
async def acknowledge_alert(request: Request, who: Admin, alert: PathId, body: ReasonBody | None = None) -> Response:
    """Somebody looks after it: it stays open, and is shown as taken."""
    async with change(request, who) as deed:
        done = await control.acknowledge(deed.conn, [alert], by=deed.by, reason=reason_of(body))
        await deed.note("alert.acknowledge", "alert", alert, reason=reason_of(body))
    return reply(done)


@router.post("/api/admin/alerts/{alert:int}/resolve", response_model=control.AlertChanged, responses=responses(404))
async def resolve_alert(request: Request, who: Admin, alert: PathId, body: ReasonBody | None = None) -> Response:
    """It is over, whatever its rule says."""
    async with change(request, who) as deed:
        done = await control.resolve(deed.conn, [alert], by=deed.by, reason=reason_of(body))
        await deed.note("alert.resolve", "alert", alert, reason=reason_of(body))
    return reply(done)


@router.post("/api/admin/alerts/rules/{rule}/mute", response_model=control.Muted, responses=responses(404))
async def mute_rule(request: Request, who: Admin, rule: RuleName, body: Mute) -> Response:
    """Nobody is told of this rule for a while; its alerts are raised and shown all the same."""
    async with change(request, who) as deed:
        done = await control.mute(
            deed.conn, rule, seconds=body.seconds, by=deed.by, subject=body.subject, reason=body.reason
        )
        await deed.note("alert.mute", "rule", rule, **body.model_dump(exclude_none=True))
    return reply(done)


@router.delete("/api/admin/alerts/rules/{rule}/mute", response_model=models.Unmuted, responses=responses(404))
async def unmute_rule(
    request: Request, who: Admin, rule: RuleName, subject: Annotated[Text, Query(max_length=260)] = ""
) -> Response:
    """People are told again."""
    async with change(request, who) as deed:
        if not await control.unmute(deed.conn, rule, subject=subject):
            raise NotFoundError(f"{rule} is not muted.")
        await deed.note("alert.unmute", "rule", rule, subject=subject)
    return reply({"rule": rule, "subject": subject})


@router.post("/api/admin/alerts/targets", status_code=201, response_model=models.Target, responses=responses())
async def add_target(request: Request, who: Admin, body: NewTarget) -> Response:
    """A webhook that is told when alerts of this severity, or worse, are raised and resolved."""
    control.read_target(body.url, guard_of(get_forager(request).settings))
    async with change(request, who) as deed:
        done = await control.add_target(deed.conn, body.url, by=deed.by, severity=body.severity)
        await deed.note(
            "alert.add_target", "target", done["id"], url=webhooks.mask_url(done["url"]), severity=body.severity
        )
    return reply(done, 201)


@router.delete("/api/admin/alerts/targets/{target:int}", response_model=models.DeletedTarget, responses=responses(404))
async def remove_target(request: Request, who: Admin, target: PathId) -> Response:
    """A webhook that is told no more."""
    async with change(request, who) as deed:
        url = await control.remove_target(deed.conn, target)
        await deed.note("alert.remove_target", "target", target, url=webhooks.mask_url(url))
    return reply({"id": target, "url": url})
