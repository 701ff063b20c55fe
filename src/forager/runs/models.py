"""The config of a run. Stored with the run, so that a later process, a report or a person can read it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Scope(StrEnum):
    """How far from its seeds a crawl may go."""

    PAGE = "page"
    """The seeds only."""
    PREFIX = "prefix"
    """URLs that start with a seed's folder."""
    HOST = "host"
    """The seeds' domains (`www.` is the same domain)."""
    DOMAIN = "domain"
    """The seeds' registrable domains with all sub-domains."""
    ANY = "any"
    """Everywhere."""


ALL_KNOWN = "all known"
STANDING = "standing"
"""Identifies the continuous run: every domain that no other run has."""
IMAGE = "image "
SITEMAP = "sitemap "
"""Visits to images, and to sitemaps and feeds, are counted separately from those to pages."""


@dataclass(frozen=True, slots=True)
class RunSpec:
    """The config of a run."""

    seeds: tuple[str, ...]
    """Normalised. For a long list only the first few."""
    scope: Scope = Scope.HOST
    include: tuple[str, ...] = ()
    """Glob patterns over the whole URL; `*` is any run of characters, `?` any one."""
    exclude: tuple[str, ...] = ()
    max_depth: int = 10
    max_pages: int | None = None
    max_pages_per_domain: int | None = None
    delay_s: float | None = None
    """Overrides the setting for this run; robots.txt may ask for more."""
    seeds_total: int | None = None
    """Size of a long list, which is stored in the run's domains and pages and not here; None: `seeds` has all."""
    seeds_digest: str | None = None
    """Identifies a long list, or is `ALL_KNOWN` or `STANDING`."""
    allow_networks: tuple[str, ...] = ()
    """Networks that the operator allowed past the address guard for this run, on the command line."""
    is_scope_given: bool = False
    """The scope was given explicitly. Otherwise the crawl settings of each domain may widen it."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Crawl settings that were given with the run; they become settings of its domains."""

    bare: tuple[str, ...] = ()
    """Those of `seeds` that were named without a scheme: https is a guess."""
    redirected: Mapping[str, str] = field(default_factory=dict)
    """Seed → where it leads, which is among `seeds` since then."""

    @property
    def is_all_domains(self) -> bool:
        """Returns whether it is for every domain that has something left, instead of named seeds."""
        return self.seeds_digest == ALL_KNOWN

    @property
    def is_standing(self) -> bool:
        """Returns whether it never ends: it takes every domain that no other run has, as they come."""
        return self.seeds_digest == STANDING

    @property
    def is_long(self) -> bool:
        """Returns whether the seeds are too many to be listed here: the run's domains are its scope."""
        return self.seeds_total is not None

    def delay_or(self, default_s: float) -> float:
        return default_s if self.delay_s is None else self.delay_s


@dataclass(frozen=True, slots=True)
class OutcomeCount:
    """One row of a run's counters."""

    outcome: str
    """A value of `task_outcome`."""
    reason: str
    """The status code, or the error code if there was no response; for images with the prefix `image `, for sitemaps
    and feeds with `sitemap `."""
    pages: int
    wire_bytes: int
    time_ms: int

    @property
    def is_page(self) -> bool:
        return not self.reason.startswith((IMAGE, SITEMAP))


@dataclass(frozen=True, slots=True)
class DomainCount:
    """One domain of a run, as a display shows it."""

    name: str
    status: str
    pages_crawled: int
    errors: int
    frontier: int
    """Pages known and not yet visited."""
    is_leased: bool
    reason: str | None
    """Why it is idle, if it is."""


@dataclass(frozen=True, slots=True)
class ReplacedSetting:
    """A crawl setting that a flag of a run replaced, with its values as they are written in a file."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Holder:
    """A worker of another run that still has the lease of a domain that this run took."""

    domain: str
    worker: int
    pid: int
    host: str
    run: int | None
    is_standing: bool
    """Whether its run is that of `forager up`."""
    until: datetime
    """When the lease ends unless it is renewed."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A run at one moment. Everything comes from the database, so it is the same for one worker or fifty."""

    run_id: int
    elapsed_s: float
    workers: int
    pages_done: int
    pages_ok: int
    frontier: int
    """Pages of the run's domains that are known, within its limits, and not yet visited."""
    wire_bytes: int
    links_seen: int
    pages_learned: int
    outcomes: tuple[OutcomeCount, ...]
    domains: tuple[DomainCount, ...]
    """The busiest few."""
    domain_states: Mapping[str, int]
    """Domain status → how many of the run's domains are in it."""
    last_url: str | None = None
    last_status_code: int | None = None
    last_response_time_ms: int | None = None
    pause: str | None = None
    """Why a worker of the run is paused: a fault of our own, and it resumes by itself."""


class RunEnd(StrEnum):
    FINISHED = "finished"
    """Nothing is left that may be visited now."""
    LIMIT = "limit"
    """A page limit was reached and more is known."""
    STOPPED = "stopped"
    """Interrupted; the same command resumes."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ListedInRun:
    """What a run read in sitemaps and feeds."""

    sitemaps: int = 0
    feeds: int = 0
    urls: int = 0
    unread: int = 0
    """Those that were named and could not be read."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the last visits of a run show about pages that may not be what was asked for."""

    shells: int = 0
    """Pages without text until their scripts run, which were not rendered."""
    login_forms: int = 0
    login_url: str | None = None
    """One of the pages with a login form."""
    challenges: int = 0
    """Refusals that are challenges for browsers."""
    asks_for_login: bool = False
    """A domain redirected to a login, or answered 401."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """What was done, what was not, and why."""

    end: RunEnd
    progress: Progress
    dropped: Mapping[str, int]
    """Links left out, reason → count (the reasons of `Selection.dropped`)."""
    waiting: Mapping[str, int]
    """Known pages that were not visited, by reason: `too_deep`, `over_limit`, `retry_later`, `domain_blocked`,
    `domain_waits`, `domain_paused`, `paused`, `waits_for_task`, `stopped`."""
    standing: tuple[DomainCount, ...]
    """Domains that are blocked, unreachable or in cooldown, with their reasons."""
    next_at: datetime | None
    """When the first waiting page becomes due."""
    sitemaps: tuple[str, ...] = ()
    """For a crawl that found next to nothing: sitemaps that robots.txt files name."""
    listed: ListedInRun = field(default_factory=ListedInRun)
    """What was read in sitemaps and feeds."""
    evidence: Evidence = Evidence()
    redirected: Mapping[str, str] = field(default_factory=dict)
    """Seed → where it leads, which was crawled instead."""
    changed: int = 0
    """Pages visited again whose content had changed."""
    unchanged: int = 0
    """Pages visited again whose content was the same."""
    not_due: int = 0
    """Pages that earlier crawls read and that this one did not visit, because they are not due."""
    not_due_until: datetime | None = None
    """When the first of them is visited again; None: unknown."""
    bodies: Mapping[str, int] = field(default_factory=dict)
    """Bodies that were to be kept: `stored`, `known` from before, or `lost:` with the reason → how many."""
