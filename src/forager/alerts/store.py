"""One short function per statement of `queries.sql`. Opens no transactions: the service layer does."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from forager.alerts.plugin_rules import all_rules
from forager.alerts.rules import (
    FailedLogin,
    Finding,
    JobStatus,
    MissingProxies,
    ParseStats,
    PausedWorkers,
    PoolStats,
    StaleWorkers,
)
from forager.alerts.watch import Watch
from forager.db import statements
from forager.db.query import Query, fetch_one
from forager.db.types import Connection

SQL = statements.load("forager.alerts")
LIST_FAILED_LOGINS = Query(SQL["list_failed_logins"], FailedLogin)
Row = dict[str, Any]
Key = tuple[str, str]
"""Rule and subject."""
Put = Callable[[Any, str, Mapping[str, Any]], Awaitable[Any]]
"""Arguments: connection, URL, payload."""
BY_RULE = "rule"
"""The actor that the history names for changes made by a rule."""
SAME_ABSENCE_S = 30.0
"""Processes notice the end of an outage at different times; within this time it is the same outage."""


# Rule evaluation -----------------------------------------------------------------------------------------------------


async def read_watches(conn: Connection) -> dict[Key, tuple[Watch, int | None]]:
    """Returns the watches, with the id of the open alert. Takes a lock that excludes other evaluations until the end of
    the transaction."""
    await conn.execute(SQL["take_turn"])
    return {
        (row["rule"], row["subject"]): (
            Watch(row["alert_id"] is not None, row["bad_since"], row["quiet_since"], row["seen_at"]),
            row["alert_id"],
        )
        for row in await conn.fetch(SQL["read_watches"])
    }


async def keep_watches(conn: Connection, watches: Mapping[Key, Watch]) -> None:
    await conn.execute(SQL["forget_watches"])
    kept = {key: watch for key, watch in watches.items() if watch.is_pending}
    if kept:
        rules, subjects = zip(*kept, strict=True)
        states = [(watch.bad_since, watch.quiet_since, watch.seen_at) for watch in kept.values()]
        await conn.execute(SQL["keep_watches"], rules, subjects, *zip(*states, strict=True))


async def raise_all(conn: Connection, findings: Sequence[Finding]) -> list[Row]:
    """Inserts the alerts and returns those that are new."""
    if not findings:
        return []
    rules = all_rules()
    rows = await conn.fetch(
        SQL["raise"],
        [each.rule for each in findings],
        [each.subject for each in findings],
        [rules[each.rule].severity for each in findings],
        [each.message for each in findings],
        [float(each.value) for each in findings],
    )
    return [dict(row) for row in rows]


async def update_open_alerts(conn: Connection, found: Mapping[int, Finding]) -> None:
    if found:
        messages, values = [each.message for each in found.values()], [float(each.value) for each in found.values()]
        await conn.execute(SQL["update_open_alerts"], list(found), messages, values)


async def tell(conn: Connection, alerts: Sequence[int], event: str, put: Put) -> None:
    """Enqueues a webhook call for each subscribed target; `put` writes to the outbox of another package."""
    for row in await conn.fetch(SQL["calls_for"], alerts, event) if alerts else ():
        await put(conn, row["url"], json.loads(row["payload"]))


async def list_stale_workers(
    conn: Connection, *, silent_s: float, remembered_s: float, unnoticed_s: float
) -> list[StaleWorkers]:
    rows = await conn.fetch(SQL["list_stale_workers"], silent_s, remembered_s, unnoticed_s)
    return [StaleWorkers(*row) for row in rows]


async def list_failed_logins(conn: Connection, *, most: int) -> list[FailedLogin]:
    return await LIST_FAILED_LOGINS.fetch(conn, most)


async def paused_workers(conn: Connection) -> list[PausedWorkers]:
    return [PausedWorkers(*row) for row in await conn.fetch(SQL["paused_workers"])]


async def get_missing_proxies(conn: Connection) -> list[MissingProxies]:
    return [MissingProxies(*row) for row in await conn.fetch(SQL["get_missing_proxies"])]


async def get_pool_stats(conn: Connection, *, since_s: float) -> list[PoolStats]:
    return [PoolStats(*row) for row in await conn.fetch(SQL["get_pool_stats"], since_s)]


async def get_parse_stats(conn: Connection) -> list[ParseStats]:
    return [ParseStats(*row) for row in await conn.fetch(SQL["get_parse_stats"])]


async def get_field_stats(conn: Connection) -> list[ParseStats]:
    return [ParseStats(*row) for row in await conn.fetch(SQL["get_field_stats"])]


async def get_job_status(conn: Connection) -> list[JobStatus]:
    return [JobStatus(*row) for row in await conn.fetch(SQL["get_job_status"])]


async def count_dead(conn: Connection, *, since_s: float) -> dict[str, int]:
    return dict(await fetch_one(conn, SQL["count_dead"], since_s))


async def count_challenged(conn: Connection) -> tuple[int, str]:
    """Returns the number of domains that show a check of their visitors, and one of them with its reason."""
    row = await fetch_one(conn, SQL["challenged_domains"])
    return row["domains"], row["example"]


async def record_unavailable(conn: Connection, *, away_s: float, message: str, by: str) -> int | None:
    """Records a past outage; returns None if another process has recorded it."""
    await conn.execute(SQL["take_turn"])
    alert: int | None = await conn.fetchval(SQL["record_unavailable"], away_s, message, by, SAME_ABSENCE_S)
    return alert


async def end_mutes(conn: Connection) -> None:
    await conn.execute(SQL["end_mutes"])


# Operator actions ----------------------------------------------------------------------------------------------------


async def list_alerts(
    conn: Connection, *, is_open: bool, rule: str | None, before: int | None, limit: int | None
) -> list[Row]:
    return [dict(row) for row in await conn.fetch(SQL["list_alerts"], is_open, rule, before, limit)]


async def find_alert(conn: Connection, alert: int) -> Row | None:
    row = await conn.fetchrow(SQL["find_alert"], alert)
    return dict(row) if row else None


async def events_of(conn: Connection, alert: int) -> list[Row]:
    return [dict(row) for row in await conn.fetch(SQL["events_of"], alert)]


async def acknowledge(conn: Connection, alerts: Sequence[int], *, by: str, note: str | None) -> list[int]:
    return [row["id"] for row in await conn.fetch(SQL["acknowledge"], alerts, by, note)]


async def resolve(conn: Connection, alerts: Sequence[int], *, by: str, note: str | None = None) -> list[Row]:
    return [dict(row) for row in await conn.fetch(SQL["resolve"], alerts, by, note)] if alerts else []


async def mute(conn: Connection, rule: str, subject: str, *, seconds: float, by: str, reason: str | None) -> Row:
    return dict(await fetch_one(conn, SQL["mute"], rule, subject, seconds, by, reason))


async def unmute(conn: Connection, rule: str, subject: str) -> bool:
    return await conn.fetchval(SQL["unmute"], rule, subject) is not None


async def list_mutes(conn: Connection) -> list[Row]:
    return [dict(row) for row in await conn.fetch(SQL["list_mutes"])]


async def add_target(conn: Connection, url: str, *, severity: str, by: str) -> Row:
    return dict(await fetch_one(conn, SQL["add_target"], url, severity, by))


async def remove_target(conn: Connection, target: int) -> str | None:
    url: str | None = await conn.fetchval(SQL["remove_target"], target)
    return url


async def list_targets(conn: Connection) -> list[Row]:
    return [dict(row) for row in await conn.fetch(SQL["list_targets"])]
