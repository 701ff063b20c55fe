"""One short function per statement of `queries.sql`. Opens no transactions: the floor above does."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forager.db import statements
from forager.records import Lease
from forager.urls import registrable

SQL = statements.load("forager.domains")


@dataclass(frozen=True, slots=True)
class RobotsCopy:
    """An origin's robots.txt as it was fetched, or why it could not be had."""

    domain_id: int
    origin: str
    text: str | None
    status_code: int | None
    error: str | None
    ttl_s: float


@dataclass(frozen=True, slots=True)
class Visits:
    """What a batch did in one domain."""

    closed: int = 0
    ok: int = 0
    errors: int = 0
    retries: int = 0


@dataclass(frozen=True, slots=True)
class Release:
    """How a lease is handed back."""

    lease: Lease
    wait_s: float
    """What is left of the pace, for the successor."""
    rest_s: float = 0.0
    """A cooldown; nothing is claimed before."""
    status: str | None = None
    reason_code: str | None = None
    reason: str | None = None


async def add_domains(conn: Any, bases: Mapping[str, str], *, source: str, run: int | None) -> None:
    """Domains by name with the URL they were met at; known ones stay as they are."""
    names = sorted(bases)
    if names:
        parents = [registrable(name) for name in names]
        await conn.execute(SQL["add_domains"], names, parents, [bases[name] for name in names], source, run)


async def find_domains(conn: Any, names: Iterable[str]) -> dict[str, int]:
    return {row["name"]: row["id"] for row in await conn.fetch(SQL["find_domains"], list(names))}


async def count_discovered(conn: Any, pages: Mapping[int, int], *, run: int | None) -> None:
    if pages:
        await conn.execute(SQL["count_discovered"], list(pages), list(pages.values()), run)


async def wake(conn: Any, domain_ids: Iterable[int]) -> None:
    await conn.execute(SQL["wake"], list(domain_ids))


async def count_reopened(conn: Any, pages: Mapping[int, int]) -> None:
    if pages:
        await conn.execute(SQL["count_reopened"], list(pages), list(pages.values()))


async def wake_unreachable(conn: Any, names: Sequence[str]) -> None:
    await conn.execute(SQL["wake_unreachable"], names)


async def adopt_domains(conn: Any, run: int, *, names: Sequence[str], parents: Sequence[str], everything: bool) -> None:
    await conn.execute(SQL["adopt_domains"], run, names, parents, everything)


async def hold_leases(conn: Any, leases: Iterable[tuple[int, int]], *, worker: int) -> set[tuple[int, int]]:
    """Of these (domain, version), those that are still ours; their rows stay locked until the transaction ends."""
    pairs = sorted(set(leases))
    rows = await conn.fetch(
        SQL["hold_leases"], [domain for domain, _ in pairs], [version for _, version in pairs], worker
    )
    return {(row["id"], row["version"]) for row in rows}


async def count_visits(conn: Any, visits: Mapping[int, Visits], waits: Mapping[int, float], *, lease_s: float) -> None:
    counts = visits.values()
    await conn.execute(
        SQL["count_visits"],
        list(visits),
        [count.closed for count in counts],
        [count.ok for count in counts],
        [count.errors for count in counts],
        [count.retries for count in counts],
        [waits.get(domain, 0.0) for domain in visits],
        lease_s,
    )


async def count_claims(conn: Any, pages: Mapping[int, int]) -> None:
    if pages:
        await conn.execute(SQL["count_claims"], list(pages), list(pages.values()))


async def return_claims(conn: Any, freed: Sequence[tuple[int, int, int]]) -> None:
    """Run, domain, pages."""
    if freed:
        await conn.execute(SQL["return_claims"], *map(list, zip(*freed, strict=True)))


async def renew_leases(conn: Any, *, worker: int, lease_s: float) -> dict[int, int]:
    """Domain → version of everything this worker still holds."""
    return {row["id"]: row["version"] for row in await conn.fetch(SQL["renew_leases"], worker, lease_s)}


async def release(
    conn: Any,
    releases: Sequence[Release],
    *,
    max_depth: int,
    patterns: tuple[list[str] | None, list[str] | None, list[str] | None],
) -> None:
    await conn.execute(
        SQL["release"],
        [release.lease.domain_id for release in releases],
        [release.wait_s for release in releases],
        [release.rest_s for release in releases],
        [release.reason_code for release in releases],
        [release.reason for release in releases],
        max_depth,
        *patterns,
        [release.status for release in releases],
    )


async def free_lost_leases(
    conn: Any, *, dead_after_s: float, delay_s: float = 0.0, strays_of: int | None = None
) -> dict[int, str]:
    """Id and name of the domains that were taken from dead or silent workers, and from one that knows of no lease.

    `delay_s` is the pace a successor keeps.
    """
    rows = await conn.fetch(SQL["free_lost_leases"], dead_after_s, delay_s, strays_of)
    return {row["id"]: row["name"] for row in rows}


async def find_robots(conn: Any, domain_ids: Sequence[int]) -> list[RobotsCopy]:
    rows = await conn.fetch(SQL["find_robots"], domain_ids)
    return [
        RobotsCopy(row["domain_id"], row["origin"], row["robots_txt"], row["robots_status_code"], None, row["ttl_s"])
        for row in rows
    ]


async def store_robots(conn: Any, copies: Sequence[RobotsCopy]) -> None:
    await conn.execute(
        SQL["store_robots"],
        [copy.domain_id for copy in copies],
        [copy.origin for copy in copies],
        [copy.text for copy in copies],
        [copy.status_code for copy in copies],
        [copy.error for copy in copies],
        [copy.ttl_s for copy in copies],
    )


async def next_ready(conn: Any, run: int, *, max_pages_per_domain: int | None) -> tuple[bool, float | None]:
    """Whether any domain of the run is leased, and in how many seconds the next one may be claimed (None: never)."""
    row = await conn.fetchrow(SQL["next_ready"], run, max_pages_per_domain)
    return row["is_held"], row["wait_s"]
