"""One overview of the whole crawl, and any metric over time. Reads only; all interfaces (CLI, API) call these.

Workers count the metrics and the job `series` samples them; this module adds names, units and steps.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field, with_config

from forager.db import statements
from forager.db.query import fetch_one
from forager.db.rows import RECORD
from forager.db.types import Connection
from forager.domains.lookup import suggestion
from forager.errors import NotFoundError, UsageError
from forager.stats import series as store
from forager.stats.counters import LATENCY_LABELS, NOT_ASKED, STAGES
from forager.stats.series import Number, Step
from forager.stats.store import read_clock

SQL = statements.load("forager.stats", "overview.sql")
Row = dict[str, Any]
STEPS_S = (60, 300, 900, 3600, 21_600, 86_400)
MOST_STEPS = 1500
MOST_POINTS = 100_000
"""Maximum for all labels together: some 10 MB of JSON."""
LARGE_POINTS = 5000
"""More points are built in a thread: a thousand take a millisecond, which blocks the event loop."""
GOOD_STEPS = 240
DAY_S = 86_400.0
MINUTES_KEPT_S = 7 * DAY_S
RATE_S = 60.0
"""Rates cover the current minute and the one before."""
SUCCESS_S = 300.0
MetricKind = Literal["counted", "sampled", "derived"]
QUANTILES = (0.5, 0.95, 0.99)
PUBLIC = ("pages_crawled", "pages_per_second", "success_rate", "frontier_size", "active_workers", "domains")


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class Metric:
    """A number that can be asked for over time."""

    name: str
    kind: MetricKind
    """`counted`: how much in a step. `sampled`: the mean of a step. `derived`: made from counted ones."""
    unit: str
    says: str
    of: tuple[str, ...] = ()
    """What a derived one is made from."""


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class Point:
    at: datetime
    label: Annotated[str, Field(examples=["success"])]
    value: float | None
    most: float | None = None
    """Of sampled numbers, the highest in this step."""


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class Series:
    metric: Annotated[str, Field(examples=["visits"])]
    kind: MetricKind
    unit: str
    since: datetime
    until: datetime
    step_s: int
    points: Sequence[Point]


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("visits", "counted", "visits", "Visits to pages, by outcome."),
        Metric("status", "counted", "visits", "Answers, by HTTP status code."),
        Metric("failures", "counted", "visits", "Visits that failed, by error code."),
        Metric("images", "counted", "visits", "Visits to images, by outcome."),
        Metric("bytes", "counted", "bytes", "Bytes received, as sent."),
        Metric("pages_learned", "counted", "pages", "Pages that became known."),
        Metric("links_seen", "counted", "links", "Links seen in pages."),
        Metric("links_dropped", "counted", "links", "Links left out, by reason."),
        Metric(
            "leases",
            "counted",
            "leases",
            "Leases claimed (and of them hinted), released, lost.",
        ),
        Metric("batch_pages", "counted", "batches", "Batches written, by their size."),
        *(
            Metric(f"{stage}_s", "counted", "visits", f"How long `{stage}` took, by the end of a bucket.")
            for stage in STAGES
        ),
        Metric("frontier_size", "sampled", "pages", "Pages known and not yet visited."),
        Metric("domains", "sampled", "domains", "Domains, by status."),
        Metric("breakers", "sampled", "domains", "Domains, by the state of their breaker."),
        Metric("leases_held", "sampled", "domains", "Domains that a worker holds."),
        Metric("leases_expired", "sampled", "domains", "Leases that outlived their time."),
        Metric("domains_waiting", "sampled", "domains", "Domains that are due and that nobody holds."),
        Metric("domain_wait_s", "sampled", "seconds", "How long the first of them has been due."),
        Metric("tasks_open", "sampled", "tasks", "Open tasks, by status."),
        Metric("task_wait_s", "sampled", "seconds", "How long the first open task has been due."),
        Metric("active_workers", "sampled", "workers", "Workers with a fresh heartbeat."),
        Metric("silent_workers", "sampled", "workers", "Workers that should have one."),
        Metric("proxies", "sampled", "proxies", "Proxies that work, failed, or are switched off."),
        Metric("webhooks_waiting", "sampled", "calls", "Calls to webhooks that are not delivered yet."),
        Metric("database_bytes", "sampled", "bytes", "Size of the database."),
        Metric("connections", "sampled", "connections", "Connections to the database."),
        Metric("alerts_open", "sampled", "alerts", "Open alerts, by severity."),
        Metric("alerts_unacknowledged", "sampled", "alerts", "Open alerts that nobody acknowledged, by severity."),
        Metric("queue_messages", "sampled", "messages", "Messages that wait in the broker, by kind of queue."),
        Metric("disk_free_bytes", "sampled", "bytes", "Room on the disk of the data folder."),
        Metric("pages_per_second", "derived", "per second", "Visits to pages per second.", ("visits",)),
        Metric("success_rate", "derived", "share", "Share of visits that brought a page.", ("visits",)),
        Metric("error_rate", "derived", "share", "Share of visits answered with 4xx or 5xx.", ("visits", "status")),
        *(
            Metric(
                f"{stage}_latency",
                "derived",
                "seconds",
                f"Half, 95 % and 99 % of `{stage}` took no longer.",
                (f"{stage}_s",),
            )
            for stage in STAGES
        ),
    )
}


# Over time -----------------------------------------------------------------------------------------------------------


async def series(
    conn: Connection, metric: str, *, since: datetime, until: datetime | None = None, step_s: int | None = None
) -> Series:
    """Returns one metric in steps. Minutes are kept for seven days; older data has one step per day. Without a step
    it starts some four years ago at the earliest, and the result says so."""
    known = find_metric(metric)
    now = await read_clock(conn)
    until = min(until or now, now)
    if since >= until:
        raise UsageError(
            "The series is empty: its beginning has to lie before its end, and in the past.", field="since"
        )
    if step_s is None:
        since = max(since, until - timedelta(seconds=MOST_STEPS * STEPS_S[-1]))
    step_s = resolve_step(since, until, now, step_s)
    since = _step_of(since, step_s)
    steps = await store.read_series(conn, known.of or (metric,), since=since, until=until, step_s=float(step_s))
    moments = _step_times(since, until, step_s)
    number = max(len(moments) * len({step.label for step in steps}), len(steps))
    if number > MOST_POINTS:
        raise UsageError(
            f"These are more than {MOST_POINTS:,} points: take a longer step or a shorter time.", field="step_s"
        )
    plot = PLOTS[known.kind]
    if number > LARGE_POINTS:
        points = await asyncio.to_thread(plot, known, steps, moments, step_s, until)
    else:
        points = plot(known, steps, moments, step_s, until)
    return Series(metric, known.kind, known.unit, since, until, step_s, points)


def find_metric(name: str) -> Metric:
    if name not in METRICS:
        said = suggestion(name, list(METRICS))
        raise NotFoundError(
            f"There is no metric {name!r}." + (said if "Did you" in said else f" There are {', '.join(METRICS)}.")
        )
    return METRICS[name]


def resolve_step(since: datetime, until: datetime, now: datetime, step_s: int | None) -> int:
    """Returns the requested step, or one that gives a chart some two hundred points. A whole number of minutes."""
    span_s = (until - since).total_seconds()
    if step_s is not None:
        if step_s < 60 or step_s % 60 or DAY_S % step_s:
            raise UsageError(
                "A step is a minute at least, and a day is a whole number of steps, such as 60 or 3600.", field="step_s"
            )
    elif (now - since).total_seconds() > MINUTES_KEPT_S:
        step_s = STEPS_S[-1]
    else:
        step_s = next((step for step in STEPS_S if span_s / step <= GOOD_STEPS), STEPS_S[-1])
    if span_s / step_s > MOST_STEPS:
        raise UsageError(
            f"These are more than {MOST_STEPS:,} steps: take a longer step or a shorter time.", field="step_s"
        )
    return step_s


def _step_of(moment: datetime, step_s: int) -> datetime:
    """Returns the step that contains a moment, as the database bins them."""
    epoch = datetime(2000, 1, 1, tzinfo=moment.tzinfo)
    return epoch + timedelta(seconds=(moment - epoch).total_seconds() // step_s * step_s)


def _step_times(since: datetime, until: datetime, step_s: int) -> list[datetime]:
    number = -int((since - until).total_seconds() // step_s)
    return [since + timedelta(seconds=step_s * each) for each in range(number)]


def _build_counter_points(
    _metric: Metric, steps: Sequence[Step], moments: Sequence[datetime], _step_s: int, _until: datetime
) -> list[Point]:
    """Returns the points of a counted metric. A step without counts is zero."""
    amounts = {(step.at, step.label): step.amount for step in steps}
    labels = sorted({step.label for step in steps})
    return [Point(at, label, amounts.get((at, label), 0.0)) for at in moments for label in labels]


def _build_sample_points(
    _metric: Metric, steps: Sequence[Step], _step_times: Sequence[datetime], _step_s: int, _until: datetime
) -> list[Point]:
    """Returns the points of a sampled metric. A step without a sample is left out, since its value is unknown."""
    return [Point(step.at, step.label, step.mean, step.most) for step in steps]


def _build_derived_points(
    metric: Metric, steps: Sequence[Step], moments: Sequence[datetime], step_s: int, until: datetime
) -> list[Point]:
    by_moment: dict[datetime, list[Number]] = {}
    for step in steps:
        by_moment.setdefault(step.at, []).append(Number(step.metric, step.label, step.amount))
    points: list[Point] = []
    for at in moments:
        numbers, seconds = by_moment.get(at, []), min(step_s, (until - at).total_seconds())
        if metric.name.endswith("_latency"):
            found = quantiles(_values_by_label(numbers, metric.of[0]))
            points += [Point(at, label, value) for label, value in found.items() if value is not None]
        else:
            points.append(Point(at, "", RATES[metric.name](numbers, seconds)))
    return points


PLOTS: Mapping[str, Callable[[Metric, Sequence[Step], Sequence[datetime], int, datetime], list[Point]]] = {
    "counted": _build_counter_points,
    "sampled": _build_sample_points,
    "derived": _build_derived_points,
}


# Derived metrics -----------------------------------------------------------------------------------------------------


def per_second(numbers: Sequence[Number], seconds: float) -> float:
    return _visits(numbers) / seconds if seconds > 0 else 0.0


def success_rate(numbers: Sequence[Number], _seconds: float = 0.0) -> float | None:
    """Returns the success rate; None where there were no visits."""
    visits = _visits(numbers)
    return _values_by_label(numbers, "visits").get("success", 0.0) / visits if visits else None


def error_rate(numbers: Sequence[Number], _seconds: float = 0.0) -> float | None:
    visits = _visits(numbers)
    refused = sum(amount for code, amount in _values_by_label(numbers, "status").items() if code[:1] in {"4", "5"})
    return refused / visits if visits else None


RATES: Mapping[str, Callable[[Sequence[Number], float], float | None]] = {
    "pages_per_second": per_second,
    "success_rate": success_rate,
    "error_rate": error_rate,
}


def quantiles(buckets: Mapping[str, float]) -> dict[str, float | None]:
    """Returns `p50`, `p95`, `p99` of a histogram by linear interpolation inside each bucket; the last bucket has no
    upper bound and counts as its lower bound."""
    ends = [(float(label), buckets.get(label, 0.0)) for label in LATENCY_LABELS]
    return {f"p{quantile * 100:.0f}": _quantile(ends, quantile) for quantile in QUANTILES}


def _quantile(ends: Sequence[tuple[float, float]], quantile: float) -> float | None:
    wanted = sum(number for _, number in ends) * quantile
    passed = 0.0
    begin = 0.0
    for end, number in ends:
        if number and passed + number >= wanted:
            return begin if end == float("inf") else begin + (end - begin) * (wanted - passed) / number
        passed += number
        begin = end
    return None


def _visits(numbers: Sequence[Number]) -> float:
    return sum(each.amount for each in numbers if each.metric == "visits" and each.label not in NOT_ASKED)


def _values_by_label(numbers: Iterable[Number], metric: str) -> dict[str, float]:
    return {each.label: each.amount for each in numbers if each.metric == metric}


# Now -----------------------------------------------------------------------------------------------------------------


async def overview(conn: Connection, *, dead_after_s: float = 120.0) -> Row:
    """Returns the state of the whole crawl: what is stored, what is running, what waits, what is wrong."""
    totals = dict(await fetch_one(conn, SQL["totals"]))
    counted = await store.read_totals(conn)
    state = await store.read_state(conn, dead_after_s=dead_after_s)
    recent, seconds = await store.read_recent(conn, ["visits", "status"], since_s=RATE_S)
    lately, _ = await store.read_recent(
        conn, ["visits", "status", *(f"{stage}_s" for stage in STAGES)], since_s=SUCCESS_S
    )
    now = {each.metric: each.amount for each in state if not each.label}
    return {
        "at": await read_clock(conn),
        **totals,
        "pages_per_second": round(per_second(recent, seconds), 3),
        "success_rate": success_rate(lately),
        "error_rate": error_rate(lately),
        **{name: now.get(name, 0.0) for name in NOW},
        "domain_states": _values_by_label(state, "domains"),
        "breakers": _values_by_label(state, "breakers"),
        "tasks_open": _values_by_label(state, "tasks_open"),
        "proxies": _values_by_label(state, "proxies"),
        "alerts_open": _values_by_label(state, "alerts_open"),
        "alerts_unacknowledged": _values_by_label(state, "alerts_unacknowledged"),
        "visits": _values_by_label(counted, "visits"),
        "statuses": _values_by_label(counted, "status"),
        "failures": _values_by_label(counted, "failures"),
        "leases": _values_by_label(counted, "leases"),
        "bytes": _values_by_label(counted, "bytes").get("", 0.0),
        "latency": {stage: quantiles(_values_by_label(lately, f"{stage}_s")) for stage in STAGES},
    }


NOW = (
    "frontier_size",
    "active_workers",
    "silent_workers",
    "leases_held",
    "leases_expired",
    "domains_waiting",
    "domain_wait_s",
    "task_wait_s",
    "webhooks_waiting",
    "database_bytes",
    "connections",
)


def public(shown: Row) -> Row:
    """Returns the part of the overview that is public."""
    return {name: shown[name] for name in PUBLIC}
