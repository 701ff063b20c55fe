"""Operator actions on domains, one short function per statement; only `move` decides anything: what is allowed.

Opens no transactions: the caller does, and calls `sign_moves` first, so that the history records who and why.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from forager.db import statements
from forager.db.types import Connection
from forager.domains.cooldown import sign_moves
from forager.domains.status import MOVES, DomainStatus, can_transition
from forager.errors import UsageError

SQL = statements.load("forager.domains", "admin.sql")

OPERATOR = "operator"
"""The reason code of operator decisions."""
STANDING_STILL = frozenset({DomainStatus.BLOCKED, DomainStatus.UNREACHABLE})


@dataclass(frozen=True, slots=True)
class LockedDomain:
    """A domain whose row this transaction has locked."""

    id: int
    name: str
    status: DomainStatus
    version: int
    is_active: bool
    claimed_by: int | None
    frontier_size: int
    is_adaptive: bool
    revisit_every_s: float | None
    breaker_state: str
    images_policy: str | None


async def hold(conn: Connection, name: str) -> LockedDomain | None:
    """Returns the domain and locks its row until the transaction ends."""
    row = await conn.fetchrow(SQL["hold_domain"], name)
    return LockedDomain(**dict(row) | {"status": DomainStatus(row["status"])}) if row else None


async def move(
    conn: Connection,
    name: str,
    to: DomainStatus,
    *,
    by: str,
    reason: str,
    expected_version: int | None = None,
    rest_s: float | None = None,
    hush_s: float = 0.0,
) -> bool:
    """Changes the status if the transition is allowed, and ends the lease if there is one; the caller frees its locked
    tasks.

    Returns False if nothing was changed: the domain is unknown, already has that status, or was changed since
    `expected_version`. `rest_s` ends a block automatically; `hush_s` is how long the next lease holder sends no
    requests, because the previous one may still be sending.
    """
    held = await hold(conn, name)
    if held is None or held.status is to or expected_version not in {None, held.version}:
        return False
    check_status_change(held, to)
    await sign_moves(conn, by=by, reason_code=OPERATOR, reason=reason)
    code = OPERATOR if to in STANDING_STILL else None
    why = reason if to in STANDING_STILL else None
    moved = await conn.fetchval(SQL["move_domain"], held.id, held.version, to.value, code, why, rest_s, hush_s)
    return moved is not None


def check_status_change(held: LockedDomain, to: DomainStatus) -> None:
    if not can_transition(held.status, to):
        allowed = ", ".join(sorted(MOVES[held.status]))
        raise UsageError(f"{held.name} is {held.status} and cannot become {to}; it may become {allowed}.")
    if to is DomainStatus.EXHAUSTED and held.frontier_size:
        raise UsageError(f"{held.name} cannot become {to}: {held.frontier_size:,} of its pages still wait.")


async def note(conn: Connection, domain_id: int, *, by: str, reason: str, code: str = OPERATOR) -> None:
    await conn.execute(SQL["note_domain"], domain_id, code, reason, by)


async def renew_block(conn: Connection, domain_id: int, *, reason: str, rest_s: float | None) -> None:
    await conn.execute(SQL["renew_block"], domain_id, OPERATOR, reason, rest_s)


async def reset_domain(conn: Connection, domain_id: int, *, reopened: int) -> None:
    await conn.execute(SQL["reset_domain"], domain_id, reopened)


async def reset_breaker(conn: Connection, domain_id: int, *, rest_s: float) -> None:
    await conn.execute(SQL["reset_breaker"], domain_id, rest_s)


async def switch(conn: Connection, domain_id: int, is_active: bool) -> bool:
    return await conn.fetchval(SQL["switch_domain"], domain_id, is_active) is not None


async def block_reason(conn: Connection, domain_id: int) -> str | None:
    """Returns the code of what blocks a domain; None: nothing."""
    code: str | None = await conn.fetchval(SQL["block_reason"], domain_id)
    return code


async def hold_new(conn: Connection, domain_ids: Collection[int], *, by: str, reason: str) -> None:
    """Pauses domains in the transaction that adds them."""
    if domain_ids:
        await sign_moves(conn, by=by, reason_code=OPERATOR, reason=reason)
        await conn.execute(SQL["hold_new"], sorted(domain_ids))


async def forget_networks(conn: Connection, domain_id: int) -> None:
    """Takes back what the run of a domain was allowed, so that a refresh does not allow it again."""
    await conn.execute(SQL["forget_networks"], domain_id)


async def reopen(conn: Connection, domain_id: int) -> None:
    """Makes a domain claimable after its scope changed."""
    await conn.execute(SQL["reopen_domain"], domain_id)


async def count_run_pages(conn: Connection, domain_id: int, *, budget: int) -> None:
    """Counts what the current run used so far. Call it before a page budget is set for the first time."""
    await conn.execute(SQL["count_run_pages"], domain_id, budget)


async def set_cooldown(conn: Connection, domain_id: int, *, refresh_every_s: float | None) -> None:
    await conn.execute(SQL["set_cooldown"], domain_id, refresh_every_s)


async def block_claims(conn: Connection, domain_ids: Collection[int], *, seconds: float) -> dict[int, datetime | None]:
    """Blocks claims of these domains for a while. Returns when each could have been claimed otherwise, if at all."""
    rows = await conn.fetch(SQL["fence_domains"], list(domain_ids), seconds)
    return {row["id"]: row["next_crawl_after"] for row in rows}


async def renew_claim_block(conn: Connection, domain_id: int, *, seconds: float) -> None:
    await conn.execute(SQL["renew_claim_block"], domain_id, seconds)


async def allow_claims(conn: Connection, before: Mapping[int, datetime | None], *, seconds: float) -> None:
    await conn.execute(SQL["unfence_domains"], list(before), list(before.values()), seconds)


async def holders(conn: Connection, domain_ids: Collection[int]) -> list[tuple[int, bool]]:
    """Returns the domains that a worker holds, and whether that worker is lost."""
    return [tuple(row) for row in await conn.fetch(SQL["held_domains"], list(domain_ids))]


async def revoke(conn: Connection, domain_ids: Collection[int], *, hush_s: float) -> list[int]:
    """Ends their leases; the caller frees their locked tasks. Returns the domains that had a lease."""
    return [row["id"] for row in await conn.fetch(SQL["revoke_leases"], list(domain_ids), hush_s)]
