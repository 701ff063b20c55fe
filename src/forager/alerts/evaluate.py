"""Evaluates the findings of the rules against the stored watches, and raises and resolves alerts.

The evaluation runs in one transaction of the caller: concurrent evaluations are serialized, and a killed process leaves
nothing half done. Notifications are enqueued in the same transaction, so that none is sent for a change that was rolled
back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from forager.alerts import store
from forager.alerts.plugin_rules import all_rules
from forager.alerts.rules import RULES, Finding, Rule
from forager.alerts.store import BY_RULE, Key, Put, Row
from forager.alerts.watch import Level, Move, Watch, step
from forager.db.types import Connection
from forager.logs import log


@dataclass(frozen=True, slots=True)
class AlertChanges:
    raised: Sequence[Row]
    resolved: Sequence[Row]
    open: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes that an evaluation leads to. Pure: the store applies them."""

    watches: Mapping[Key, Watch]
    raises: Sequence[Finding]
    seen: Mapping[int, Finding]
    resolves: Sequence[int]


async def look(conn: Connection, findings: Sequence[Finding], now: datetime, put: Put) -> AlertChanges:
    """Runs one evaluation. `now` is the database's time; `put` adds a call to the webhook outbox."""
    watched = await store.read_watches(conn)
    plan = plan_of(findings, watched, now)
    await store.update_open_alerts(conn, plan.seen)
    resolved = await store.resolve(conn, plan.resolves, by=BY_RULE)
    await store.keep_watches(conn, plan.watches)
    raised = await store.raise_all(conn, plan.raises)
    await store.end_mutes(conn)
    for alerts, event in ((raised, "raised"), (resolved, "resolved")):
        await store.tell(conn, [alert["id"] for alert in alerts], event, put)
    was_open = sum(alert is not None for _, alert in watched.values())
    return AlertChanges(raised, resolved, was_open - len(resolved) + len(raised))


def say(looked: AlertChanges) -> None:
    """Logs the changes; call it after the commit."""
    for alert in looked.raised:
        about = {"rule": alert["rule"], "subject": alert["subject"], "alert": alert["id"]}
        log().error(f"alert: {alert['message']}", action="alert.raised", severity=alert["severity"], **about)
    for alert in looked.resolved:
        log().warning("alert resolved", action="alert.resolved", rule=alert["rule"], subject=alert["subject"])


def plan_of(findings: Sequence[Finding], watched: Mapping[Key, tuple[Watch, int | None]], now: datetime) -> Plan:
    """Plans the changes. A watched subject without a finding is good."""
    found = {(finding.rule, finding.subject): finding for finding in findings}
    rules = all_rules()
    watches: dict[Key, Watch] = {}
    raises: list[Finding] = []
    seen: dict[int, Finding] = {}
    resolves: list[int] = []
    for key in sorted({*found, *watched}):
        watch, alert = watched.get(key, (Watch(), None))
        finding = found.get(key)
        rule = rules.get(key[0], RETIRED)
        watches[key], move = step(
            watch, finding.level if finding else Level.GOOD, now, hold=rule.hold, quiet=rule.quiet
        )
        if move is Move.RAISE and finding is not None:
            raises.append(finding)
        elif move is Move.RESOLVE and alert is not None:
            resolves.append(alert)
        elif alert is not None and finding is not None:
            seen[alert] = finding
    return Plan(watches, raises, seen, resolves)


RETIRED = Rule("retired", "warning", RULES["disk_low"].hold, RULES["disk_low"].quiet, "A rule of an older Forager.")
