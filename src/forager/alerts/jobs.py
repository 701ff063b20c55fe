"""The rules look at the numbers: what has been bad for long enough is raised, what has been quiet is resolved."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple

from forager.alerts import store
from forager.alerts.evaluate import look, say
from forager.alerts.rules import Facts, judge
from forager.errors import (
    ConnectError,
    ConnectionLostError,
    DnsError,
    RobotsUnreachableError,
    TlsError,
    VisitTimeoutError,
)
from forager.frontier.models import OutcomeKind
from forager.scheduler.config import SchedulerConfig
from forager.scheduler.text import things
from forager.search.sync import read_rejected
from forager.stats import series
from forager.stats.counters import NOT_ASKED
from forager.stats.stall import detect_stall
from forager.stats.store import read_clock
from forager.webhooks import store as webhooks

NAME = "alerts"
EVERY_S = 30.0
ANSWERS_S = 60.0
"""The rate of errors is that of this minute and the one before."""
UNANSWERED = frozenset(
    error.code
    for error in (DnsError, ConnectError, ConnectionLostError, TlsError, VisitTimeoutError, RobotsUnreachableError)
)
GROWTH = timedelta(minutes=3)
SILENT_S = 120.0
"""A worker without a heartbeat for this time raises an alert."""
REMEMBERED_S = 900.0
"""So long ago a dead worker may have been heard of to be worth an alert."""
POOLS_S = 600.0
DEAD_S = 3600.0


async def run_once(conn: Any, order: SchedulerConfig) -> str:
    services = await order.services(conn)
    async with conn.transaction():
        now = await read_clock(conn)
        facts = replace(await gather(conn, order), services=services)
        looked = await look(conn, judge(facts, order.limits), now, webhooks.add)
    say(looked)
    return f"{looked.open:,} open; {things(len(looked.raised), 'alert')} raised, {len(looked.resolved):,} resolved"


async def gather(conn: Any, order: SchedulerConfig) -> Facts:
    """All that the rules look at, a statement each."""
    answers = await _answers(conn)
    dead = await store.dead_letters(conn, since_s=DEAD_S)
    unsearchable, refusal = await read_rejected(conn)
    stall = await detect_stall(conn, dead_after_s=order.dead_after_s, stall_s=order.stall_s)
    return Facts(
        visits=answers.visits,
        refused=answers.refused,
        unanswered=answers.unanswered,
        succeeded=answers.succeeded,
        frontier=await _frontier(conn),
        workers=await store.silent_workers(
            conn,
            silent_s=SILENT_S,
            remembered_s=REMEMBERED_S,
            unnoticed_s=min(SILENT_S, order.dead_after_s),
        ),
        paused=await store.paused_workers(conn),
        pools=await store.pool_facts(conn, since_s=POOLS_S),
        parsers=await store.parse_facts(conn),
        disks=order.disks(),
        duties=[duty for duty in await store.duty_facts(conn) if _is_enabled(duty.name, order)],
        dead=dead,
        unsearchable=unsearchable,
        refusal=refusal,
        stalled=stall.domains if stall else 0,
        stall=stall.message if stall else "",
    )


def _is_enabled(name: str, order: SchedulerConfig) -> bool:
    """Not this one: that it is late shows where nobody looks."""
    return name != NAME and (not order.duties or name in order.duties)


class Answers(NamedTuple):
    visits: float
    refused: float
    """Answered with 4xx or 5xx."""
    unanswered: float
    """Ended by the network."""
    succeeded: float


async def _answers(conn: Any) -> Answers:
    """How the visits of the last minute and the one before ended."""
    numbers, _ = await series.read_recent(conn, ["visits", "status", "failures"], since_s=ANSWERS_S)

    def count(metric: str, is_meant: Callable[[str], bool]) -> float:
        return sum(each.amount for each in numbers if each.metric == metric and is_meant(each.label))

    return Answers(
        visits=count("visits", lambda outcome: outcome not in NOT_ASKED),
        refused=count("status", lambda code: code[:1] in {"4", "5"}),
        unanswered=count("failures", lambda code: code in UNANSWERED),
        succeeded=count("visits", lambda outcome: outcome == OutcomeKind.SUCCESS),
    )


async def _frontier(conn: Any) -> list[tuple[float, float]]:
    now = await read_clock(conn)
    steps = await series.read_series(conn, ["frontier_size"], since=now - GROWTH, until=now, step_s=60.0)
    return [((now - each.at).total_seconds(), each.mean) for each in steps]
