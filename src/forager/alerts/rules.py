"""The alert rules: each is a pure function from measurements to findings. Hold and quiet times are in `RULES`.

A finding is bad or between; a subject without a finding is good. The thresholds for raising and for resolving differ,
so that a value that oscillates around one of them raises one alert and not twenty.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from forager.alerts.watch import Level
from forager.config.durations import parse_duration
from forager.engine.models import describe_pause
from forager.storage.disk import Disk

MINUTE = timedelta(minutes=1)
GIGABYTE = 1024**3


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    severity: str
    hold: timedelta
    """How long the condition has to be bad before an alert is raised."""
    quiet: timedelta
    """How long it has to be good before the alert is resolved."""
    says: str


RULES: Mapping[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule(
            "error_rate",
            "critical",
            5 * MINUTE,
            5 * MINUTE,
            "More visits than `alerts.max_error_rate` allows are answered with 4xx or 5xx, or not at all.",
        ),
        Rule(
            "success_rate",
            "critical",
            5 * MINUTE,
            5 * MINUTE,
            "Fewer visits than `alerts.min_success_rate` bring a page.",
        ),
        Rule(
            "frontier_backlog",
            "warning",
            3 * MINUTE,
            5 * MINUTE,
            "The frontier grows faster than `alerts.max_frontier_growth`.",
        ),
        Rule("worker_silent", "critical", 0 * MINUTE, 2 * MINUTE, "A worker gave no heartbeat for 2 minutes."),
        Rule(
            "worker_paused",
            "critical",
            0 * MINUTE,
            1 * MINUTE,
            "A worker starts no requests because of a fault of our own.",
        ),
        Rule("login_failed", "warning", 0 * MINUTE, 1 * MINUTE, "A domain is not crawled because its login fails."),
        Rule(
            "few_proxies",
            "warning",
            1 * MINUTE,
            2 * MINUTE,
            "A domain has fewer than `alerts.min_proxies` that work.",
        ),
        Rule(
            "no_proxies",
            "critical",
            1 * MINUTE,
            2 * MINUTE,
            "A domain that is never requested directly (`proxy = always`) has no proxy that works, and waits.",
        ),
        Rule(
            "direct_requests",
            "critical",
            0 * MINUTE,
            2 * MINUTE,
            "A domain lost the last proxy of its pool and is requested directly.",
        ),
        Rule(
            "proxies_failing",
            "warning",
            2 * MINUTE,
            5 * MINUTE,
            "More of a domain's requests than `alerts.max_proxy_failure_rate` fail at its proxies.",
        ),
        Rule(
            "parse_drop",
            "warning",
            10 * MINUTE,
            10 * MINUTE,
            "Fewer products of a domain can be read than before, by `alerts.max_parse_drop`.",
        ),
        Rule(
            "coverage_drop",
            "warning",
            10 * MINUTE,
            10 * MINUTE,
            "An extractor finds a field in fewer records of a domain than before, by `alerts.max_parse_drop`.",
        ),
        Rule(
            "disk_low",
            "critical",
            1 * MINUTE,
            2 * MINUTE,
            "Less room is left than `alerts.min_disk_free` or `alerts.min_disk_free_size`.",
        ),
        Rule("database_away", "critical", 0 * MINUTE, 0 * MINUTE, "The database did not answer."),
        Rule("job_failing", "warning", 1 * MINUTE, 1 * MINUTE, "A periodic job ended with an error."),
        Rule("job_late", "warning", 1 * MINUTE, 1 * MINUTE, "A periodic job was not done in its time."),
        Rule("dead_letters", "warning", 0 * MINUTE, 10 * MINUTE, "Something failed, and it was our fault."),
        Rule(
            "crawl_stalled",
            "critical",
            1 * MINUTE,
            1 * MINUTE,
            "Work is due, nothing happens, and nothing explains it.",
        ),
        Rule(
            "service_away",
            "warning",
            1 * MINUTE,
            1 * MINUTE,
            "Redis, the broker or the search server does not answer; PostgreSQL does its work.",
        ),
        Rule(
            "challenged",
            "warning",
            0 * MINUTE,
            1 * MINUTE,
            "Domains show a captcha or another check of visitors in place of their pages, and are blocked for it.",
        ),
        Rule("search_rejected", "warning", 1 * MINUTE, 1 * MINUTE, "The search server would not take some documents."),
    )
}

RULE_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
SEVERITIES = ("warning", "critical")


def rule_from(name: str, severity: str, hold: str, quiet: str, says: str) -> Rule:
    """Returns a rule from values as people write them; raises ValueError."""
    if not RULE_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a rule: it has letters a to z, digits and _, at most 40")
    if severity not in SEVERITIES:
        raise ValueError(f"there is no severity {severity!r}; there are {' and '.join(SEVERITIES)}")
    times = [timedelta(seconds=parse_duration(each)) for each in (hold, quiet)]
    return Rule(name, severity, times[0], times[1], says)


BUGS = "bugs"
FEWEST_VISITS = 10
SMALL_FRONTIER = 10_000
"""A frontier below this size raises no alert: a crawl that has just begun may grow at any rate."""
FEWEST_REQUESTS = 20
LATE_PERIODS = 3.0
LATE_S = 300.0


@dataclass(frozen=True, slots=True)
class Limits:
    """The thresholds for raising alerts, from the settings `alert_…`. The thresholds for resolving are well below."""

    error_rate: float = 0.20
    success_rate: float = 0.50
    frontier_growth: float = 0.10
    """Growth per minute."""
    fewest_proxies: int = 3
    proxy_failures: float = 0.10
    parse_drop: float = 0.20
    """In percentage points."""
    disk_free: float = 0.05
    disk_free_bytes: int = GIGABYTE


USUAL = Limits()
BETTER = 1.2
"""Factor on the success rate limit: above it, the rate is good again."""
NEARLY, HALF = 0.75, 0.5
"""Factors on a limit: below it, the value is good again."""
ROOMY, TWICE = 1.6, 2
"""Factors on the disk limits: above them, the disk is good again."""


@dataclass(frozen=True, slots=True)
class Finding:
    rule: str
    subject: str
    level: Level
    value: float
    message: str


@dataclass(frozen=True, slots=True)
class StaleWorkers:
    host: str
    workers: Sequence[int]
    silent_s: float
    """The longest silence among these workers."""


@dataclass(frozen=True, slots=True)
class PausedWorkers:
    reason: str
    detail: str
    """Detail of the worker that has been paused longest."""
    workers: Sequence[int]
    paused_s: float


@dataclass(frozen=True, slots=True)
class FailedLogin:
    domain: str
    failures: int
    """Logins in a row that failed."""
    reason: str


@dataclass(frozen=True, slots=True)
class PoolStats:
    domain: str
    active: int
    requests: int
    """Requests in the last minutes."""
    failed: int
    """Those of `requests` that failed at a proxy."""


@dataclass(frozen=True, slots=True)
class MissingProxies:
    domain: str
    is_waiting: bool
    """It waits for a proxy; False: it is requested directly."""


@dataclass(frozen=True, slots=True)
class ParseStats:
    domain: str
    attempts: int
    valid: int
    """Yesterday and today."""
    attempts_before: int
    valid_before: int
    """In the week before."""
    extractor: str = ""
    """The extractor, and its field (empty: whole records); empty for products."""
    field: str = ""


@dataclass(frozen=True, slots=True)
class JobStatus:
    name: str
    every_s: float
    late_s: float
    error: str | None


@dataclass(frozen=True, slots=True)
class RuleInput:
    """The measurements that the rules evaluate."""

    visits: float = 0.0
    refused: float = 0.0
    """Visits with a 4xx or 5xx response."""
    unanswered: float = 0.0
    """Visits without a response: DNS failure, no connection, or timeout."""
    succeeded: float | None = None
    """Visits that returned a page; None if unknown."""
    frontier: Sequence[tuple[float, float]] = ()
    """Pairs of age in seconds and frontier size, oldest first."""
    workers: Sequence[StaleWorkers] = ()
    paused: Sequence[PausedWorkers] = ()
    logins: Sequence[FailedLogin] = ()
    pools: Sequence[PoolStats] = ()
    missing_proxies: Sequence[MissingProxies] = ()
    parsers: Sequence[ParseStats] = ()
    fields: Sequence[ParseStats] = ()
    """Of extractors."""
    disks: Sequence[Disk] = ()
    jobs: Sequence[JobStatus] = ()
    dead: Mapping[str, int] = field(default_factory=dict)
    """Kind of failure → number in the last hour."""
    unsearchable: int = 0
    """Documents that the search server rejected."""
    refusal: str = ""
    """Error message of the last rejected document."""
    challenged: int = 0
    """Domains that are blocked because they show a check of their visitors."""
    challenge: str = ""
    """The name of one of them, and why it is blocked."""
    stalled: int = 0
    """Domains that are due while the crawl makes no progress."""
    stall: str = ""
    """Description of the stall."""
    services: Mapping[str, bool] = field(default_factory=dict)
    """Service name → whether it responds; configured services only."""


def evaluate_rules(facts: RuleInput, limits: Limits = USUAL) -> list[Finding]:
    """Returns all findings that are bad or between."""
    return [
        *error_rate(facts, limits),
        *success_rate(facts, limits),
        *frontier_backlog(facts, limits),
        *check_stale_workers(facts),
        *worker_paused(facts),
        *login_failed(facts),
        *check_proxy_count(facts, limits),
        *check_missing_proxies(facts),
        *proxies_failing(facts, limits),
        *parse_drop(facts, limits),
        *coverage_drop(facts, limits),
        *disk_low(facts, limits),
        *check_failed_jobs(facts),
        *check_late_jobs(facts),
        *dead_letters(facts),
        *check_search_rejects(facts),
        *check_challenges(facts),
        *check_crawl_progress(facts),
        *check_service_health(facts),
    ]


def error_rate(facts: RuleInput, limits: Limits = USUAL) -> Iterator[Finding]:
    """Checks the share of visits with a 4xx or 5xx response, or without a response."""
    if facts.visits >= FEWEST_VISITS:
        rate = (facts.refused + facts.unanswered) / facts.visits
        how = f"{facts.refused:,.0f} were answered with 4xx or 5xx, {facts.unanswered:,.0f} not at all"
        says = f"{rate:.0%} of {facts.visits:,.0f} visits failed: {how}."
        yield from _check_threshold("error_rate", "", rate, (limits.error_rate, NEARLY), says)


def success_rate(facts: RuleInput, limits: Limits = USUAL) -> Iterator[Finding]:
    """Checks the share of visits that return a page: a low one needs attention whatever the reason."""
    if facts.succeeded is None or facts.visits < FEWEST_VISITS:
        return
    rate = facts.succeeded / facts.visits
    says = f"Only {rate:.0%} of {facts.visits:,.0f} visits brought a page."
    if rate < limits.success_rate:
        yield Finding("success_rate", "", Level.BAD, rate, says)
    elif rate < min(1.0, limits.success_rate * BETTER):
        yield Finding("success_rate", "", Level.BETWEEN, rate, says)


def frontier_backlog(facts: RuleInput, limits: Limits = USUAL) -> Iterator[Finding]:
    """Checks by how much the frontier grew per minute, over the available samples."""
    if len(facts.frontier) < 2:
        return
    (old_s, old), (new_s, new) = facts.frontier[0], facts.frontier[-1]
    minutes = (old_s - new_s) / 60
    if minutes < 1 or old <= 0 or new < SMALL_FRONTIER:
        return
    growth = (new / old) ** (1 / minutes) - 1
    says = f"The frontier grew by {growth:.0%} a minute, to {new:,.0f} pages."
    yield from _check_threshold("frontier_backlog", "", growth, (limits.frontier_growth, HALF), says)


def check_stale_workers(facts: RuleInput) -> Iterator[Finding]:
    """Reports workers without a heartbeat, one finding per host."""
    for host in facts.workers:
        names = ", ".join(map(str, host.workers[:10]))
        who = f"Worker {names} has" if len(host.workers) == 1 else f"{len(host.workers)} workers ({names}) have"
        says = f"{who} given no heartbeat for {host.silent_s / 60:.0f} minutes."
        yield Finding("worker_silent", host.host, Level.BAD, len(host.workers), says)


def worker_paused(facts: RuleInput) -> Iterator[Finding]:
    """Reports paused workers, one finding per reason."""
    for pause in facts.paused:
        names = ", ".join(map(str, pause.workers[:10]))
        who = f"Worker {names} is" if len(pause.workers) == 1 else f"{len(pause.workers)} workers ({names}) are"
        says = f"{who} paused: {describe_pause(pause.reason, pause.detail)}."
        yield Finding("worker_paused", pause.reason, Level.BAD, len(pause.workers), says)


def login_failed(facts: RuleInput) -> Iterator[Finding]:
    """Reports domains whose login fails: their pages wait until an operator acts."""
    for login in facts.logins:
        says = f"{login.domain} is not crawled: {login.reason.rstrip('. ')}."
        yield Finding("login_failed", login.domain, Level.BAD, login.failures, says)


def check_proxy_count(facts: RuleInput, limits: Limits = USUAL) -> Iterator[Finding]:
    """Checks the number of working proxies of domains that are crawled through proxies."""
    for pool in facts.pools:
        if pool.active < limits.fewest_proxies:
            says = f"{pool.domain} has {pool.active} proxies that work; it should have {limits.fewest_proxies}."
            yield Finding("few_proxies", pool.domain, Level.BAD, pool.active, says)


def check_missing_proxies(facts: RuleInput) -> Iterator[Finding]:
    """Reports domains that wait for a proxy, and domains that are requested directly after they had proxies."""
    for missing in facts.missing_proxies:
        if missing.is_waiting:
            says = f"{missing.domain} waits: it is never requested directly, and no proxy works for it."
            yield Finding("no_proxies", missing.domain, Level.BAD, 0, says)
        else:
            says = (
                f"{missing.domain} is requested directly since its pool lost its last proxy. Assign one, or set "
                "`proxy` to always or never."
            )
            yield Finding("direct_requests", missing.domain, Level.BAD, 0, says)


def proxies_failing(facts: RuleInput, limits: Limits = USUAL) -> Iterator[Finding]:
    """Checks the share of a domain's requests that failed at its proxies."""
    for pool in facts.pools:
        if pool.requests >= FEWEST_REQUESTS:
            rate = pool.failed / pool.requests
            says = f"{rate:.0%} of {pool.requests:,} requests to {pool.domain} failed at its proxies."
            yield from _check_threshold("proxies_failing", pool.domain, rate, (limits.proxy_failures, HALF), says)


def parse_drop(facts: RuleInput, limits: Limits = USUAL) -> Iterator[Finding]:
    """Checks by how many percentage points the share of valid products fell against the week before."""
    for parser in facts.parsers:
        yield from _check_drop("parse_drop", parser.domain, parser, f"the products of {parser.domain}", limits)


def coverage_drop(facts: RuleInput, limits: Limits = USUAL) -> Iterator[Finding]:
    """Checks by how many percentage points the share of records in which a field was found fell."""
    for each in facts.fields:
        name = f"{each.extractor}.{each.field}" if each.field else each.extractor
        what = f"the values of {name} on {each.domain}" if each.field else f"the records of {name} on {each.domain}"
        yield from _check_drop("coverage_drop", f"{each.domain} {name}", each, what, limits)


def _check_drop(rule: str, subject: str, stats: ParseStats, what: str, limits: Limits) -> Iterator[Finding]:
    if min(stats.attempts, stats.attempts_before) >= FEWEST_REQUESTS:
        now, before = stats.valid / stats.attempts, stats.valid_before / stats.attempts_before
        says = f"{now:.0%} of {what} could be read; in the week before it were {before:.0%}."
        yield from _check_threshold(rule, subject, before - now, (limits.parse_drop, HALF), says)


def disk_low(facts: RuleInput, limits: Limits = USUAL) -> Iterator[Finding]:
    for disk in facts.disks:
        share = disk.free_bytes / disk.total_bytes if disk.total_bytes else 0.0
        is_bad = share < limits.disk_free or disk.free_bytes < limits.disk_free_bytes
        if is_bad or share < limits.disk_free * ROOMY or disk.free_bytes < limits.disk_free_bytes * TWICE:
            says = f"{disk.free_bytes / GIGABYTE:,.1f} GB ({share:.0%}) are free at {disk.path}."
            yield Finding("disk_low", disk.path, Level.BAD if is_bad else Level.BETWEEN, share, says)


def check_failed_jobs(facts: RuleInput) -> Iterator[Finding]:
    for job in facts.jobs:
        if job.error is not None:
            yield Finding("job_failing", job.name, Level.BAD, 1, f"The job {job.name} failed: {job.error}")


def check_late_jobs(facts: RuleInput) -> Iterator[Finding]:
    for job in facts.jobs:
        if job.late_s > max(LATE_S, LATE_PERIODS * job.every_s):
            says = f"The job {job.name} has been due for {job.late_s / 60:,.0f} minutes."
            yield Finding("job_late", job.name, Level.BAD, job.late_s, says)


def dead_letters(facts: RuleInput) -> Iterator[Finding]:
    for what, number in facts.dead.items():
        if number:
            says = f"{number:,} {what} failed for good in the last hour."
            if what == BUGS:
                says = f"{number:,} visits met a bug of ours in the last hour; they are tried again."
            yield Finding("dead_letters", what, Level.BAD, number, says)


def check_search_rejects(facts: RuleInput) -> Iterator[Finding]:
    """Reports rejected documents. They are sent again only when they change or when the index is rebuilt, so the alert
    stays open until an operator acts."""
    if facts.unsearchable:
        says = f"The search server would not take {facts.unsearchable:,} documents; the last: {facts.refusal[:200]}"
        yield Finding("search_rejected", "", Level.BAD, facts.unsearchable, says.rstrip(". ") + ".")


def check_challenges(facts: RuleInput) -> Iterator[Finding]:
    """Reports domains that show a check of their visitors: only an operator can agree on access with them."""
    if facts.challenged:
        domains = "1 domain shows" if facts.challenged == 1 else f"{facts.challenged:,} domains show"
        says = f"{domains} a check of visitors in place of pages; {facts.challenge[:300].rstrip('. ')}."
        yield Finding("challenged", "", Level.BAD, facts.challenged, says)


def check_crawl_progress(facts: RuleInput) -> Iterator[Finding]:
    if facts.stalled:
        yield Finding("crawl_stalled", "", Level.BAD, facts.stalled, f"{facts.stall}.")


SERVICES: Mapping[str, str] = {
    "redis": "Redis does not answer; PostgreSQL answers alone, and nothing is lost.",
    "broker": "The broker does not answer; workers claim domains from the database, and nothing is lost.",
    "search": "The search server does not answer; PostgreSQL searches, and changes wait.",
}


def check_service_health(facts: RuleInput) -> Iterator[Finding]:
    for name, answers in facts.services.items():
        if not answers:
            yield Finding("service_away", name, Level.BAD, 1, SERVICES[name])


def _check_threshold(rule: str, subject: str, value: float, limit: tuple[float, float], says: str) -> Iterator[Finding]:
    """Yields bad above the limit, between down to the given part of it, and nothing below."""
    most, part = limit
    if value > most:
        yield Finding(rule, subject, Level.BAD, value, says)
    elif value > most * part:
        yield Finding(rule, subject, Level.BETWEEN, value, says)
