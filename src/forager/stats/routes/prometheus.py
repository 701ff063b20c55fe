"""`/metrics`: the metrics in Prometheus' format. `docs/reference/metrics.md` lists each; a test compares.

Counters come from the database, so they continue across restarts and are the same in every process. A scrape costs a
handful of statements, and however frequent the scrapes, database queries take a tenth of the time at most. It always
responds: with `crawler_up 0` where the database does not.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
    UnknownMetricFamily,
)

from forager import __version__, clock
from forager.alerts.service_health import Services
from forager.db.types import Connection, Pool
from forager.logs import log
from forager.stats import series
from forager.stats.counters import LATENCY_LABELS, NOT_ASKED, SIZE_LABELS, STAGES
from forager.stats.idle_detection import detect_idle_crawl
from forager.stats.overview import RATE_S, SUCCESS_S, per_second, success_rate
from forager.stats.series import JobTimes, Number

CONTENT_TYPE = CONTENT_TYPE_LATEST
FRESH_S = 5.0
"""Time for which a snapshot is reused."""
REST = 9
"""A slow query runs less often: it takes a tenth of the time at most."""
PATIENCE_S = 4.0
"""A database that takes longer to respond counts as unavailable: a scrape is abandoned after ten seconds."""
TOP_DOMAINS = 20
NO_SERVICES = Services()
DENIALS_UNTYPED = b"# TYPE crawler_robots_denials untyped"
DENIALS_COUNTER = b"# TYPE crawler_robots_denials counter"
"""The library appends `_total` to the name of every counter; this one is named without it, which the text format
allows."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All data of a scrape, from one moment."""

    totals: Sequence[Number] = ()
    state: Sequence[Number] = ()
    recent: Sequence[Number] = ()
    recent_s: float = RATE_S
    lately: Sequence[Number] = ()
    jobs: Sequence[JobTimes] = ()
    domains: Sequence[Mapping[str, Any]] = ()
    took_s: float = 0.0
    pool: Mapping[str, float] = field(default_factory=dict)
    stalled: int = 0
    services: Mapping[str, bool] = field(default_factory=dict)


class MetricsExporter:
    """One per process. `render` may be called concurrently; one of the callers queries the database."""

    def __init__(
        self,
        pool: Pool,
        *,
        dead_after_s: float = 120.0,
        stall_s: float = 600.0,
        services: Services = NO_SERVICES,
    ) -> None:
        self._pool = pool
        self._services = services
        self._stall_s = stall_s
        self._dead_after_s = dead_after_s
        self._turn = asyncio.Lock()
        self._reading: asyncio.Task[Snapshot] | None = None
        self._fresh_until = 0.0
        self._text = b""

    async def render(self) -> bytes:
        async with self._turn:
            if clock.monotonic() >= self._fresh_until:
                began_at = clock.monotonic()
                self._text = render(await self._look())
                now = clock.monotonic()
                self._fresh_until = now + max(FRESH_S, (now - began_at) * REST)
            return self._text

    async def close(self) -> None:
        """A look that is still waiting for the database is given up."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _look(self) -> Snapshot | None:
        """None: the database does not answer. A frozen one is waited for in the background, by one at a time: giving up
        a statement has to wait for the server too."""
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        done, _ = await asyncio.wait({self._reading}, timeout=PATIENCE_S)
        if not done:
            return None
        reading, self._reading = self._reading, None
        if reading.cancelled():
            return None
        if error := reading.exception():  # on any error the scrape gets a response
            log().warning("no metrics", action="metrics.away", error=f"{type(error).__name__}: {error}")
            return None
        return reading.result()

    async def _read(self) -> Snapshot:
        began_at = clock.monotonic()
        async with (
            self._pool.acquire(timeout=PATIENCE_S) as conn,
            conn.transaction(isolation="repeatable_read", readonly=True),
        ):
            read = await read_snapshot(conn, dead_after_s=self._dead_after_s, stall_s=self._stall_s)
            services = await self._services.probe(conn)
        read = replace(read, services=services)
        return replace(read, took_s=clock.monotonic() - began_at, pool=_pool_numbers(self._pool))


async def read_snapshot(conn: Connection, *, dead_after_s: float, stall_s: float) -> Snapshot:
    stall = await detect_idle_crawl(conn, dead_after_s=dead_after_s, stall_s=stall_s)
    recent, recent_s = await series.read_recent(conn, ["visits"], since_s=RATE_S)
    lately, _ = await series.read_recent(conn, ["visits"], since_s=SUCCESS_S)
    return Snapshot(
        totals=await series.read_totals(conn),
        state=await series.read_state(conn, dead_after_s=dead_after_s),
        stalled=stall.domains if stall else 0,
        recent=recent,
        recent_s=recent_s,
        lately=lately,
        jobs=await series.list_job_times(conn),
        domains=await series.list_top_domains(conn, limit=TOP_DOMAINS),
    )


def _pool_numbers(pool: Pool) -> dict[str, float]:
    return {"open": pool.get_size(), "idle": pool.get_idle_size(), "most": pool.get_max_size()}


# Families ------------------------------------------------------------------------------------------------------------


def render(snapshot: Snapshot | None) -> bytes:
    """Prometheus' text format. None: only that we live, and that the database does not."""
    registry = CollectorRegistry()
    registry.register(_MetricCollector(list(families(snapshot))))
    return generate_latest(registry).replace(DENIALS_UNTYPED, DENIALS_COUNTER)


@dataclass(frozen=True, slots=True, eq=False)
class _MetricCollector:
    all: Sequence[Metric]

    def collect(self) -> Iterable[Metric]:
        return self.all


def families(snapshot: Snapshot | None) -> Iterator[Metric]:
    yield GaugeMetricFamily("crawler_up", "1 where the database answers.", value=0 if snapshot is None else 1)
    yield _add_values(GaugeMetricFamily("crawler_info", "Which Forager this is.", labels=["version"]), {__version__: 1})
    if snapshot is not None:
        yield from _core_metrics(snapshot)
        yield from _counters(snapshot.totals)
        yield from _histograms(snapshot.totals)
        yield from _gauges(snapshot)
        yield from _build_jobs(snapshot.jobs)
        yield from _domains(snapshot.domains)


def _core_metrics(snapshot: Snapshot) -> Iterator[Metric]:
    """Counters and gauges of the crawl, under the names that dashboards are built on."""
    visits, state = _by_label(snapshot.totals, "visits"), {n.metric: n.amount for n in snapshot.state if not n.label}
    fetched = sum(number for outcome, number in visits.items() if outcome not in NOT_ASKED)
    denials = visits.get("blocked_robots", 0.0)
    rate = success_rate(snapshot.lately)
    yield CounterMetricFamily("crawler_pages_fetched", "Pages that were asked for, whatever came.", value=fetched)
    yield _gauge(
        "crawler_pages_per_second",
        "Visits per second, over the last two minutes.",
        per_second(snapshot.recent, snapshot.recent_s),
    )
    yield _gauge(
        "crawler_fetch_success_rate",
        "Share of visits of the last minutes that brought a page; NaN: none were made.",
        float("nan") if rate is None else rate,
    )
    statuses = CounterMetricFamily("crawler_http_status", "Answers, by status code.", labels=["status"])
    yield _add_values(statuses, _by_label(snapshot.totals, "status"))
    yield _gauge("crawler_frontier_size", "Pages known and not yet visited.", state.get("frontier_size", 0.0))
    yield UnknownMetricFamily("crawler_robots_denials", "Visits that a robots.txt forbade.", value=denials)
    yield _gauge(
        "crawler_active_workers",
        "Workers with a fresh heartbeat.",
        state.get("active_workers", 0.0),
    )


COUNTERS = (
    ("crawler_visits", "visits", "outcome", "Visits to pages, by outcome."),
    ("crawler_failures", "failures", "code", "Visits that failed, by error code."),
    ("crawler_image_visits", "images", "outcome", "Visits to images, by outcome."),
    ("crawler_links_dropped", "links_dropped", "reason", "Links left out, by reason."),
    ("crawler_leases", "leases", "how", "Leases claimed (and of them hinted), released, lost."),
)
PLAIN_COUNTERS = (
    ("crawler_received_bytes", "bytes", "Bytes received, as sent."),
    ("crawler_pages_learned", "pages_learned", "Pages that became known."),
    ("crawler_links_seen", "links_seen", "Links seen in pages."),
)
GAUGES = (
    ("crawler_domains", "domains", "status", "Domains, by status."),
    ("crawler_breakers", "breakers", "state", "Domains, by the state of their breaker."),
    ("crawler_tasks_open", "tasks_open", "status", "Open tasks, by status."),
    ("crawler_proxies", "proxies", "state", "Proxies that work, failed, or are switched off."),
    ("crawler_alerts_open", "alerts_open", "severity", "Open alerts, by severity."),
    ("crawler_queue_messages", "queue_messages", "queue", "Messages that wait in the broker, by kind of queue."),
    ("crawler_queue_consumers", "queue_consumers", "queue", "Who listens there, by kind of queue."),
)
PLAIN_GAUGES = (
    ("crawler_leases_held", "leases_held", "Domains that a worker holds."),
    ("crawler_leases_expired", "leases_expired", "Leases that outlived their time."),
    ("crawler_domains_waiting", "domains_waiting", "Domains that are due and that nobody holds."),
    ("crawler_domain_wait_seconds", "domain_wait_s", "How long the first of them has been due."),
    ("crawler_task_wait_seconds", "task_wait_s", "How long the first open task has been due."),
    ("crawler_silent_workers", "silent_workers", "Workers that should have a fresh heartbeat and have none."),
    ("crawler_webhooks_waiting", "webhooks_waiting", "Calls to webhooks that are not delivered yet."),
    ("crawler_database_bytes", "database_bytes", "Size of the database."),
    ("crawler_database_connections", "connections", "Connections to the database, of all who use it."),
)


def _counters(totals: Sequence[Number]) -> Iterator[Metric]:
    for name, metric, label, says in COUNTERS:
        yield _add_values(CounterMetricFamily(name, says, labels=[label]), _by_label(totals, metric))
    for name, metric, says in PLAIN_COUNTERS:
        yield CounterMetricFamily(name, says, value=_by_label(totals, metric).get("", 0.0))


def _histograms(totals: Sequence[Number]) -> Iterator[Metric]:
    stages = HistogramMetricFamily("crawler_stage_seconds", "How long each stage of a visit took.", labels=["stage"])
    for stage in STAGES:
        total = _by_label(totals, f"{stage}_s.sum").get("", 0.0)
        stages.add_metric([stage], _accumulate(_by_label(totals, f"{stage}_s"), LATENCY_LABELS), total)
    yield stages
    sizes = HistogramMetricFamily("crawler_batch_pages", "Pages written in one transaction.")
    total = _by_label(totals, "batch_pages.sum").get("", 0.0)
    sizes.add_metric([], _accumulate(_by_label(totals, "batch_pages"), SIZE_LABELS), total)
    yield sizes


def _gauges(snapshot: Snapshot) -> Iterator[Metric]:
    for name, metric, label, says in GAUGES:
        yield _add_values(GaugeMetricFamily(name, says, labels=[label]), _by_label(snapshot.state, metric))
    for name, metric, says in PLAIN_GAUGES:
        yield _gauge(name, says, _by_label(snapshot.state, metric).get("", 0.0))
    yield _gauge(
        "crawler_stalled_domains", "Domains that are due while nothing happens; 0: no stall.", snapshot.stalled
    )
    up = GaugeMetricFamily("crawler_service_up", "1 where a configured service answers.", labels=["service"])
    yield _add_values(up, {name: float(answers) for name, answers in snapshot.services.items()})
    pool = GaugeMetricFamily("crawler_pool_connections", "Connections of this process.", labels=["state"])
    yield _add_values(pool, snapshot.pool)
    yield _gauge("crawler_scrape_seconds", "How long it took to read all this.", snapshot.took_s)


def _build_jobs(jobs: Sequence[JobTimes]) -> Iterator[Metric]:
    ages = GaugeMetricFamily("crawler_job_age_seconds", "Since a job was last done well.", labels=["job_name"])
    done = {job.name: job.age_s for job in jobs if job.age_s is not None and not job.has_failed}
    yield _add_values(ages, done)
    failed = GaugeMetricFamily("crawler_job_failed", "1 where a job failed the last time.", labels=["job_name"])
    yield _add_values(failed, {job.name: float(job.has_failed) for job in jobs})
    late = GaugeMetricFamily("crawler_job_late_seconds", "For how long a job has been due.", labels=["job_name"])
    yield _add_values(late, {job.name: max(0.0, job.late_s) for job in jobs})


def _domains(domains: Sequence[Mapping[str, Any]]) -> Iterator[Metric]:
    """Never more than twenty: names come from the web."""
    for name, column, says in (
        ("crawler_domain_pages", "pages_crawled", "Pages read, of the largest domains that are crawled now."),
        ("crawler_domain_errors", "total_error_count", "Errors of these domains."),
    ):
        family = CounterMetricFamily(name, says, labels=["domain"])
        yield _add_values(family, {domain["name"]: domain[column] for domain in domains})
    waiting = GaugeMetricFamily("crawler_domain_frontier_size", "Frontiers of these domains.", labels=["domain"])
    yield _add_values(waiting, {domain["name"]: domain["frontier_size"] for domain in domains})
    pace = GaugeMetricFamily("crawler_domain_delay_seconds", "Distance between their requests.", labels=["domain"])
    yield _add_values(pace, {domain["name"]: domain["pace_delay_s"] for domain in domains})


def _gauge(name: str, says: str, value: float) -> Metric:
    return GaugeMetricFamily(name, says, value=value)


def _add_values(family: Any, values: Mapping[str, float]) -> Metric:
    for label, value in values.items():
        family.add_metric([label], value)
    found: Metric = family
    return found


def _by_label(numbers: Iterable[Number], metric: str) -> dict[str, float]:
    return {each.label: each.amount for each in numbers if each.metric == metric}


def _accumulate(buckets: Mapping[str, float], labels: Sequence[str]) -> list[tuple[str, float]]:
    """Prometheus counts in each bucket all that were smaller, too."""
    total = 0.0
    cumulated = []
    for label in labels:
        total += buckets.get(label, 0.0)
        cumulated.append((label, total))
    return cumulated
