"""Looks of the rules on a real database: raised once, resolved once, whoever looks and whoever interferes."""

import asyncio
import json
from datetime import datetime, timedelta
from typing import Any

import asyncpg
import pytest
from tests.ground import Ground

from forager.alerts import service as control
from forager.alerts import store
from forager.alerts.evaluate import AlertChanges, look
from forager.alerts.rules import RULES, Finding
from forager.alerts.watch import Level
from forager.errors import NotFoundError, UsageError
from forager.webhooks import store as webhooks

pytestmark = pytest.mark.both_servers
HALF_MINUTE = timedelta(seconds=30)
DISK = Finding("disk_low", "/data", Level.BAD, 0.01, "Hardly anything is free.")


class Watchman:
    """Looks every half minute, on a clock of his own."""

    def __init__(self, conn: Any, now: datetime) -> None:
        self.conn, self.now = conn, now

    async def look(self, *findings: Finding, times: int = 1) -> AlertChanges:
        looked = AlertChanges([], [], 0)
        for _ in range(times):
            self.now += HALF_MINUTE
            async with self.conn.transaction():
                looked = await look(self.conn, findings, self.now, webhooks.add)
        return looked


@pytest.fixture
async def watchman(ground: Ground) -> Watchman:
    return Watchman(ground.conn, await ground.conn.fetchval("SELECT now()"))


async def alerts(ground: Ground, **which: Any) -> list[dict[str, Any]]:
    return await control.list_alerts(ground.conn, **{"is_open": False} | which)


async def test_an_alert_from_its_first_sign_to_its_end(ground: Ground, watchman: Watchman) -> None:
    assert not (await watchman.look(DISK, times=2)).raised
    assert [alert["subject"] for alert in (await watchman.look(DISK)).raised] == ["/data"]
    worse = Finding("disk_low", "/data", Level.BAD, 0.0, "Nothing is free.")
    assert (await watchman.look(worse, times=10)).open == 1
    [alert] = await alerts(ground, is_open=True)
    assert (alert["message"], alert["status"], alert["severity"]) == ("Nothing is free.", "open", "critical")
    assert not (await watchman.look(times=4)).resolved
    assert (await watchman.look()).resolved
    [alert] = await alerts(ground)
    assert (alert["status"], alert["resolved_by"]) == ("resolved", "rule")
    assert [event["what"] for event in await store.events_of(ground.conn, alert["id"])] == ["raised", "resolved"]
    assert await ground.conn.fetchval("SELECT count(*) FROM alert_watches") == 0


async def test_two_who_look_at_once_raise_one(pool: asyncpg.Pool, watchman: Watchman, ground: Ground) -> None:
    await watchman.look(DISK, times=2)

    async def once(_number: int) -> int:
        async with pool.acquire() as conn, conn.transaction():
            return len((await look(conn, [DISK], watchman.now + HALF_MINUTE, webhooks.add)).raised)

    assert sum(await asyncio.gather(*map(once, range(6)))) == 1
    assert len(await alerts(ground)) == 1


async def test_a_look_that_is_cut_off_changes_nothing(ground: Ground, watchman: Watchman) -> None:
    await control.add_target(ground.conn, "https://hooks.example/x", by="me")
    await watchman.look(DISK, times=2)
    killed = ground.conn.transaction()
    await killed.start()
    assert (await look(ground.conn, [DISK], watchman.now + HALF_MINUTE, webhooks.add)).raised
    await killed.rollback()
    assert await alerts(ground) == []
    assert await ground.conn.fetchval("SELECT count(*) FROM webhook_calls") == 0
    assert (await watchman.look(DISK)).raised


async def test_a_rule_of_an_older_forager_is_resolved(ground: Ground, watchman: Watchman) -> None:
    await ground.conn.execute("INSERT INTO alerts (rule, severity, message) VALUES ('forgotten', 'warning', 'x')")
    assert (await watchman.look(times=5)).resolved
    assert await alerts(ground, is_open=True) == []


# People --------------------------------------------------------------------------------------------------------------


async def raised(watchman: Watchman) -> int:
    await watchman.look(DISK, times=2)
    [alert] = (await watchman.look(DISK)).raised
    found: int = alert["id"]
    return found


async def test_who_acknowledges_first_stays_named(ground: Ground, watchman: Watchman) -> None:
    alert = await raised(watchman)
    assert (await control.acknowledge(ground.conn, [alert], by="ada", reason="on it")).changed == [alert]
    assert (await control.acknowledge(ground.conn, [alert], by="bob")).changed == []
    await watchman.look(DISK)
    found = await control.describe(ground.conn, alert)
    assert (found["status"], found["acknowledged_by"]) == ("acknowledged", "ada")
    assert [(event["what"], event["by"], event["note"]) for event in found["events"]][1:] == [
        ("acknowledged", "ada", "on it")
    ]
    assert found["runbook"] == "docs/runbook/disk-low.md"


async def test_what_a_person_resolves_is_raised_again_only_after_its_time(ground: Ground, watchman: Watchman) -> None:
    alert = await raised(watchman)
    assert (await control.resolve(ground.conn, [alert], by="ada")).changed == [alert]
    assert (await control.resolve(ground.conn, [alert], by="bob")).changed == []
    assert not (await watchman.look(DISK, times=2)).raised
    assert (await watchman.look(DISK)).raised
    assert [(each["status"], each["resolved_by"]) for each in await alerts(ground)] == [
        ("open", None),
        ("resolved", "ada"),
    ]


async def test_what_is_not_there_is_one_sentence(ground: Ground) -> None:
    with pytest.raises(NotFoundError, match="There is no alert 4711"):
        await control.acknowledge(ground.conn, [4711], by="ada")
    with pytest.raises(NotFoundError, match="There is no alert 4711"):
        await control.describe(ground.conn, 4711)
    with pytest.raises(NotFoundError, match=r"There is no rule 'disc_low'. Did you mean disk_low"):
        await control.mute(ground.conn, "disc_low", seconds=60, by="ada")
    with pytest.raises(NotFoundError, match="There is no target 4711"):
        await control.remove_target(ground.conn, 4711)
    with pytest.raises(UsageError, match="There is no severity"):
        await control.add_target(ground.conn, "https://a.example/", by="ada", severity="loud")
    with pytest.raises(UsageError, match="90 days at most"):
        await control.mute(ground.conn, "disk_low", seconds=1e9, by="ada")


async def test_pages_of_alerts_follow_each_other(ground: Ground) -> None:
    for number in range(5):
        await ground.conn.execute(
            "INSERT INTO alerts (rule, subject, severity, message) VALUES ('disk_low', $1, 'warning', 'x')", str(number)
        )
    first = await alerts(ground, limit=2)
    second = await alerts(ground, limit=2, before=first[-1]["id"])
    assert [each["subject"] for each in first + second] == ["4", "3", "2", "1"]
    assert await alerts(ground, rule="error_rate") == []


# Telling -------------------------------------------------------------------------------------------------------------


async def calls(ground: Ground) -> list[tuple[str, str]]:
    rows = await ground.conn.fetch("SELECT url, payload FROM webhook_calls WHERE kind = 'alert' ORDER BY id")
    return [(row["url"], json.loads(row["payload"])["event"]) for row in rows]


async def test_who_is_told_hears_of_the_raise_and_of_the_end_once(ground: Ground, watchman: Watchman) -> None:
    await control.add_target(ground.conn, "https://all.example/x", by="me")
    await control.add_target(ground.conn, "https://all.example/x", by="me")
    await raised(watchman)
    await watchman.look(DISK, times=5)
    await watchman.look(times=10)
    assert await calls(ground) == [
        ("https://all.example/x", "alert.raised"),
        ("https://all.example/x", "alert.resolved"),
    ]
    payload = json.loads(await ground.conn.fetchval("SELECT payload FROM webhook_calls ORDER BY id LIMIT 1"))
    assert payload["rule"] == "disk_low"
    assert payload["message"] == "Hardly anything is free."


async def test_warnings_are_not_for_those_who_want_critical_ones(ground: Ground, watchman: Watchman) -> None:
    await control.add_target(ground.conn, "https://pager.example/", by="me", severity="critical")
    late = Finding("job_late", "score", Level.BAD, 400, "Late.")
    assert RULES["job_late"].severity == "warning"
    assert (await watchman.look(late, DISK, times=3)).open == 2
    assert len(await calls(ground)) == 1


async def test_what_is_muted_is_raised_and_shown_and_nobody_is_told(ground: Ground, watchman: Watchman) -> None:
    await control.add_target(ground.conn, "https://all.example/", by="me")
    await control.mute(ground.conn, "disk_low", seconds=3600, by="ada", subject="/data", reason="known")
    await raised(watchman)
    [alert] = await alerts(ground, is_open=True)
    assert alert["is_muted"]
    assert await calls(ground) == []
    assert await control.unmute(ground.conn, "disk_low", subject="/data")
    assert not await control.unmute(ground.conn, "disk_low", subject="/data")
    await watchman.look(times=5)
    assert [event for _, event in await calls(ground)] == ["alert.resolved"]


async def test_a_mute_ends_by_itself(ground: Ground, watchman: Watchman) -> None:
    await control.mute(ground.conn, "disk_low", seconds=60, by="ada")
    await ground.conn.execute("UPDATE alert_mutes SET muted_until = now() - interval '1 second'")
    assert await control.list_mutes(ground.conn) == []
    await watchman.look()
    assert await ground.conn.fetchval("SELECT count(*) FROM alert_mutes") == 0


# An absence ----------------------------------------------------------------------------------------------------------


async def test_an_absence_is_noted_once_whoever_saw_it(pool: asyncpg.Pool, ground: Ground) -> None:
    async def note(number: int) -> int | None:
        async with pool.acquire() as conn, conn.transaction():
            return await control.record_unavailable(conn, away_s=20.0 + number, by=f"process {number}")

    noted = [alert for alert in await asyncio.gather(*map(note, range(4))) if alert]
    assert len(noted) == 1
    [alert] = await alerts(ground)
    assert (alert["rule"], alert["status"], alert["severity"]) == ("database_away", "resolved", "critical")
    assert 19 < (alert["resolved_at"] - alert["raised_at"]).total_seconds() < 24


async def test_a_restart_is_no_absence_and_the_next_absence_is_another(ground: Ground) -> None:
    assert await control.record_unavailable(ground.conn, away_s=2.0, by="me") is None
    assert await control.record_unavailable(ground.conn, away_s=20.0, by="me")
    await ground.conn.execute(
        "UPDATE alerts SET raised_at = raised_at - interval '1 h', resolved_at = resolved_at - interval '1 h'"
    )
    assert await control.record_unavailable(ground.conn, away_s=20.0, by="me")
    assert len(await alerts(ground)) == 2
