"""Operator actions on alerts: list, acknowledge, resolve, mute a rule, manage webhook targets. CLI and API call these.

Each function runs in the caller's transaction, and records who did it and when.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import with_config

from forager.alerts import store
from forager.alerts.plugin_rules import all_rules
from forager.alerts.rules import RULES, SEVERITIES
from forager.db.rows import RECORD
from forager.db.types import Connection
from forager.domains.lookup import suggestion
from forager.errors import NotFoundError, UsageError
from forager.logs import log
from forager.politeness.guard import AddressGuard
from forager.tasks.submit import read_webhook
from forager.webhooks import notifiers
from forager.webhooks import store as webhooks

Row = dict[str, Any]
LONGEST_MUTE_S = 90 * 86_400.0
LEAST_AWAY_S = 5.0
"""A shorter outage is a restart, and not worth an alert."""


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class AlertChanged:
    """`changed` are the alerts that were moved; the others of those named had been before."""

    alerts: Sequence[int]
    changed: Sequence[int]


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class Muted:
    rule: str
    subject: str
    muted_until: datetime
    muted_by: str
    reason: str | None


async def list_alerts(
    conn: Connection,
    *,
    is_open: bool = True,
    rule: str | None = None,
    before: int | None = None,
    limit: int | None = 100,
) -> list[Row]:
    """Returns alerts, newest first; `before` is the id of the last alert of the previous page."""
    if rule is not None:
        _validate_rule(rule)
    return await store.list_alerts(conn, is_open=is_open, rule=rule, before=before, limit=limit)


async def describe(conn: Connection, alert: int) -> Row:
    """Returns one alert with its history and the description of its rule."""
    found = await store.find_alert(conn, alert)
    if found is None:
        raise NotFoundError(f"There is no alert {alert}. `forager alerts --all` lists them.")
    rule = all_rules().get(found["rule"])
    return {
        **found,
        "says": rule.says if rule else None,
        "runbook": f"docs/runbook/{found['rule'].replace('_', '-')}.md" if rule and rule.name in RULES else None,
        "events": await store.events_of(conn, alert),
    }


async def acknowledge(conn: Connection, alerts: Sequence[int], *, by: str, reason: str | None = None) -> AlertChanged:
    """Marks alerts as acknowledged: an operator takes care of them, and they stay open."""
    await _reject_unknown(conn, alerts)
    return AlertChanged(alerts, await store.acknowledge(conn, alerts, by=by, note=reason))


async def resolve(conn: Connection, alerts: Sequence[int], *, by: str, reason: str | None = None) -> AlertChanged:
    """Resolves alerts whatever their rules say. A condition that persists raises a new alert after its hold time."""
    await _reject_unknown(conn, alerts)
    ended = [row["id"] for row in await store.resolve(conn, alerts, by=by, note=reason)]
    await store.tell(conn, ended, "resolved", webhooks.add)
    return AlertChanged(alerts, ended)


async def mute(
    conn: Connection, rule: str, *, seconds: float, by: str, subject: str = "", reason: str | None = None
) -> Muted:
    """Suppresses notifications of this rule for a limited time; its alerts are still raised and shown."""
    _validate_rule(rule)
    if not 0 < seconds <= LONGEST_MUTE_S:
        raise UsageError("A rule is muted for more than nothing and for 90 days at most.", field="lasts_s")
    return Muted(**await store.mute(conn, rule, subject, seconds=seconds, by=by, reason=reason))


async def unmute(conn: Connection, rule: str, *, subject: str = "") -> bool:
    """Returns False if the rule was not muted."""
    _validate_rule(rule)
    return await store.unmute(conn, rule, subject)


async def list_mutes(conn: Connection) -> list[Row]:
    return await store.list_mutes(conn)


async def add_target(
    conn: Connection, url: str, *, by: str, severity: str = "warning", guard: AddressGuard | None = None
) -> Row:
    """Adds a webhook that is called when alerts of this severity or worse are raised and resolved. Rejects an address
    that the guard forbids; a host name is resolved when the webhook is called."""
    if severity not in SEVERITIES:
        raise UsageError(f"There is no severity {severity!r}; there are {' and '.join(SEVERITIES)}.", field="severity")
    return await store.add_target(conn, read_target(url, guard), severity=severity, by=by)


def read_target(url: str, guard: AddressGuard | None = None) -> str:
    """Validates a target: a webhook, or `SCHEME:TARGET` of a plug-in's receiver."""
    return notifiers.check_target(url) if notifiers.is_notifier_target(url) else read_webhook(url, guard)


async def remove_target(conn: Connection, target: int) -> str:
    """Removes a webhook target and returns its URL."""
    url = await store.remove_target(conn, target)
    if url is None:
        raise NotFoundError(f"There is no target {target}. `forager alerts targets` lists them.")
    return url


async def list_targets(conn: Connection) -> list[Row]:
    return await store.list_targets(conn)


def list_rules() -> list[Row]:
    """Returns every rule with its description, its hold time and its quiet time."""
    return [
        {
            "rule": rule.name,
            "severity": rule.severity,
            "hold_s": rule.hold.total_seconds(),
            "quiet_s": rule.quiet.total_seconds(),
            "says": rule.says,
        }
        for rule in all_rules().values()
    ]


async def record_unavailable(conn: Connection, *, away_s: float, by: str, reason: str | None = None) -> int | None:
    """Records an outage of the database after it has ended, once for all processes that noticed it."""
    if away_s < LEAST_AWAY_S:
        return None
    message = f"The database did not answer for {away_s:,.0f} seconds."
    if reason is not None:
        message = f"The database took no writes for {away_s:,.0f} seconds: {reason[:300]}."
    alert = await store.record_unavailable(conn, away_s=away_s, message=message, by=by)
    if alert is not None:
        await store.tell(conn, [alert], "resolved", webhooks.add)
        log().error(f"alert: {message}", action="alert.raised", rule="database_away", alert=alert)
    return alert


async def _reject_unknown(conn: Connection, alerts: Sequence[int]) -> None:
    for alert in alerts:
        if await store.find_alert(conn, alert) is None:
            raise NotFoundError(f"There is no alert {alert}. `forager alerts --all` lists them.")


def _validate_rule(rule: str) -> None:
    if rule not in all_rules():
        raise NotFoundError(f"There is no rule {rule!r}." + _near(rule))


def _near(rule: str) -> str:
    said = suggestion(rule, list(all_rules()))
    return said if "Did you mean" in said else " `forager alerts rules` lists them all."
