"""One short function per statement of `queries.sql`. Opens no transactions: the caller does."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from forager.db import statements
from forager.db.query import BulkCommand, Query
from forager.db.types import Connection
from forager.domains.cooldown import sign_moves
from forager.domains.rows import (
    DomainBase,
    DomainName,
    ExcessLeases,
    HeldLease,
    LastmodCounts,
    NextReady,
    ReleaseColumns,
    RenewedLease,
    ScoredDomains,
    StoredRobots,
    UrgentDomains,
    UsedBudget,
    VisitColumns,
)
from forager.frontier.models import Lease
from forager.urls.domain import registrable
from forager.urls.rules import names_above

SQL = statements.load("forager.domains")
ADD_SEED_DOMAINS = Query(SQL["add_seed_domains"], DomainName)
FIND_DOMAINS = Query(SQL["find_domains"], DomainName)
OWNERS_OF = Query(SQL["owners_of"], str)
HOLD_LEASES = Query(SQL["hold_leases"], HeldLease)
LASTMODS_OF = Query(SQL["lastmods_of"], LastmodCounts)
WITHOUT_LINKS = Query(SQL["without_links"], int)
COUNT_VISITS = BulkCommand(SQL["count_visits"], VisitColumns)
COUNT_CLAIMS = Query(SQL["count_claims"], UsedBudget)
RENEW_LEASES = Query(SQL["renew_leases"], RenewedLease)
SURPLUS = Query(SQL["find_extra_domains"], ExcessLeases)
FIND_URGENT = Query(SQL["find_urgent"], UrgentDomains)
FIND_LEAST_URGENT = Query(SQL["find_least_urgent"], int)
RELEASE = BulkCommand(SQL["release"], ReleaseColumns)
FREE_LOST_LEASES = Query(SQL["free_lost_leases"], DomainName)
FIND_ROBOTS = Query(SQL["find_robots"], StoredRobots)
FORGIVE_UNREACHABLE = Query(SQL["reset_unreachable"], bool)
KNOWN_BASES = Query(SQL["known_bases"], DomainBase)
SITEMAPS_OF_RUN = Query(SQL["sitemaps_of_run"], str)
NEXT_READY = Query(SQL["next_ready"], NextReady)
SCORE_DOMAINS = Query(SQL["score_domains"], ScoredDomains)
SCORE_IMAGINED = Query(SQL["preview_score"], float)
PUT_OFF_S = 5.0
"""A crawl does not wait for a retry deferred for longer than this; the retry stays queued."""


@dataclass(frozen=True, slots=True)
class RobotsCopy:
    """An origin's robots.txt as fetched, or why it could not be fetched."""

    domain_id: int
    origin: str
    text: str | None
    status_code: int | None
    error: str | None
    ttl_s: float
    requests: tuple[datetime, ...] = ()
    """When it was requested; more than once with redirects or retries."""
    pace_ms: int = 0
    sitemaps: tuple[str, ...] = ()
    """The URLs of its Sitemap lines."""
    is_insecure: bool = False
    """It could not be fetched because the site's certificate is invalid."""
    is_refused: bool = False
    """It could not be fetched because no connection came about."""
    silence_s: float = 0.0
    """The Retry-After of a response without a robots.txt; it applies to the whole domain."""


@dataclass(frozen=True, slots=True)
class Visits:
    """What a batch did in one domain."""

    closed: int = 0
    """First visits and retries that ended and leave the frontier. Revisits are never in it."""
    ok: int = 0
    errors: int = 0
    retries: int = 0
    """Pages that stay in the frontier for a retry."""
    depth: int = 0
    streak: int = 0
    streak_code: str | None = None
    is_new_streak: bool = False
    images: int = 0
    """Images that its pages show for the first time."""


@dataclass(frozen=True, slots=True)
class Seeded:
    """What a seed list states about one domain."""

    base_url: str
    rank: int | None
    """The best rank among its seeds."""
    pages: int
    is_guess: bool = False
    """All its seeds were named without a scheme."""


@dataclass(frozen=True, slots=True)
class RequestState:
    """The current request state of a domain: what the next lease holder needs to continue its crawl delay and
    breaker."""

    wait_s: float
    """Time until the next request is allowed."""
    delay_s: float | None = None
    """The delay between requests in effect."""
    extra_s: float = 0.0
    """The part of the delay that was added because the server responded slowly."""
    response_s: float | None = None
    """The typical response time; None: unknown."""
    breaker_state: str = "closed"
    breaker_failures: int = 0
    breaker_open_s: float | None = None
    """Time since the breaker opened; None: it is closed."""
    breaker_resets: int = 0
    """How often an operator closed the breaker, as known to the lease holder; if outdated, its breaker state is
    ignored."""


class LeaseRenewal(NamedTuple):
    """What a lease holder receives about its domain with a heartbeat."""

    may_go_on: bool
    """Neither paused, nor reconfigured, nor in its maintenance window."""
    breaker_resets: int
    """How often an operator closed the breaker."""


@dataclass(frozen=True, slots=True)
class Release:
    """How a lease is released."""

    lease: Lease
    wait_s: float
    """The rest of the crawl delay, for the next lease holder."""
    rest_s: float = 0.0
    """A cooldown; the domain is not claimed before it ends."""
    status: str | None = None
    reason_code: str | None = None
    reason: str | None = None
    is_fallback: bool = False
    """The status applies only if the domain has nothing left to visit; otherwise it continues."""
    is_spent: bool = False
    """It has used its turn, its page budget or all its pages: other domains come first."""
    standing: RequestState | None = None
    """None keeps the stored crawl delay and breaker state."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """The policy for released domains."""

    most_returns: int = 3
    """A domain that is blocked again after this many returns from a block stays blocked."""
    refresh_every_s: float | None = 14 * 86400.0
    """When an exhausted domain is visited again; None: never."""
    is_scored: bool = True
    """False: domains are crawled in the order they were discovered."""


async def add_domains(conn: Connection, bases: Mapping[str, str], *, source: str, run: int | None) -> None:
    """Adds domains by name with the URL they were discovered at; known ones are unchanged."""
    names = sorted(bases)
    if names:
        parents = [registrable(name) for name in names]
        bases_of = [bases[name] for name in names]
        await conn.execute(SQL["add_domains"], names, parents, bases_of, source, run, *_above(names))


async def add_seed_domains(
    conn: Connection, seeded: Mapping[str, Seeded], *, source: str, run: int | None, is_scored: bool
) -> dict[str, int]:
    """Adds domains by name; returns the ids of new ones, whose counters already include the pages."""
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
        *_above(seeded),
    )
    return {domain.name: domain.id for domain in added}


def _above(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Returns each name with the names above it, in two columns."""
    pairs = [(name, above) for name in names for above in names_above(name)]
    return [name for name, _ in pairs], [above for _, above in pairs]


async def raise_ranks(conn: Connection, ranks: Mapping[int, int]) -> None:
    if ranks:
        await conn.execute(SQL["raise_ranks"], list(ranks), list(ranks.values()))


async def has_images_due(conn: Connection, run: int) -> bool:
    """Returns whether a domain that was added for images has some left for the run."""
    found: bool = await conn.fetchval(SQL["has_images_due"], run)
    return found


async def stream_names(conn: Connection, run: int) -> AsyncIterator[tuple[str, str]]:
    """Yields name and registrable domain of a run's domains, possibly millions. Needs an open transaction."""
    async for row in conn.cursor(SQL["names_of_run"], run, prefetch=5000):
        yield row["name"], row["parent_domain"]


async def stream_known_names(conn: Connection, after: int) -> AsyncIterator[tuple[int, str]]:
    """Yields id and name of all domains after this one that are not images-only, oldest first. Needs an open
    transaction."""
    async for row in conn.cursor(SQL["known_names"], after, prefetch=5000):
        yield row["id"], row["name"]


async def adopt_domains(conn: Connection, led: Mapping[int, int], *, run: int, is_standing: bool) -> None:
    """Takes domains into a run because seeds of it lead there: domain → the domain of that seed."""
    if led:
        await conn.execute(SQL["adopt_domains"], run, sorted(led), is_standing)
        await conn.execute(SQL["adopt_settings"], list(led), list(led.values()))


async def adopt_prefixes(conn: Connection, folders: Mapping[int, str]) -> None:
    """Adds a folder to the prefixes of each of these domains that is crawled by prefixes."""
    if folders:
        await conn.execute(SQL["adopt_prefixes"], list(folders), list(folders.values()))


async def guess_schemes(conn: Connection, bare: Iterable[str], typed: Iterable[str] = ()) -> None:
    """Notes which domains were named without a scheme, and which with https; a domain in both has https."""
    typed = set(typed)
    bare = set(bare) - typed
    if bare | typed:
        await conn.execute(SQL["guess_schemes"], sorted(bare), sorted(typed))


async def move_bases(conn: Connection, bases: Mapping[int, str]) -> None:
    """Notes the origin that is tried instead of the one that did not work."""
    if bases:
        await conn.execute(SQL["move_bases"], list(bases), list(bases.values()))


async def known_bases(conn: Connection, names: Iterable[str]) -> dict[str, str]:
    """Returns the origin of each of these domains of which something was fetched."""
    return dict(await KNOWN_BASES.fetch(conn, list(names)))


async def assign_free_domains(conn: Connection, run: int, *, limit: int) -> int:
    """Assigns domains that no active run has to the continuous run; returns their number."""
    adopted: int = await conn.fetchval(SQL["assign_free_domains"], run, limit)
    return adopted


async def find_domains(conn: Connection, names: Iterable[str]) -> dict[str, int]:
    """Returns the domains of hosts by name; subdomains may belong to a domain above them."""
    names = list(names)
    return {domain.name: domain.id for domain in await FIND_DOMAINS.fetch(conn, names, *_above(names))}


async def owners_of(conn: Connection, names: Iterable[str]) -> list[str]:
    """Returns the names of the domains that hosts belong to."""
    return await OWNERS_OF.fetch(conn, sorted(set((await find_domains(conn, names)).values())))


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


async def uncount_pages(conn: Connection, pages: Mapping[int, int]) -> None:
    """Subtracts pages that turned out to be sitemaps or feeds."""
    if pages:
        await conn.execute(SQL["uncount_pages"], list(pages), list(pages.values()))


async def wake_unreachable(conn: Connection, names: Sequence[str]) -> None:
    await conn.execute(SQL["wake_unreachable"], names)


async def assign_domains(
    conn: Connection, run: int, *, names: Sequence[str], parents: Sequence[str], everything: bool
) -> None:
    await conn.execute(SQL["assign_domains"], run, names, parents, everything)


async def hold_leases(
    conn: Connection, leases: Iterable[tuple[int, int]], *, worker: int
) -> dict[tuple[int, int], bool]:
    """Returns those of these (domain, version) leases that are still ours, each with whether work may continue.

    Locks their rows until the transaction ends.
    """
    pairs = sorted(set(leases))
    held = await HOLD_LEASES.fetch(conn, [domain for domain, _ in pairs], [version for _, version in pairs], worker)
    return {(lease.id, lease.version): lease.may_go_on for lease in held}


async def lastmods_of(conn: Connection, domain_id: int) -> tuple[int, int]:
    """Returns the number of changes its sitemaps claimed, and how many of the claims were true."""
    return await LASTMODS_OF.one(conn, domain_id)


async def count_lastmods(conn: Connection, tested: Mapping[int, tuple[int, int]]) -> None:
    """Takes domain → claims, and how many of them were true."""
    claims, truths = zip(*tested.values(), strict=True)
    await conn.execute(SQL["count_lastmods"], list(tested), list(claims), list(truths))


async def without_links(conn: Connection, domain_ids: Iterable[int]) -> set[int]:
    return set(await WITHOUT_LINKS.fetch(conn, list(domain_ids)))


async def count_visits(
    conn: Connection, visits: Mapping[int, Visits], standings: Mapping[int, RequestState], *, lease_s: float
) -> None:
    """Records visits. A domain without a request state keeps the stored one."""
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


async def count_claims(
    conn: Connection, pages: Mapping[int, int], *, refresh_every_s: float | None, max_pages_per_domain: int | None
) -> list[UsedBudget]:
    """Charges pages to the budgets of their domains. Returns the budgets that this used up."""
    charged = {domain: count for domain, count in pages.items() if count}
    if not charged:
        return []
    given = (list(charged), list(charged.values()), refresh_every_s, max_pages_per_domain)
    budgets = await COUNT_CLAIMS.fetch(conn, *given)
    return [budget for budget in budgets if budget.pages_left is not None and budget.pages_left <= 0]


async def return_claims(conn: Connection, freed: Sequence[tuple[int, int, int, int]]) -> None:
    """Takes run, domain, pages and how many of them the domain's page budget counts."""
    if charged := [(run, domain, count) for run, domain, _, count in freed if count]:
        await conn.execute(SQL["return_claims"], *map(list, zip(*charged, strict=True)))


async def renew_leases(conn: Connection, *, worker: int, lease_s: float) -> dict[tuple[int, int], LeaseRenewal]:
    """Returns the (domain, version) of every lease this worker still holds, each with the operator's latest changes."""
    renewed = await RENEW_LEASES.fetch(conn, worker, lease_s)
    return {(lease.id, lease.version): LeaseRenewal(lease.may_go_on, lease.breaker_resets) for lease in renewed}


async def find_extra_domains(
    conn: Connection, *, worker: int, run: int, heard_s: float
) -> tuple[list[int], dict[int, int]]:
    """Returns domains this worker could release, and the number of domains of each worker that holds next to
    nothing."""
    found = await SURPLUS.first(conn, worker, run, heard_s)
    return (found.domains, dict(zip(found.workers, found.held, strict=True))) if found else ([], {})


async def find_urgent(
    conn: Connection,
    *,
    worker: int,
    run: int,
    labels: Sequence[str],
    most: int,
    max_pages_per_domain: int | None,
    waited_s: float,
) -> UrgentDomains:
    """Returns what is urgent for a worker: in domains that it holds, and in domains that wait for a lease."""
    return await FIND_URGENT.one(conn, worker, run, ["", *labels], most, max_pages_per_domain, waited_s)


async def find_least_urgent(conn: Connection, *, worker: int, run: int, kept: Sequence[int], limit: int) -> list[int]:
    return await FIND_LEAST_URGENT.fetch(conn, worker, run, kept, limit)


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
    """Frees the domains of dead or silent workers, and of one that knows of no lease; returns their ids and names.

    `delay_s` is the crawl delay the next lease holder keeps.
    """
    return dict(await FREE_LOST_LEASES.fetch(conn, dead_after_s, delay_s, strays_of))


async def find_robots(conn: Connection, domain_ids: Sequence[int]) -> list[RobotsCopy]:
    return [
        RobotsCopy(copy.domain_id, copy.origin, copy.robots_txt, copy.robots_status_code, None, copy.ttl_s)
        for copy in await FIND_ROBOTS.fetch(conn, domain_ids)
    ]


async def store_robots(conn: Connection, copies: Sequence[RobotsCopy]) -> None:
    """Stores copies. If an origin was fetched twice, as by a worker that lost a lease and regained it, the last copy
    is kept."""
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
    """Clears failures of these domains that our own network caused; returns how many were in cooldown because of
    them."""
    await sign_moves(conn, by="worker", reason_code="network_back", reason="our own network was down, not the site")
    return sum(await FORGIVE_UNREACHABLE.fetch(conn, domain_ids))


async def count_waiting(
    conn: Connection, run: int, *, labels: Sequence[str] = (), most: int, max_pages_per_domain: int | None = None
) -> int:
    """Returns the number of domains of a run that could be leased now, up to `most` for each label."""
    found: int = await conn.fetchval(SQL["count_waiting"], run, ["", *labels], most, max_pages_per_domain)
    return found


async def sitemaps_of_run(conn: Connection, run: int, *, limit: int) -> tuple[str, ...]:
    return tuple(await SITEMAPS_OF_RUN.fetch(conn, run, limit))


async def note_waits(conn: Connection, waits: Sequence[tuple[tuple[int, int], str, float]], *, worker: int) -> None:
    """Stores why leased domains send no requests now, and for how many seconds."""
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
    """Returns whether any domain of the run is leased, and the seconds until the next one can be claimed by a worker
    with these labels (None: never). Retries deferred for longer than `put_off_s`, and domains due later than in
    `within_s`, are ignored."""
    return await NEXT_READY.one(conn, run, max_pages_per_domain, ["", *labels], put_off_s, within_s)


async def score_domains(conn: Connection, *, after: int, limit: int, is_scored: bool) -> tuple[int | None, int]:
    """Returns the last domain checked (None: there was none), and how many scores were written."""
    return await SCORE_DOMAINS.one(conn, after, limit, is_scored)


async def preview_score(conn: Connection, ranks: Sequence[int], pages: Sequence[int]) -> list[float]:
    """Returns scores of hypothetical domains, by the formula for real ones."""
    return await SCORE_IMAGINED.fetch(conn, ranks, pages)


async def score_domain(conn: Connection, domain_id: int, *, is_scored: bool) -> float | None:
    """Returns the new score; None for a blocked or unreachable domain, which has none."""
    score: float | None = await conn.fetchval(SQL["score_domain"], domain_id, is_scored)
    return score
