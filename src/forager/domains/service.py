"""Operator actions on a domain: reset it or its breaker, pause, resume, block, change its settings."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import with_config

from forager.config.cipher import PasswordCipher
from forager.db.rows import RECORD
from forager.db.types import Connection
from forager.domains import admin as domains
from forager.domains import settings
from forager.domains import store as domain_store
from forager.domains.admin import OPERATOR, STANDING_STILL, LockedDomain
from forager.domains.cooldown import sign_moves
from forager.domains.denied import require_allowed
from forager.domains.lookup import canonical_name, known_name
from forager.domains.settings import Configured
from forager.domains.status import DomainStatus, can_transition
from forager.errors import ConflictError, NotFoundError
from forager.frontier import admin as pages
from forager.frontier import claim
from forager.frontier import revisit_store as revisits
from forager.stats import store as stats
from forager.urls.domain import origin_of

MOST_SEEDS = 100
"""Seeds that are retried at once in a domain with nothing waiting."""
ROBOTS_DENIED = "robots_denied"
"""The reason code of a block by a robots.txt that forbids everything."""
PENDING, BLOCKED, EXHAUSTED = DomainStatus.PENDING, DomainStatus.BLOCKED, DomainStatus.EXHAUSTED


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class Reset:
    name: str
    was: DomainStatus
    status: DomainStatus
    is_active: bool
    reopened: int
    """Failed pages that are retried."""
    revisited: int
    """Fetched pages that are visited again."""
    reopened_files: int = 0
    """Failed images, sitemaps and feeds that are retried."""


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class BreakerReset:
    name: str
    was: str
    is_leased: bool


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class Switched:
    name: str
    is_active: bool
    was_turned: bool
    is_leased: bool


@dataclass(frozen=True, slots=True)
class DomainScore:
    name: str
    score: float


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class Blocked:
    name: str
    was: DomainStatus
    rest_s: float | None
    """None: until an operator lifts it."""
    was_leased: bool
    was_known: bool = True
    """False: the domain was added by the block, before its first visit."""


async def reset(conn: Connection, name: str, *, by: str, reason: str, also_gone: bool = False) -> Reset:
    """Clears whatever held the domain back: it becomes pending and due now, or stays active.

    Pages that failed or were refused are retried. A domain that is exhausted, or has nothing waiting, is crawled again
    completely.
    """
    held = await hold_domain(conn, name)
    if can_transition(held.status, PENDING):
        await domains.move(conn, held.name, PENDING, by=by, reason=reason)
    else:
        await domains.note(conn, held.id, by=by, reason=reason)
    requeued = await pages.requeue_domain(conn, held.id, also_gone=also_gone, by=by)
    reopened = requeued.pages - requeued.files
    is_done = held.status is EXHAUSTED or not held.frontier_size + requeued.pages
    revisited = await pages.revisit_domain(conn, held.id, by=by) if is_done else 0
    await pages.run_retries_now(conn, held.id)
    await domains.reset_domain(conn, held.id, reopened=requeued.pages)
    if held.status in STANDING_STILL:
        reopened += await _requeue_home(conn, held, by=by)
    status = PENDING if can_transition(held.status, PENDING) else held.status
    return Reset(held.name, held.status, status, held.is_active, reopened, revisited, requeued.files)


async def reset_breaker(conn: Connection, name: str, *, by: str, reason: str, rest_s: float) -> BreakerReset:
    """Closes only the breaker: requests resume at the crawl delay. `rest_s` is the pause the breaker causes."""
    held = await hold_domain(conn, name)
    await domains.reset_breaker(conn, held.id, rest_s=rest_s)
    await domains.note(conn, held.id, by=by, reason=reason)
    return BreakerReset(held.name, held.breaker_state, held.claimed_by is not None)


async def switch(conn: Connection, name: str, is_active: bool, *, by: str, reason: str) -> Switched:
    """Pauses or resumes a domain. The worker that holds it finishes open requests and releases it."""
    held = await hold_domain(conn, name)
    await sign_moves(conn, by=by, reason_code=OPERATOR, reason=reason)
    was_turned = await domains.switch(conn, held.id, is_active)
    return Switched(held.name, is_active, was_turned, held.claimed_by is not None)


async def block(
    conn: Connection, name: str, *, by: str, reason: str, rest_s: float | None = None, hush_s: float = 0.0
) -> Blocked:
    """Blocks visits until an operator resets the domain, or for `rest_s`. Ends a lease at once; its late results are
    rejected. Adds an unknown domain, so that links to it are not followed later.

    `hush_s` is how long the lease holder may not know of the block: during that time no other worker sends requests to
    the site.
    """
    was_known = await add_unknown(conn, name)
    held = await hold_domain(conn, name)
    if held.status is BLOCKED:
        await domains.renew_block(conn, held.id, reason=reason, rest_s=rest_s)
        await domains.note(conn, held.id, by=by, reason=reason)
    else:
        if not can_transition(held.status, BLOCKED):
            await domains.move(conn, held.name, PENDING, by=by, reason="on its way to a block")
        await domains.move(conn, held.name, BLOCKED, by=by, reason=reason, rest_s=rest_s, hush_s=hush_s)
    if held.claimed_by is not None:
        await release_tasks(conn, held.id)
    return Blocked(held.name, held.status, rest_s, held.claimed_by is not None, was_known)


async def add_unknown(conn: Connection, name: str) -> bool:
    """Adds a domain without pages unless it is known; returns whether it was. A name without a dot, a colon or a
    scheme is a typing error, and the NotFoundError is raised."""
    try:
        await known_name(conn, name)
    except NotFoundError:
        new = canonical_name(name)
        if not set(".:") & set(new):
            raise
        await require_allowed(conn, [new])
        base = name if "://" in name else f"https://{new}"
        await domain_store.add_domains(conn, {new: origin_of(base)}, source=OPERATOR, run=None)
        return False
    return True


async def rescore(conn: Connection, name: str, *, is_scored: bool) -> DomainScore:
    """Recomputes the domain's score now instead of within the hour. `is_scored`: whether scores decide the order."""
    held = await hold_domain(conn, name)
    score = await domain_store.score_domain(conn, held.id, is_scored=is_scored)
    if score is None:
        raise ConflictError(
            f"{held.name} is {held.status}: it has no turn, so it has no score. Reset it first.", "domain_without_turn"
        )
    return DomainScore(held.name, score)


async def configure(
    conn: Connection,
    name: str,
    changes: Mapping[str, Any],
    *,
    by: str,
    cipher: PasswordCipher,
    refresh_every_s: float | None,
    reason: str | None = None,
) -> Configured:
    """Changes crawl settings of a domain: name → value as a person writes it, None takes it back. Adds an unknown
    domain, so that the settings hold before its first request. A domain that its robots.txt blocks is reset when
    robots.txt is overridden."""
    was_known = await add_unknown(conn, name)
    held = await hold_domain(conn, name)
    done = await settings.configure(
        conn, held, changes, by=by, cipher=cipher, refresh_every_s=refresh_every_s, reason=reason
    )
    if done.changes.get("obey_robots") is False and await domains.block_reason(conn, held.id) == ROBOTS_DENIED:
        await reset(conn, held.name, by=by, reason="its robots.txt is overridden")
    return done if was_known else replace(done, is_new=True)


async def release_tasks(conn: Connection, domain_id: int) -> None:
    """Frees the tasks of a lease that was ended; they no longer count against any limit."""
    freed = await claim.free_tasks(conn, [domain_id])
    await domain_store.return_claims(conn, freed)
    for run, _, count, _ in freed:
        await stats.return_pages(conn, run, count)


async def _requeue_home(conn: Connection, held: LockedDomain, *, by: str) -> int:
    """Requeues the start pages: a reactivated domain with nothing waiting would be exhausted before its first
    request."""
    homes = await revisits.requeue_start_pages(conn, [held.id], by=by, most_seeds=MOST_SEEDS)
    reopened = homes.get(held.id, 0)
    await domains.reset_domain(conn, held.id, reopened=reopened)
    return reopened


async def hold_domain(conn: Connection, name: str) -> LockedDomain:
    known = await known_name(conn, name)
    assert known is not None
    held = await domains.hold(conn, known)
    assert held is not None, "a domain that was just found is never removed in between"
    return held
