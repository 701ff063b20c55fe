"""Evaluates the alert rules: a condition that lasts raises an alert, one that is over resolves it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

from forager.alerts import store
from forager.alerts.evaluate import look, say
from forager.alerts.plugin_rules import evaluate_plugin_rules
from forager.alerts.rules import Limits, RuleInput, evaluate_rules
from forager.alerts.service_health import probe_services
from forager.config.settings import Settings
from forager.db.types import Connection
from forager.errors import (
    ConnectError,
    ConnectionLostError,
    DnsError,
    RobotsUnreachableError,
    TlsError,
    VisitTimeoutError,
)
from forager.frontier.models import OutcomeKind
from forager.plugins import registry
from forager.plugins import store as plugin_store
from forager.scheduler.job import Job, JobContext
from forager.scheduler.text import things
from forager.search.sync import read_rejected
from forager.stats import series
from forager.stats.counters import NOT_ASKED
from forager.stats.idle_detection import detect_idle_crawl
from forager.stats.store import read_clock
from forager.storage.disk import read_disks
from forager.webhooks import store as webhooks

ANSWERS_S = 60.0
"""The error rate covers the current minute and the previous one."""
UNANSWERED = frozenset(
    error.code
    for error in (DnsError, ConnectError, ConnectionLostError, TlsError, VisitTimeoutError, RobotsUnreachableError)
)
GROWTH = timedelta(minutes=3)
SILENT_S = 120.0
"""A worker without a heartbeat for this time raises an alert."""
REMEMBERED_S = 900.0
"""A dead worker whose last heartbeat is older than this raises no alert."""
POOLS_S = 600.0
MOST_LOGINS = 100
"""Failed logins that are reported at a time."""
DEAD_S = 3600.0


class AlertsJob(Job):
    name = "alerts"
    interval_s = 30.0

    async def run(self, context: JobContext) -> str:
        conn, settings = context.connection, context.settings
        services = await probe_services(settings, conn)
        async with conn.transaction():
            now = await read_clock(conn)
            facts = replace(await gather(context), services=services)
            findings = [*evaluate_rules(facts, limits_from_settings(settings)), *await evaluate_plugin_rules(facts)]
            looked = await look(conn, findings, now, webhooks.add)
            await plugin_store.add_errors(conn, registry.current().take_errors())
        say(looked)
        return f"{looked.open:,} open; {things(len(looked.raised), 'alert')} raised, {len(looked.resolved):,} resolved"


def limits_from_settings(settings: Settings) -> Limits:
    return Limits(
        error_rate=settings.alerts.max_error_rate,
        success_rate=settings.alerts.min_success_rate,
        frontier_growth=settings.alerts.max_frontier_growth,
        fewest_proxies=settings.alerts.min_proxies,
        proxy_failures=settings.alerts.max_proxy_failure_rate,
        parse_drop=settings.alerts.max_parse_drop,
        disk_free=settings.alerts.min_disk_free,
        disk_free_bytes=settings.alerts.min_disk_free_size,
    )


async def gather(context: JobContext) -> RuleInput:
    """Reads everything the rules look at, one statement each."""
    conn, settings = context.connection, context.settings
    answers = await _count_visits(conn)
    dead = await store.count_dead(conn, since_s=DEAD_S)
    unsearchable, refusal = await read_rejected(conn)
    challenged, challenge = await store.count_challenged(conn)
    stall = await detect_idle_crawl(
        conn, dead_after_s=settings.worker.dead_after, stall_s=settings.alerts.max_idle_time
    )
    return RuleInput(
        visits=answers.visits,
        refused=answers.refused,
        unanswered=answers.unanswered,
        succeeded=answers.succeeded,
        frontier=await _frontier(conn),
        workers=await store.list_stale_workers(
            conn,
            silent_s=SILENT_S,
            remembered_s=REMEMBERED_S,
            unnoticed_s=min(SILENT_S, settings.worker.dead_after),
        ),
        paused=await store.paused_workers(conn),
        logins=await store.list_failed_logins(conn, most=MOST_LOGINS),
        pools=await store.get_pool_stats(conn, since_s=POOLS_S),
        missing_proxies=await store.get_missing_proxies(conn),
        parsers=await store.get_parse_stats(conn),
        fields=await store.get_field_stats(conn),
        disks=read_disks(settings),
        jobs=[job for job in await store.get_job_status(conn) if _is_watched(job.name, context)],
        dead=dead,
        unsearchable=unsearchable,
        refusal=refusal,
        challenged=challenged,
        challenge=challenge,
        stalled=stall.domains if stall else 0,
        stall=stall.message if stall else "",
    )


def _is_watched(name: str, context: JobContext) -> bool:
    """Rows of jobs that are no longer enabled are ignored. So is this job: when it is late it raises no alerts."""
    return name != AlertsJob.name and name in context.job_names


class VisitCounts(NamedTuple):
    visits: float
    refused: float
    """Visits with a 4xx or 5xx response."""
    unanswered: float
    """Visits that failed in the network."""
    succeeded: float


async def _count_visits(conn: Connection) -> VisitCounts:
    """Counts the outcomes of the visits in the current minute and the previous one."""
    numbers, _ = await series.read_recent(conn, ["visits", "status", "failures"], since_s=ANSWERS_S)

    def count(metric: str, is_meant: Callable[[str], bool]) -> float:
        return sum(each.amount for each in numbers if each.metric == metric and is_meant(each.label))

    return VisitCounts(
        visits=count("visits", lambda outcome: outcome not in NOT_ASKED),
        refused=count("status", lambda code: code[:1] in {"4", "5"}),
        unanswered=count("failures", lambda code: code in UNANSWERED),
        succeeded=count("visits", lambda outcome: outcome == OutcomeKind.SUCCESS),
    )


async def _frontier(conn: Connection) -> list[tuple[float, float]]:
    now = await read_clock(conn)
    steps = await series.read_series(conn, ["frontier_size"], since=now - GROWTH, until=now, step_s=60.0)
    return [((now - each.at).total_seconds(), each.mean) for each in steps]
