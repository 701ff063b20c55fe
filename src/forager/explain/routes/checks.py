"""Checks of the guarantees, and the proof of politeness."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from forager.api.access import Admin, User
from forager.api.database import change, exclusive_request, get_forager, look, snapshot
from forager.api.errors import responses
from forager.api.reply import reply
from forager.api.types import Moment, Name
from forager.explain import check_runs as checks
from forager.explain import schemas as check_models
from forager.explain.politeness import audit_politeness

router = APIRouter(tags=["system"])
CHECK_WITHIN_S = 60.0
NO_CHECK: dict[str, Any] = {
    "state": "none",
    **dict.fromkeys(
        ("id", "started_at", "started_by", "has_files", "is_deep", "heard_at", "ended_at", "error", "result")
    ),
    **dict.fromkeys(("done", "total"), 0),
}


@router.post("/api/check", status_code=202, response_model=check_models.CheckJob, responses=responses(409))
async def start_check(
    request: Request,
    who: Admin,
    *,
    files: Annotated[bool, Query(description="Look for stored files too.")] = False,
    deep: Annotated[bool, Query(description="Read bodies, history and schema from end to end, too.")] = False,
) -> Response:
    """Start a check whether the promises are kept, in one snapshot; one is under way at a time. `GET /api/check` shows
    how far it is and what came of it."""
    async with change(request, who) as deed:
        job = await checks.begin(deed.conn, by=deed.by, has_files=files or deep, is_deep=deep)
        await deed.note("check.start", "check", job["id"], files=files or deep, deep=deep)
    request.app.state.checking.start(job["id"], has_files=files or deep, is_deep=deep)
    return reply(job, 202)


@router.get("/api/check", response_model=check_models.CheckJob, responses=responses())
async def show_check(request: Request, _who: User) -> Response:
    """The last check: whether it is under way, how far it is, and which promises are kept."""
    async with look(request) as conn:
        return reply(await checks.newest(conn) or NO_CHECK)


@router.get("/api/audit/politeness", response_model=check_models.Politeness, responses=responses(404))
async def prove_politeness(
    request: Request,
    _who: User,
    domain: Annotated[Name | None, Query()] = None,
    since: Annotated[Moment | None, Query()] = None,
) -> Response:
    """Was every request polite? Proved from the history; one such question at a time."""
    agent = get_forager(request).settings.politeness.robots_agent
    async with exclusive_request(request), snapshot(request, CHECK_WITHIN_S) as conn:
        found = await audit_politeness(conn, agent=agent, domain=domain, since=since)
    return reply(
        {
            "is_clean": found.is_clean,
            "domains": found.pace.domains,
            "requests": found.pace.requests,
            "unpaced": found.pace.unpaced,
            "unproved": found.pace.unproved,
            "too_early": found.pace.too_early,
            "early_examples": found.pace.examples,
            "robots_visits": found.robots.visits,
            "robots_forbidden": found.robots.forbidden,
            "forbidden_examples": found.robots.examples,
            "robots_overridden": found.robots.overridden,
            "overrides": found.robots.overrides,
        }
    )
