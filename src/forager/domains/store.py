"""One short function per statement of `queries.sql`. Opens no transactions: the floor above does."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from forager.db import statements
from forager.db.query import BulkCommand, Query
from forager.db.types import Connection
from forager.domains.cooldown import sign_moves
from forager.domains.rows import (
    DomainName,
    ExcessLeases,
    HeldLease,
    LastmodCounts,
    NextReady,
    ReleaseColumns,
    RenewedLease,
    ScoredDomains,
    StoredRobots,
    VisitColumns,
)
from forager.frontier.models import Lease
from forager.urls.domain import registrable

SQL = statements.load("forager.domains")
ADD_SEED_DOMAINS = Query(SQL["add_seed_domains"], DomainName)
FIND_DOMAINS = Query(SQL["find_domains"], DomainName)
ALLOW_NETWORKS = Query(SQL["allow_networks"], int)
HOLD_LEASES = Query(SQL["hold_leases"], HeldLease)
LASTMODS_OF = Query(SQL["lastmods_of"], LastmodCounts)
WITHOUT_LINKS = Query(SQL["without_links"], int)
COUNT_VISITS = BulkCommand(SQL["count_visits"], VisitColumns)
RENEW_LEASES = Query(SQL["renew_leases"], RenewedLease)
SURPLUS = Query(SQL["find_extra_domains"], ExcessLeases)
RELEASE = BulkCommand(SQL["release"], ReleaseColumns)
FREE_LOST_LEASES = Query(SQL["free_lost_leases"], DomainName)
FIND_ROBOTS = Query(SQL["find_robots"], StoredRobots)
FORGIVE_UNREACHABLE = Query(SQL["reset_unreachable"], bool)
SITEMAPS_OF_RUN = Query(SQL["sitemaps_of_run"], str)
NEXT_READY = Query(SQL["next_ready"], NextReady)
SCORE_DOMAINS = Query(SQL["score_domains"], ScoredDomains)
SCORE_IMAGINED = Query(SQL["preview_score"], float)
PUT_OFF_S = 5.0
"""A crawl does not stay for a try that was put off for longer: it keeps in the queue."""


@dataclass(frozen=True, slots=True)
class RobotsCopy:
    """An origin's robots.txt as it was fetched, or why it could not be had."""

    domain_id: int
    origin: str
    text: str | None
    status_code: int | None
    error: str | None
    ttl_s: float
    requests: tuple[datetime, ...] = ()
    """When it was asked for; more than once where there were redirects or tries."""
    pace_ms: int = 0
    sitemaps: tuple[str, ...] = ()
    """What its Sitemap lines name."""
    is_insecure: bool = False
    """It could not be had because the site's certificate is not valid."""
    silence_s: float = 0.0
    """What a Retry-After asked for instead of an answer; the whole domain keeps to it."""


@dataclass(frozen=True, slots=True)
class Visits:
    """What a batch did in one domain."""

    closed: int = 0
    """First visits and retries that ended: they leave the frontier. Revisits were never in it."""
    ok: int = 0
    errors: int = 0
    retries: int = 0
    """Pages that stay in the frontier for another try."""
    depth: int = 0
    streak: int = 0
    streak_code: str | None = None
    is_new_streak: bool = False
    images: int = 0
    """Images its pages were never seen to show before."""


@dataclass(frozen=True, slots=True)
class Seeded:
    """What a list of seeds says of one domain."""

    base_url: str
    rank: int | None
    """The best of its seeds."""
    pages: int


@dataclass(frozen=True, slots=True)
class RequestState:
    """How a domain is asked at this moment: what a successor needs to keep its pace and its breaker."""

    wait_s: float
    """No request before."""
    delay_s: float | None = None
    """Between requests, as it is in force."""
    extra_s: float = 0.0
    """Of it, what was added because the server answered slowly."""
    response_s: float | None = None
    """How long the server takes as a rule; None: not known."""
    breaker_state: str = "closed"
    breaker_failures: int = 0
    breaker_open_s: float | None = None
    """How long ago the breaker opened; None: it is closed."""
    breaker_resets: int = 0
    """How often somebody closed it by hand, as far as the holder knows: what it says of a breaker is old else."""


class LeaseRenewal(NamedTuple):
    """What a holder hears of its domain with a heartbeat."""

    may_go_on: bool
    """Neither paused nor in its maintenance window."""
    breaker_resets: int
    """How often somebody closed the breaker by hand."""


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
    is_fallback: bool = False
    """The status is for a domain that has nothing left; one that has goes on."""
    is_spent: bool = False
    """It had its turn, its page budget or all it had is used up: others come first now."""
    standing: RequestState | None = None
    """None leaves what is known of pace and breaker as it is."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """What becomes of domains that are handed back."""

    most_returns: int = 3
    """A domain that comes back from a block so often and is blocked again stays blocked."""
    refresh_every_s: float | None = 14 * 86400.0
    """When an exhausted domain is visited again; None: never."""
    is_scored: bool = True
    """False: in the order they were met."""


async def add_domains(conn: Connection, bases: Mapping[str, str], *, source: str, run: int | None) -> None:
    """Domains by name with the URL they were met at; known ones stay as they are."""
    names = sorted(bases)
    if names:
        parents = [registrable(name) for name in names]
        await conn.execute(SQL["add_domains"], names, parents, [bases[name] for name in names], source, run)


async def add_seed_domains(
    conn: Connection, seeded: Mapping[str, Seeded], *, source: str, run: int | None, is_scored: bool
) -> dict[str, int]:
    """Domains by name; answers the ids of those that are new, in whose counters the pages are already."""
    if not seeded:
        return {}
    added = await ADD_SEED_DOMAINS.fetch(
        conn,
        list(seeded),
        [registrable(name) for name in seeded],
        [domain.base_url for domain in seeded.values()],
        [domain.rank for domain in seeded.values()],
        [domain.pages for domain in seeded.values()],
        source,
        run,
        is_scored,
    )
    return {domain.name: domain.id for domain in added}


async def raise_ranks(conn: Connection, ranks: Mapping[int, int]) -> None:
    if ranks:
        await conn.execute(SQL["raise_ranks"], list(ranks), list(ranks.values()))


async def stream_names(conn: Connection, run: int) -> AsyncIterator[tuple[str, str]]:
    """Name and registrable domain of a run's domains, which may be millions. Needs an open transaction."""
    async for row in conn.cursor(SQL["names_of_run"], run, prefetch=5000):
        yield row["name"], row["parent_domain"]


async def stream_known_names(conn: Connection, after: int) -> AsyncIterator[tuple[int, str]]:
    """Id and name of all domains that are there for their pages and came after this one, oldest first. Needs an open
    transaction."""
    async for row in conn.cursor(SQL["known_names"], after, prefetch=5000):
        yield row["id"], row["name"]


async def assign_free_domains(conn: Connection, run: int, *, limit: int) -> int:
    """How many domains that no running run has are the standing run's now."""
    adopted: int = await conn.fetchval(SQL["assign_free_domains"], run, limit)
    return adopted


async def find_domains(conn: Connection, names: Iterable[str]) -> dict[str, int]:
    return {domain.name: domain.id for domain in await FIND_DOMAINS.fetch(conn, list(names))}


async def count_discovered(conn: Connection, pages: Mapping[int, int], *, run: int | None) -> None:
    if pages:
        await conn.execute(SQL["count_discovered"], list(pages), list(pages.values()), run)


async def wake_due(conn: Connection, run: int) -> None:
    await conn.execute(SQL["wake_due"], run)


async def wake(conn: Connection, domain_ids: Iterable[int]) -> None:
    await conn.execute(SQL["wake"], list(domain_ids))


async def update_requeue_counts(conn: Connection, pages: Mapping[int, int]) -> None:
    if pages:
        await conn.execute(SQL["update_requeue_counts"], list(pages), list(pages.values()))


async def wake_unreachable(conn: Connection, names: Sequence[str]) -> None:
    await conn.execute(SQL["wake_unreachable"], names)


async def allow_networks(conn: Connection, names: Sequence[str], networks: Sequence[str]) -> list[int]:
    """Stores what may be dialled for these domains besides public addresses. Returns their ids."""
    return await ALLOW_NETWORKS.fetch(conn, list(names), list(networks))


async def assign_domains(
    conn: Connection, run: int, *, names: Sequence[str], parents: Sequence[str], everything: bool
) -> None:
    await conn.execute(SQL["assign_domains"], run, names, parents, everything)


async def hold_leases(
    conn: Connection, leases: Iterable[tuple[int, int]], *, worker: int
) -> dict[tuple[int, int], bool]:
    """Of these (domain, version), those that are still ours, each with whether we may go on with it.

    Their rows stay locked until the transaction ends.
    """
    pairs = sorted(set(leases))
    held = await HOLD_LEASES.fetch(conn, [domain for domain, _ in pairs], [version for _, version in pairs], worker)
    return {(lease.id, lease.version): lease.may_go_on for lease in held}


async def lastmods_of(conn: Connection, domain_id: int) -> tuple[int, int]:
    """What its sitemaps claimed of changes so far, and how much of it was true."""
    return await LASTMODS_OF.one(conn, domain_id)


async def count_lastmods(conn: Connection, tested: Mapping[int, tuple[int, int]]) -> None:
    """Domain → claims, and how many of them were true."""
    claims, truths = zip(*tested.values(), strict=True)
    await conn.execute(SQL["count_lastmods"], list(tested), list(claims), list(truths))


async def without_links(conn: Connection, domain_ids: Iterable[int]) -> set[int]:
    return set(await WITHOUT_LINKS.fetch(conn, list(domain_ids)))


async def count_visits(
    conn: Connection, visits: Mapping[int, Visits], standings: Mapping[int, RequestState], *, lease_s: float
) -> None:
    """A domain without a standing keeps the one it has."""
    counts = visits.values()
    standing = _standing_columns([standings.get(domain) for domain in visits])
    columns = VisitColumns(
        domain_id=list(visits),
        closed=[count.closed for count in counts],
        ok=[count.ok for count in counts],
        errors=[count.errors for count in counts],
        retries=[count.retries for count in counts],
        depth=[count.depth for count in counts],
        streak=[count.streak for count in counts],
        streak_code=[count.streak_code for count in counts],
        is_new_streak=[count.is_new_streak for count in counts],
        lease_s=lease_s,
        wait_s=standing.wait_s,
        delay_s=standing.delay_s,
        extra_s=standing.extra_s,
        response_s=standing.response_s,
        breaker_state=standing.breaker_state,
        breaker_failures=standing.breaker_failures,
        open_s=standing.open_s,
        resets=standing.resets,
        images=[count.images for count in counts],
    )
    await COUNT_VISITS.execute(conn, columns)


class _StandingColumns(NamedTuple):
    wait_s: list[float | None]
    delay_s: list[float | None]
    extra_s: list[float | None]
    response_s: list[float | None]
    breaker_state: list[str | None]
    breaker_failures: list[int | None]
    open_s: list[float | None]
    resets: list[int | None]


def _standing_columns(standings: Sequence[RequestState | None]) -> _StandingColumns:
    return _StandingColumns(
        wait_s=[known.wait_s if known else None for known in standings],
        delay_s=[known.delay_s if known else None for known in standings],
        extra_s=[known.extra_s if known else None for known in standings],
        response_s=[known.response_s if known else None for known in standings],
        breaker_state=[known.breaker_state if known else None for known in standings],
        breaker_failures=[known.breaker_failures if known else None for known in standings],
        open_s=[known.breaker_open_s if known else None for known in standings],
        resets=[known.breaker_resets if known else None for known in standings],
    )


async def count_claims(conn: Connection, pages: Mapping[int, int]) -> None:
    if pages:
        await conn.execute(SQL["count_claims"], list(pages), list(pages.values()))


async def return_claims(conn: Connection, freed: Sequence[tuple[int, int, int]]) -> None:
    """Run, domain, pages."""
    if freed:
        await conn.execute(SQL["return_claims"], *map(list, zip(*freed, strict=True)))


async def renew_leases(conn: Connection, *, worker: int, lease_s: float) -> dict[tuple[int, int], LeaseRenewal]:
    """(Domain, version) of everything this worker still holds, each with what an operator said of it meanwhile."""
    renewed = await RENEW_LEASES.fetch(conn, worker, lease_s)
    return {(lease.id, lease.version): LeaseRenewal(lease.may_go_on, lease.breaker_resets) for lease in renewed}


async def find_extra_domains(
    conn: Connection, *, worker: int, run: int, heard_s: float
) -> tuple[list[int], dict[int, int]]:
    """Domains this worker could spare, and how many each of those workers holds who have next to nothing."""
    found = await SURPLUS.first(conn, worker, run, heard_s)
    return (found.domains, dict(zip(found.workers, found.held, strict=True))) if found else ([], {})


async def release(
    conn: Connection,
    releases: Sequence[Release],
    *,
    max_depth: int,
    patterns: tuple[list[str] | None, list[str] | None, list[str] | None],
    keeping: Keeping,
) -> None:
    scope, include, exclude = patterns
    standing = _standing_columns([release.standing for release in releases])
    columns = ReleaseColumns(
        domain_id=[release.lease.domain_id for release in releases],
        wait_s=[release.wait_s for release in releases],
        rest_s=[release.rest_s for release in releases],
        reason_code=[release.reason_code for release in releases],
        reason=[release.reason for release in releases],
        max_depth=max_depth,
        scope_patterns=scope,
        include_patterns=include,
        exclude_patterns=exclude,
        status=[release.status for release in releases],
        most_returns=keeping.most_returns,
        refresh_every_s=keeping.refresh_every_s,
        is_scored=keeping.is_scored,
        is_spent=[release.is_spent for release in releases],
        is_fallback=[release.is_fallback for release in releases],
        delay_s=standing.delay_s,
        extra_s=standing.extra_s,
        response_s=standing.response_s,
        breaker_state=standing.breaker_state,
        breaker_failures=standing.breaker_failures,
        open_s=standing.open_s,
        resets=standing.resets,
    )
    await RELEASE.execute(conn, columns)


async def free_lost_leases(
    conn: Connection, *, dead_after_s: float, delay_s: float, strays_of: int | None = None
) -> dict[int, str]:
    """Id and name of the domains that were taken from dead or silent workers, and from one that knows of no lease.

    `delay_s` is the pace a successor keeps.
    """
    return dict(await FREE_LOST_LEASES.fetch(conn, dead_after_s, delay_s, strays_of))


async def find_robots(conn: Connection, domain_ids: Sequence[int]) -> list[RobotsCopy]:
    return [
        RobotsCopy(copy.domain_id, copy.origin, copy.robots_txt, copy.robots_status_code, None, copy.ttl_s)
        for copy in await FIND_ROBOTS.fetch(conn, domain_ids)
    ]


async def store_robots(conn: Connection, copies: Sequence[RobotsCopy]) -> None:
    """Of an origin that was asked twice, as by a worker that lost a lease and got it again, the last copy."""
    last = {(copy.domain_id, copy.origin): copy for copy in copies}.values()
    await conn.execute(
        SQL["store_robots"],
        [copy.domain_id for copy in last],
        [copy.origin for copy in last],
        [copy.text for copy in last],
        [copy.status_code for copy in last],
        [copy.error for copy in last],
        [copy.ttl_s for copy in last],
        ["\n".join(copy.sitemaps) or None for copy in last],
    )
    asked = [(copy, at) for copy in copies for at in copy.requests]
    await conn.execute(
        SQL["add_robots_requests"],
        [copy.domain_id for copy, _ in asked],
        [copy.origin for copy, _ in asked],
        [at for _, at in asked],
        [copy.pace_ms for copy, _ in asked],
    )


async def reset_unreachable(conn: Connection, domain_ids: Sequence[int]) -> int:
    """Forgets failures of these domains that our own network caused; returns how many were resting for them."""
    await sign_moves(conn, by="worker", reason_code="network_back", reason="our own network was down, not the site")
    return sum(await FORGIVE_UNREACHABLE.fetch(conn, domain_ids))


async def count_waiting(
    conn: Connection, run: int, *, labels: Sequence[str] = (), most: int, max_pages_per_domain: int | None = None
) -> int:
    """Returns how many domains of a run could be leased now, up to `most` for each label."""
    found: int = await conn.fetchval(SQL["count_waiting"], run, ["", *labels], most, max_pages_per_domain)
    return found


async def sitemaps_of_run(conn: Connection, run: int, *, limit: int) -> tuple[str, ...]:
    return tuple(await SITEMAPS_OF_RUN.fetch(conn, run, limit))


async def note_waits(conn: Connection, waits: Sequence[tuple[tuple[int, int], str, float]], *, worker: int) -> None:
    """Stores why leased domains make no request now, and for how many seconds."""
    tokens, reasons, seconds = zip(*waits, strict=True)
    ids, versions = zip(*tokens, strict=True)
    await conn.execute(SQL["note_waits"], ids, versions, reasons, seconds, worker)


async def next_ready(
    conn: Connection,
    run: int,
    *,
    max_pages_per_domain: int | None,
    labels: Sequence[str] = (),
    put_off_s: float = PUT_OFF_S,
    within_s: float = 86_400.0,
) -> tuple[bool, float | None]:
    """Whether any domain of the run is leased, and in how many seconds the next one may be claimed by a worker with
    these labels (None: never). What was put off for longer than `put_off_s`, or is due later
    than in `within_s`, is not waited for."""
    return await NEXT_READY.one(conn, run, max_pages_per_domain, ["", *labels], put_off_s, within_s)


async def score_domains(conn: Connection, *, after: int, limit: int, is_scored: bool) -> tuple[int | None, int]:
    """The last domain that was looked at, None when there was none, and how many scores were written."""
    return await SCORE_DOMAINS.one(conn, after, limit, is_scored)


async def preview_score(conn: Connection, ranks: Sequence[int], pages: Sequence[int]) -> list[float]:
    """Of domains that do not exist, by the formula of those that do."""
    return await SCORE_IMAGINED.fetch(conn, ranks, pages)


async def score_domain(conn: Connection, domain_id: int, *, is_scored: bool) -> float | None:
    """Its new score; None where it stands still and has none."""
    score: float | None = await conn.fetchval(SQL["score_domain"], domain_id, is_scored)
    return score
