"""`forager audit politeness`: proves from the history that every request was polite; makes no requests, changes
nothing.

Delay: of any two requests to a domain, the later one was sent no earlier than the delay in force for the earlier one
allowed. Robots: no visit was made that the robots.txt valid at that moment forbids; only the newest copy of each origin
is stored, so visits before it was fetched cannot be judged. Requests without evidence are counted separately.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forager.db import statements
from forager.db.types import Connection
from forager.domains import store as domains
from forager.domains.access import read_robots_agent
from forager.domains.lookup import known_name
from forager.robots import rules as robots

SQL = statements.load("forager.explain", "politeness.sql")

CLOCK_TOLERANCE_MS = 20.0
"""Tolerance: a worker derives the database's time from its own clock, which it compares at every heartbeat."""
MOST_SHOWN = 20
COPIES_AT_ONCE = 50
"""A robots.txt has up to 500 KB; more copies at once would not be faster."""
PREFETCH_ROWS = 1000


@dataclass(frozen=True, slots=True)
class DelayGroup:
    """All requests after which the same delay had to be kept. 0: unpaced hosts; None: not recorded."""

    pace_ms: int | None
    requests: int
    gaps: int
    """Requests that were followed by another one."""
    smallest_gap_ms: float | None
    too_early: int


@dataclass(frozen=True, slots=True)
class EarlyRequest:
    """A request that came too early. The task is None if the request was for robots.txt or a login."""

    domain: str
    task_id: int | None
    task_before: int | None
    requested_at: datetime
    gap_ms: float
    pace_ms: int


@dataclass(frozen=True, slots=True)
class DelayAudit:
    domains: int
    classes: tuple[DelayGroup, ...]
    examples: tuple[EarlyRequest, ...]

    @property
    def requests(self) -> int:
        return sum(each.requests for each in self.classes)

    @property
    def with_delay(self) -> tuple[DelayGroup, ...]:
        return tuple(each for each in self.classes if each.pace_ms)

    @property
    def unpaced(self) -> int:
        return sum(each.requests for each in self.classes if each.pace_ms == 0)

    @property
    def unproved(self) -> int:
        return sum(each.requests for each in self.classes if each.pace_ms is None)

    @property
    def too_early(self) -> int:
        return sum(each.too_early for each in self.classes)


@dataclass(frozen=True, slots=True)
class ForbiddenVisit:
    task_id: int
    url: str
    requested_at: datetime
    rule: str
    line: int | None


@dataclass(frozen=True, slots=True)
class RobotsOverride:
    """An operator's order not to obey robots.txt of a domain."""

    domain: str
    started_at: datetime
    ended_at: datetime | None
    ordered_by: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class RobotsAudit:
    origins: int
    visits: int
    forbidden: int
    examples: tuple[ForbiddenVisit, ...]
    overridden: int = 0
    """Visits that robots.txt forbids and an operator ordered."""
    overrides: tuple[RobotsOverride, ...] = ()


@dataclass(frozen=True, slots=True)
class Audit:
    pace: DelayAudit
    robots: RobotsAudit
    unpaced_domains: tuple[tuple[str, int], ...]
    """Name and number of requests of the busiest few."""
    unpaced_count: int

    @property
    def is_clean(self) -> bool:
        return not (self.pace.too_early or self.robots.forbidden)


async def audit_politeness(
    connection: Connection, *, agent: str, domain: str | None = None, since: datetime | None = None
) -> Audit:
    """Audits the whole history, one domain, or a period. Needs an open transaction, because it uses cursors."""
    name = await known_name(connection, domain)
    domain_id = (await domains.find_domains(connection, [name]))[name] if name else None
    pace = await audit_delays(connection, domain_id, since)
    unpaced = await connection.fetch(SQL["unpaced_domains"], domain_id, since, MOST_SHOWN) if pace.unpaced else []
    return Audit(
        pace=pace,
        robots=await audit_robots(connection, agent, domain_id, since),
        unpaced_domains=tuple((row["domain"], row["requests"]) for row in unpaced),
        unpaced_count=unpaced[0]["domains"] if unpaced else 0,
    )


async def audit_delays(
    connection: Connection, domain_id: int | None = None, since: datetime | None = None
) -> DelayAudit:
    """Audits delays in one pass over all requests; a second pass only names those that came too early."""
    rows = await connection.fetch(SQL["pace"], domain_id, since, CLOCK_TOLERANCE_MS)
    classes = tuple(
        DelayGroup(row["pace_ms"], row["requests"], row["gaps"], row["smallest_gap_ms"], row["too_early"])
        for row in rows
    )
    early: list[Any] = []
    if any(each.too_early for each in classes):
        early = await connection.fetch(SQL["too_early"], domain_id, since, CLOCK_TOLERANCE_MS, MOST_SHOWN)
    first_requests = sum(row["first_requests"] for row in rows)
    return DelayAudit(first_requests, classes, tuple(EarlyRequest(**row) for row in early))


async def audit_robots(
    connection: Connection, agent: str, domain_id: int | None = None, since: datetime | None = None
) -> RobotsAudit:
    """Audits robots.txt as a stream: some origins at a time, their visits through a cursor; memory use is constant for
    any history."""
    origins = visits = forbidden = overridden = 0
    examples: list[ForbiddenVisit] = []
    cursor = await connection.cursor(SQL["robots_copies"], domain_id, since)
    while copies := await cursor.fetch(COPIES_AT_ONCE):
        origins += len(copies)
        agents = [read_robots_agent(copy["user_agent"], agent) for copy in copies]
        rules = [robots.parse(c["robots_txt"] or "").rules_for(name) for c, name in zip(copies, agents, strict=True)]
        async for row in connection.cursor(SQL["visits_under_copies"], *_lists(copies), since, prefetch=PREFETCH_ROWS):
            visits += 1
            copy = copies[row["copy"]]
            verdict = _classify(copy, rules[row["copy"]], row["url"])
            if verdict is None:
                continue
            if row["is_overridden"]:
                overridden += 1
                continue
            forbidden += 1
            if len(examples) < MOST_SHOWN:
                examples.append(ForbiddenVisit(row["task_id"], row["url"], row["requested_at"], *verdict))
    orders = await connection.fetch(SQL["robots_overrides"], domain_id, since, MOST_SHOWN)
    return RobotsAudit(
        origins, visits, forbidden, tuple(examples), overridden, tuple(RobotsOverride(**order) for order in orders)
    )


def tell(early: EarlyRequest) -> str:
    """Describes one request that came too early."""
    ours, before = (
        "robots.txt or a login" if task is None else f"task {task}" for task in (early.task_id, early.task_before)
    )
    return f"{early.domain}: {ours} left {early.gap_ms:.0f} ms after {before}, the pace was {early.pace_ms} ms"


def _classify(copy: Any, rules: robots.Rules, url: str) -> tuple[str, int | None] | None:
    """Returns the rule that forbids the visit and its line; None if the visit was allowed."""
    if copy["robots_error"]:
        return f"robots.txt could not be had: {copy['robots_error']}", None
    verdict = rules.verdict(url)
    return None if verdict.allowed else (verdict.rule or "", verdict.line)


def _lists(copies: Sequence[Any]) -> Iterator[list[Any]]:
    for column in ("domain_id", "origin", "robots_fetched_at", "robots_expires_at"):
        yield [copy[column] for copy in copies]
