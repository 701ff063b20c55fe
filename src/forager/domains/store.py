"""One short function per statement of `queries.sql`. Opens no transactions: the floor above does."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from forager.db import statements
from forager.domains.cooldown import sign_moves
from forager.frontier.models import Lease
from forager.urls.domain import registrable

SQL = statements.load("forager.domains")
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
class Standing:
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
    standing: Standing | None = None
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


async def add_domains(conn: Any, bases: Mapping[str, str], *, source: str, run: int | None) -> None:
    """Domains by name with the URL they were met at; known ones stay as they are."""
    names = sorted(bases)
    if names:
        parents = [registrable(name) for name in names]
        await conn.execute(SQL["add_domains"], names, parents, [bases[name] for name in names], source, run)


async def add_seed_domains(
    conn: Any, seeded: Mapping[str, Seeded], *, source: str, run: int | None, is_scored: bool
) -> dict[str, int]:
    """Domains by name; answers the ids of those that are new, in whose counters the pages are already."""
    if not seeded:
        return {}
    rows = await conn.fetch(
        SQL["add_seed_domains"],
        list(seeded),
        [registrable(name) for name in seeded],
        [domain.base_url for domain in seeded.values()],
        [domain.rank for domain in seeded.values()],
        [domain.pages for domain in seeded.values()],
        source,
        run,
        is_scored,
    )
    return {row["name"]: row["id"] for row in rows}


async def raise_ranks(conn: Any, ranks: Mapping[int, int]) -> None:
    if ranks:
        await conn.execute(SQL["raise_ranks"], list(ranks), list(ranks.values()))


async def stream_names(conn: Any, run: int) -> AsyncIterator[tuple[str, str]]:
    """Name and registrable domain of a run's domains, which may be millions. Needs an open transaction."""
    async for row in conn.cursor(SQL["names_of_run"], run, prefetch=5000):
        yield row["name"], row["parent_domain"]


async def stream_known_names(conn: Any, after: int) -> AsyncIterator[tuple[int, str]]:
    """Id and name of all domains that are there for their pages and came after this one, oldest first. Needs an open
    transaction."""
    async for row in conn.cursor(SQL["known_names"], after, prefetch=5000):
        yield row["id"], row["name"]


async def adopt_strays(conn: Any, run: int, *, limit: int) -> int:
    """How many domains that no running run has are the standing run's now."""
    adopted: int = await conn.fetchval(SQL["adopt_strays"], run, limit)
    return adopted


async def find_domains(conn: Any, names: Iterable[str]) -> dict[str, int]:
    return {row["name"]: row["id"] for row in await conn.fetch(SQL["find_domains"], list(names))}


async def count_discovered(conn: Any, pages: Mapping[int, int], *, run: int | None) -> None:
    if pages:
        await conn.execute(SQL["count_discovered"], list(pages), list(pages.values()), run)


async def wake_due(conn: Any, run: int) -> None:
    await conn.execute(SQL["wake_due"], run)


async def wake(conn: Any, domain_ids: Iterable[int]) -> None:
    await conn.execute(SQL["wake"], list(domain_ids))


async def count_reopened(conn: Any, pages: Mapping[int, int]) -> None:
    if pages:
        await conn.execute(SQL["count_reopened"], list(pages), list(pages.values()))


async def wake_unreachable(conn: Any, names: Sequence[str]) -> None:
    await conn.execute(SQL["wake_unreachable"], names)


async def allow_networks(conn: Any, names: Sequence[str], networks: Sequence[str]) -> list[int]:
    """Stores what may be dialled for these domains besides public addresses. Returns their ids."""
    return [row["id"] for row in await conn.fetch(SQL["allow_networks"], list(names), list(networks))]


async def adopt_domains(conn: Any, run: int, *, names: Sequence[str], parents: Sequence[str], everything: bool) -> None:
    await conn.execute(SQL["adopt_domains"], run, names, parents, everything)


async def hold_leases(conn: Any, leases: Iterable[tuple[int, int]], *, worker: int) -> dict[tuple[int, int], bool]:
    """Of these (domain, version), those that are still ours, each with whether we may go on with it.

    Their rows stay locked until the transaction ends.
    """
    pairs = sorted(set(leases))
    rows = await conn.fetch(
        SQL["hold_leases"], [domain for domain, _ in pairs], [version for _, version in pairs], worker
    )
    return {(row["id"], row["version"]): row["may_go_on"] for row in rows}


async def lastmods_of(conn: Any, domain_id: int) -> tuple[int, int]:
    """What its sitemaps claimed of changes so far, and how much of it was true."""
    row = await conn.fetchrow(SQL["lastmods_of"], domain_id)
    return row["lastmod_claims"], row["lastmod_truths"]


async def count_lastmods(conn: Any, tested: Mapping[int, tuple[int, int]]) -> None:
    """Domain → claims, and how many of them were true."""
    claims, truths = zip(*tested.values(), strict=True)
    await conn.execute(SQL["count_lastmods"], list(tested), list(claims), list(truths))


async def without_links(conn: Any, domain_ids: Iterable[int]) -> set[int]:
    return {row["id"] for row in await conn.fetch(SQL["without_links"], list(domain_ids))}


async def count_visits(
    conn: Any, visits: Mapping[int, Visits], standings: Mapping[int, Standing], *, lease_s: float
) -> None:
    """A domain without a standing keeps the one it has."""
    counts = visits.values()
    await conn.execute(
        SQL["count_visits"],
        list(visits),
        [count.closed for count in counts],
        [count.ok for count in counts],
        [count.errors for count in counts],
        [count.retries for count in counts],
        [count.depth for count in counts],
        [count.streak for count in counts],
        [count.streak_code for count in counts],
        [count.is_new_streak for count in counts],
        lease_s,
        *_columns([standings.get(domain) for domain in visits]),
        [count.images for count in counts],
    )


def _columns(standings: Sequence[Standing | None]) -> tuple[list[Any], ...]:
    """One list per column, in the order the statements take them."""
    return (
        [known.wait_s if known else None for known in standings],
        [known.delay_s if known else None for known in standings],
        [known.extra_s if known else None for known in standings],
        [known.response_s if known else None for known in standings],
        [known.breaker_state if known else None for known in standings],
        [known.breaker_failures if known else None for known in standings],
        [known.breaker_open_s if known else None for known in standings],
        [known.breaker_resets if known else None for known in standings],
    )


async def count_claims(conn: Any, pages: Mapping[int, int]) -> None:
    if pages:
        await conn.execute(SQL["count_claims"], list(pages), list(pages.values()))


async def return_claims(conn: Any, freed: Sequence[tuple[int, int, int]]) -> None:
    """Run, domain, pages."""
    if freed:
        await conn.execute(SQL["return_claims"], *map(list, zip(*freed, strict=True)))


async def renew_leases(conn: Any, *, worker: int, lease_s: float) -> dict[tuple[int, int], LeaseRenewal]:
    """(Domain, version) of everything this worker still holds, each with what an operator said of it meanwhile."""
    rows = await conn.fetch(SQL["renew_leases"], worker, lease_s)
    return {(row["id"], row["version"]): LeaseRenewal(row["may_go_on"], row["breaker_resets"]) for row in rows}


async def surplus(conn: Any, *, worker: int, run: int, heard_s: float) -> tuple[list[int], dict[int, int]]:
    """Domains this worker could spare, and how many each of those workers holds who have next to nothing."""
    row = await conn.fetchrow(SQL["surplus"], worker, run, heard_s)
    return (row["domains"], dict(zip(row["workers"], row["held"], strict=True))) if row else ([], {})


async def release(
    conn: Any,
    releases: Sequence[Release],
    *,
    max_depth: int,
    patterns: tuple[list[str] | None, list[str] | None, list[str] | None],
    keeping: Keeping,
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
        keeping.most_returns,
        keeping.refresh_every_s,
        keeping.is_scored,
        [release.is_spent for release in releases],
        [release.is_fallback for release in releases],
        *_columns([release.standing for release in releases])[1:],
    )


async def free_lost_leases(
    conn: Any, *, dead_after_s: float, delay_s: float, strays_of: int | None = None
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


async def forgive_unreachable(conn: Any, domain_ids: Sequence[int]) -> int:
    """Forgets failures of these domains that our own network caused; returns how many were resting for them."""
    await sign_moves(conn, by="worker", reason_code="network_back", reason="our own network was down, not the site")
    return sum(row["was_resting"] for row in await conn.fetch(SQL["forgive_unreachable"], domain_ids))


async def count_waiting(
    conn: Any, run: int, *, labels: Sequence[str] = (), most: int, max_pages_per_domain: int | None = None
) -> int:
    """Returns how many domains of a run could be leased now, up to `most` for each label."""
    found: int = await conn.fetchval(SQL["count_waiting"], run, ["", *labels], most, max_pages_per_domain)
    return found


async def sitemaps_of_run(conn: Any, run: int, *, limit: int) -> tuple[str, ...]:
    return tuple(row["url"] for row in await conn.fetch(SQL["sitemaps_of_run"], run, limit))


async def note_waits(conn: Any, waits: Sequence[tuple[tuple[int, int], str, float]], *, worker: int) -> None:
    """Stores why leased domains make no request now, and for how many seconds."""
    tokens, reasons, seconds = zip(*waits, strict=True)
    ids, versions = zip(*tokens, strict=True)
    await conn.execute(SQL["note_waits"], ids, versions, reasons, seconds, worker)


async def next_ready(
    conn: Any,
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
    row = await conn.fetchrow(SQL["next_ready"], run, max_pages_per_domain, ["", *labels], put_off_s, within_s)
    return row["is_held"], row["wait_s"]


async def score_domains(conn: Any, *, after: int, limit: int, is_scored: bool) -> tuple[int | None, int]:
    """The last domain that was looked at, None when there was none, and how many scores were written."""
    row = await conn.fetchrow(SQL["score_domains"], after, limit, is_scored)
    return row["last_id"], row["written"]


async def score_imagined(conn: Any, ranks: Sequence[int], pages: Sequence[int]) -> list[float]:
    """Of domains that do not exist, by the formula of those that do."""
    return [row[0] for row in await conn.fetch(SQL["score_imagined"], ranks, pages)]


async def score_domain(conn: Any, domain_id: int, *, is_scored: bool) -> float | None:
    """Its new score; None where it stands still and has none."""
    score: float | None = await conn.fetchval(SQL["score_domain"], domain_id, is_scored)
    return score
