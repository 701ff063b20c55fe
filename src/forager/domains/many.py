"""Applies one action to many domains: each is an action of its own, in its own transaction, with its own result."""

from typing import Literal

from forager.config.settings import Settings
from forager.db.query import Query
from forager.db.types import Connection
from forager.domains import service
from forager.domains.admin import SQL

Verb = Literal["pause", "resume", "reset", "reset_breaker", "rescore"]
SELECT_NAMES = Query(SQL["select_names"], str)


async def select_names(
    conn: Connection,
    *,
    status: str | None = None,
    contains: str | None = None,
    source: str | None = None,
    is_active: bool | None = None,
) -> list[str]:
    """Returns the names of the domains that match every given filter."""
    return await SELECT_NAMES.fetch(conn, status, contains, source, is_active)


async def apply_verb(
    conn: Connection, verb: Verb, name: str, *, by: str, reason: str, settings: Settings
) -> tuple[str, str]:
    """Runs one action in the caller's transaction; returns the domain's canonical name and what happened to it."""
    match verb:
        case "pause" | "resume":
            is_active = verb == "resume"
            turned = await service.switch(conn, name, is_active, by=by, reason=reason)
            if turned.was_turned:
                return turned.name, "Resumed." if is_active else "Paused."
            return turned.name, "It was not paused." if is_active else "It was paused already."
        case "reset":
            reset = await service.reset(conn, name, by=by, reason=reason)
            return reset.name, f"It is {reset.status}; {reset.reopened + reset.revisited:,} pages are visited again."
        case "reset_breaker":
            rest_s = settings.failures.breaker_reset
            closed = await service.reset_breaker(conn, name, by=by, reason=reason, rest_s=rest_s)
            return closed.name, f"Its breaker was {closed.was.replace('_', ' ')} and is closed."
        case "rescore":
            scored = await service.rescore(conn, name, is_scored=settings.crawl.domain_order == "smart")
            return scored.name, f"Its score is {scored.score:,.0f}."
