"""A crawl through real proxies: they take turns, a dead one is left out, a dead pool is our fault and nobody else's."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import pairwise
from statistics import median
from typing import Any

import pytest
from tests.integration.engine.stage import Stage, WatchedSite, serve
from tests.proxies import RealProxy, run_proxy

from forager.config.cipher import PasswordCipher
from forager.db.database import Database
from forager.engine import retry_policy
from forager.proxies import service as control
from forager.proxies.address import parse_address
from forager.proxies.admin import ProxyInfo
from forager.runs.models import RunEnd
from forager_playground import visits_of

pytestmark = pytest.mark.timeout(90)
KEY = "8f2c1de07b94a6350d7ecb15f93a42e8"
VAULT = PasswordCipher([KEY])
USED = {"cipher": VAULT}


@pytest.fixture(autouse=True)
async def no_proxies(database: Database) -> None:
    await database.pool.execute("DELETE FROM proxies")


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second to fourth try come at once."""
    real = retry_policy.quick_retry_s

    def hasten(*given: Any) -> float | None:
        return None if real(*given) is None else 0.01

    monkeypatch.setattr(retry_policy, "quick_retry_s", hasten)


@asynccontextmanager
async def running(*protocols: str, **more: Any) -> AsyncIterator[list[RealProxy]]:
    """Each at an address of its own, from which it speaks to sites."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(run_proxy(protocol, f"127.0.66.{number}", **more))
            for number, protocol in enumerate(protocols, 1)
        ]


async def assign(stage: Stage, proxies: list[RealProxy], domain: str | None = None, **facts: Any) -> list[int]:
    addresses = [parse_address(proxy.url()) for proxy in proxies]
    async with stage.database.pool.acquire() as conn, conn.transaction():
        added = await control.add(conn, VAULT, addresses, ProxyInfo(**facts))
        ids = [each.id for each in added]
        names = [domain] if domain else [row["name"] for row in await conn.fetch("SELECT name FROM domains")]
        for name in names:
            await control.assign(conn, name, ids, by="test")
    return ids


async def choose(database: Database, **settings: Any) -> None:
    """Crawl settings for all domains."""
    statement = (
        "INSERT INTO domain_settings (domain_id, settings, updated_by) SELECT id, $1::jsonb, 'test' FROM domains"
    )
    await database.pool.execute(statement, json.dumps(settings))


async def health(stage: Stage, table: str = "proxies") -> dict[int, dict[str, Any]]:
    key = "id" if table == "proxies" else "proxy_id"
    return {row[key]: dict(row) for row in await stage.fetch(f"SELECT * FROM {table}")}


def callers(stage: Stage) -> set[str]:
    """Whom the sites saw."""
    return {visit.client for visit in stage.web.log}


# Turns ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocols", [("http", "http", "http"), ("http", "socks5", "http")])
async def test_a_site_is_crawled_through_its_pool_in_turns(database: Database, protocols: tuple[str, ...]) -> None:
    async with serve(WatchedSite(30)) as web, running(*protocols, account=("user", "secret")) as proxies:
        stage = await Stage.open(database, web)
        ids = await assign(stage, proxies)
        await stage.work(services=USED, unpaced_concurrency=1)
        assert await stage.urls("status = 'fetched'") == web.answer_key.expected_success()
        assert callers(stage) == {"127.0.66.1", "127.0.66.2", "127.0.66.3"}
        went = [visit.client for visit in sorted(web.log, key=lambda visit: visit.started_s)]
    assert all(len(set(went[start : start + 3])) == 3 for start in range(0, len(went) - 2, 3))
    rows, pairs = await health(stage), await health(stage, "domain_proxies")
    assert sum(row["successes"] for row in rows.values()) == len(went) == 31
    assert max(row["successes"] for row in rows.values()) - min(row["successes"] for row in rows.values()) <= 1
    for number in ids:
        assert (rows[number]["failures"], pairs[number]["failures"]) == (0, 0)
        assert rows[number]["successes"] == pairs[number]["successes"] == rows[number]["hour_requests"]
        assert rows[number]["avg_response_time_ms"] is not None
        assert rows[number]["last_used_at"] == rows[number]["last_success_at"] is not None
    used = Counter(row["proxy_id"] for row in await stage.fetch("SELECT proxy_id FROM crawl_tasks"))
    assert set(used) == set(ids)
    assert await stage.broken_promises() == {}


async def test_domains_without_a_pool_are_asked_directly(database: Database) -> None:
    async with serve(WatchedSite(8), WatchedSite(8, number=2)) as web, running("http") as proxies:
        stage = await Stage.open(database, web)
        through, direct = web.hosts.values()
        await assign(stage, proxies, through)
        await stage.work(services=USED)
        assert {visit.client for visit in visits_of(web.log, through)} == {"127.0.66.1"}
        assert "127.0.66.1" not in {visit.client for visit in visits_of(web.log, direct)}
    assert len(await stage.urls("status = 'fetched'")) == 16


# Dead ones -----------------------------------------------------------------------------------------------------------


async def test_a_dead_proxy_is_left_out_after_its_failures_and_the_crawl_completes(
    database: Database, quick_retries: None
) -> None:
    async with serve(WatchedSite(30)) as web, running("http", "http", "http") as proxies:
        stage = await Stage.open(database, web)
        ids = await assign(stage, proxies)
        await proxies[1].stop()
        await stage.work(services=USED, unpaced_concurrency=1)
        assert await stage.urls("status = 'fetched'") == web.answer_key.expected_success()
        assert callers(stage) == {"127.0.66.1", "127.0.66.3"}
    rows, pairs = await health(stage), await health(stage, "domain_proxies")
    dead, good = ids[1], (ids[0], ids[2])
    assert (pairs[dead]["is_active"], pairs[dead]["consecutive_failures"], pairs[dead]["successes"]) == (False, 5, 0)
    assert pairs[dead]["probe_at"] is not None
    assert "could not be reached" in pairs[dead]["last_error"]
    assert (rows[dead]["is_active"], rows[dead]["consecutive_failures"], rows[dead]["failures"]) == (True, 5, 5)
    assert all(pairs[number]["is_active"] and not pairs[number]["failures"] for number in good)
    assert sum(rows[number]["successes"] for number in good) == len(web.log.visits)
    [domain] = await stage.fetch("SELECT total_error_count, consecutive_error_count, status::text FROM domains")
    assert tuple(domain) == (0, 0, "exhausted")
    assert await stage.broken_promises() == {}


async def test_a_proxy_that_fails_everywhere_is_switched_off_for_all(database: Database, quick_retries: None) -> None:
    sites = [WatchedSite(12, number=number) for number in (1, 2, 3)]
    async with serve(*sites) as web, running("http", "socks5") as proxies:
        stage = await Stage.open(database, web)
        ids = await assign(stage, proxies)
        proxies[0].refuses_with = 403
        await stage.work(services=USED, unpaced_concurrency=1)
        assert len(await stage.urls("status = 'fetched'")) == 36
        assert callers(stage) == {"127.0.66.2"}
    row = (await health(stage))[ids[0]]
    assert (row["is_active"], row["probe_at"] is not None, row["successes"]) == (False, True, 0)
    assert 10 <= row["consecutive_failures"] <= 15
    assert await stage.broken_promises() == {}


@pytest.mark.parametrize("is_mute", [False, True])
async def test_a_dead_pool_is_our_fault_and_the_domain_waits(
    database: Database, quick_retries: None, is_mute: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forager.engine.robots_cache.TIMEOUT_S", 0.5)
    async with serve(WatchedSite(10)) as web, running("http", "socks5") as proxies:
        stage = await Stage.open(database, web)
        await assign(stage, proxies)
        for proxy in proxies:
            if is_mute:
                proxy.is_mute = True
            else:
                await proxy.stop()
        await stage.work(services=USED, max_unreachable=1, breaker_failures=1)
        assert list(web.log) == []
        [domain] = await stage.fetch(
            "SELECT status::text, block_reason, block_reason_code, total_error_count, consecutive_error_count,"
            " breaker_state, EXTRACT(EPOCH FROM next_crawl_after - now())::float8 AS rest_s FROM domains"
        )
        assert (domain["status"], domain["block_reason_code"], domain["breaker_state"]) == ("active", None, "closed")
        assert (domain["total_error_count"], domain["consecutive_error_count"]) == (0, 0)
        assert domain["block_reason"] == "all 2 proxies of its pool are switched off or failing"
        assert 200 < domain["rest_s"] <= 300
        tasks = await stage.fetch("SELECT outcome::text, error_code, blame FROM crawl_tasks WHERE outcome IS NOT NULL")
        assert {tuple(task) for task in tasks} == {("failed", "proxy_error", "us")}
        report = await stage.report()
        assert (report.end, report.standing[0].reason) == (RunEnd.FINISHED, domain["block_reason"])
        assert {row["is_active"] for row in (await health(stage, "domain_proxies")).values()} == {False}
        assert await stage.broken_promises() == {}

        # Somebody mends them: the same order goes on.
        for proxy in proxies:
            proxy.is_mute = False
            if not is_mute:
                await proxy.start()
        pool = database.pool
        await pool.execute("UPDATE domain_proxies SET is_active = true, consecutive_failures = 0, probe_at = NULL")
        await pool.execute("UPDATE domains SET next_crawl_after = NULL, ready_at = now()")
        await pool.execute("UPDATE crawl_tasks SET scheduled_for = now() WHERE outcome IS NULL")
        await stage.work(services=USED)
        assert await stage.urls("status = 'fetched'") == web.answer_key.expected_success()
    assert await stage.broken_promises() == {}


async def test_a_site_that_is_away_is_not_the_proxies_fault(database: Database, quick_retries: None) -> None:
    async with serve(WatchedSite(3)) as web:
        stage = await Stage.open(database, web)
    async with running("http", "http", "http") as proxies:
        ids = await assign(stage, proxies)
        await stage.work(services=USED, max_unreachable=2)
    [domain] = await stage.fetch("SELECT status::text, block_reason_code FROM domains")
    assert domain["status"] == "unreachable"
    rows = await health(stage)
    assert all((rows[number]["is_active"], rows[number]["failures"]) == (True, 0) for number in ids)


async def test_a_password_that_cannot_be_opened_is_said_and_nothing_is_asked_directly(database: Database) -> None:
    async with serve(WatchedSite(3)) as web, running("http", account=("user", "secret")) as proxies:
        stage = await Stage.open(database, web)
        await assign(stage, proxies)
        await stage.work(services={"cipher": PasswordCipher(())})
        assert (list(web.log), proxies[0].calls) == ([], 0)
    [domain] = await stage.fetch("SELECT block_reason, status::text FROM domains")
    assert "cannot be read because no secret_key is set: set FORAGER_SECRET_KEY" in domain["block_reason"]
    assert domain["status"] == "active"


# Limits --------------------------------------------------------------------------------------------------------------


async def test_only_proxies_of_the_wanted_country_are_used(database: Database) -> None:
    async with serve(WatchedSite(8)) as web, running("http", "http", "http") as proxies:
        stage = await Stage.open(database, web)
        await assign(stage, proxies[:2], country="US")
        await assign(stage, proxies[2:], country="DE")
        await choose(database, proxy_country="DE")
        await stage.work(services=USED)
        assert callers(stage) == {"127.0.66.3"}
    assert len(await stage.urls("status = 'fetched'")) == 8


async def test_an_hourly_cap_is_kept_and_the_rest_waits_for_the_next_hour(database: Database) -> None:
    async with serve(WatchedSite(30)) as web, running("http", "http") as proxies:
        stage = await Stage.open(database, web)
        await assign(stage, proxies, max_requests_per_hour=6)
        await stage.work(services=USED)
        went = Counter(visit.client for visit in web.log)
        assert went == {"127.0.66.1": 6, "127.0.66.2": 6}
        [domain] = await stage.fetch(
            "SELECT block_reason, EXTRACT(EPOCH FROM next_crawl_after - now())::float8 AS rest_s FROM domains"
        )
        assert domain["block_reason"] == "its proxies have made all requests they may make in this hour"
        assert 3500 < domain["rest_s"] <= 3600
    assert await stage.broken_promises() == {}


async def test_two_workers_keep_one_cap_together(database: Database) -> None:
    sites = [WatchedSite(30, number=number) for number in range(1, 5)]
    async with serve(*sites) as web, running("http") as proxies:
        stage = await Stage.open(database, web)
        await assign(stage, proxies, max_requests_per_hour=40)
        order: dict[str, Any] = {
            "workers": 2,
            "is_unpaced": lambda _domain: False,
            "delay_s": 0.4,
            "batch_interval_s": 0.005,
        }
        await asyncio.gather(*(stage.work(services=USED, **order) for _ in range(2)))
        # Each alone would take 40. A worker counts what it has not written yet, and hears of the other's requests with
        # its own next batch: what the other makes within a write or two, at this pace one or two a queue, comes on top.
        assert 40 <= len(web.log.visits) <= 46
    assert await stage.broken_promises() == {}


async def test_the_domain_keeps_its_pace_whatever_the_number_of_proxies(database: Database) -> None:
    async with serve(WatchedSite(6)) as web, running("http", "http", "http") as proxies:
        stage = await Stage.open(database, web)
        await assign(stage, proxies)
        await stage.work(services=USED, is_unpaced=lambda _domain: False, delay_s=0.15, adaptive_pace=False)
        moments = sorted(visit.received_s for visit in web.log)
        assert min(later - earlier for earlier, later in pairwise(moments)) > 0.13
    assert await stage.broken_promises() == {}


async def test_each_proxy_keeps_the_pace_where_the_operator_wants_that(database: Database) -> None:
    async with serve(WatchedSite(12)) as web, running("http", "http", "http") as proxies:
        stage = await Stage.open(database, web)
        await assign(stage, proxies)
        await choose(database, delay_per_proxy=True)
        await stage.work(services=USED, is_unpaced=lambda _domain: False, delay_s=0.3, adaptive_pace=False)
        by_proxy: dict[str, list[float]] = {}
        for visit in sorted(web.log, key=lambda visit: visit.received_s):
            by_proxy.setdefault(visit.client, []).append(visit.received_s)
    rows = await stage.fetch("SELECT requested_at FROM crawl_tasks UNION ALL SELECT requested_at FROM robots_requests")
    left = sorted(row["requested_at"].timestamp() for row in rows)  # when they arrive depends on the proxies, too
    assert len(by_proxy) == 3
    for own in by_proxy.values():
        assert min(later - earlier for earlier, later in pairwise(own)) > 0.27
    assert min(later - earlier for earlier, later in pairwise(left)) > 0.095
    assert median(later - earlier for earlier, later in pairwise(left)) < 0.27
    assert await stage.broken_promises() == {}


async def test_what_an_operator_changes_is_known_at_the_next_heartbeat(database: Database) -> None:
    async with serve(WatchedSite(400)) as web, running("http", "http") as proxies:
        stage = await Stage.open(database, web)
        ids = await assign(stage, proxies)
        slow: dict[str, Any] = {
            "is_unpaced": lambda _domain: False,
            "delay_s": 0.02,
            "heartbeat_s": 0.1,
            "adaptive_pace": False,
        }
        working = asyncio.create_task(stage.work(services=USED, **slow))
        await until(lambda: len(callers(stage)) == 2)
        async with database.pool.acquire() as conn:
            await control.switch(conn, [ids[0]], False)
        mark = len(web.log.visits)
        await until(
            lambda: len({visit.client for visit in web.log.visits[mark:][-8:]}) == 1 and len(web.log) > mark + 8
        )
        async with database.pool.acquire() as conn:
            await control.unassign(conn, stage.web.urls[0], None, by="test")
        await until(lambda: "127.0.66.2" not in {visit.client for visit in web.log.visits[-3:]})
        stage.stop.ask()
        await working
    assert await stage.broken_promises() == {}


async def until(is_so: Any) -> None:
    async with asyncio.timeout(20):
        while not is_so():  # noqa: ASYNC110 (the site's log has no event)
            await asyncio.sleep(0.01)
