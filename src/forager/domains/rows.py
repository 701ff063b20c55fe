"""Parameters and results of the domain statements: named columns of bulk statements, row records."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple


class DomainBase(NamedTuple):
    name: str
    base_url: str


class DomainName(NamedTuple):
    id: int
    name: str


class HeldLease(NamedTuple):
    id: int
    version: int
    may_go_on: bool


class UsedBudget(NamedTuple):
    """A page budget after pages were charged to it."""

    name: str
    pages: int
    until: datetime | None
    pages_left: int | None


class RenewedLease(NamedTuple):
    id: int
    version: int
    breaker_resets: int
    may_go_on: bool


class LastmodCounts(NamedTuple):
    lastmod_claims: int
    lastmod_truths: int


class ExcessLeases(NamedTuple):
    """Domains that a worker could release, and workers that hold next to nothing, each with its number of domains."""

    domains: list[int]
    workers: list[int]
    held: list[int]


class UrgentDomains(NamedTuple):
    """The leases of a worker that have urgent tasks, and the number of urgent domains that wait for a lease."""

    held: list[int]
    since: list[datetime]
    waiting: int
    overdue: int


class StoredRobots(NamedTuple):
    domain_id: int
    origin: str
    robots_txt: str | None
    robots_status_code: int | None
    ttl_s: float


class NextReady(NamedTuple):
    is_held: bool
    wait_s: float | None


class ScoredDomains(NamedTuple):
    last_id: int | None
    written: int


class VisitColumns(NamedTuple):
    """One element per domain; `lease_s` applies to all."""

    domain_id: Sequence[int]
    closed: Sequence[int]
    ok: Sequence[int]
    errors: Sequence[int]
    retries: Sequence[int]
    depth: Sequence[int]
    streak: Sequence[int]
    streak_code: Sequence[str | None]
    is_new_streak: Sequence[bool]
    lease_s: float
    wait_s: Sequence[float | None]
    delay_s: Sequence[float | None]
    extra_s: Sequence[float | None]
    response_s: Sequence[float | None]
    breaker_state: Sequence[str | None]
    breaker_failures: Sequence[int | None]
    open_s: Sequence[float | None]
    resets: Sequence[int | None]
    images: Sequence[int]


class ReleaseColumns(NamedTuple):
    """Sequences of domain values have one element per domain; scope, limits and policies apply to all."""

    domain_id: Sequence[int]
    wait_s: Sequence[float]
    rest_s: Sequence[float]
    reason_code: Sequence[str | None]
    reason: Sequence[str | None]
    max_depth: int
    scope_patterns: Sequence[str] | None
    include_patterns: Sequence[str] | None
    exclude_patterns: Sequence[str] | None
    status: Sequence[str | None]
    most_returns: int
    refresh_every_s: float | None
    is_scored: bool
    is_spent: Sequence[bool]
    is_fallback: Sequence[bool]
    delay_s: Sequence[float | None]
    extra_s: Sequence[float | None]
    response_s: Sequence[float | None]
    breaker_state: Sequence[str | None]
    breaker_failures: Sequence[int | None]
    open_s: Sequence[float | None]
    resets: Sequence[int | None]
