"""The default pool and rotation on the wire: the sites' own logs tell who came, and how often."""

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from tests.integration.engine.stage import Stage, WatchedSite, serve
from tests.integration.proxies.test_crawl import USED, VAULT, assign, callers, choose, health, running
from tests.proxies import RealProxy

from forager.alerts.store import get_missing_proxies
from forager.db.database import Database
from forager.proxies import service as control
from forager.proxies.address import parse_address
from forager.proxies.admin import ProxyInfo
from forager_playground import visits_of

pytestmark = pytest.mark.timeout(90)
PACED: dict[str, Any] = {"is_unpaced": lambda _domain: False, "adaptive_pace": False}


@pytest.fixture(autouse=True)
async def no_proxies(database: Database) -> None:
    await database.pool.execute("DELETE FROM proxies")


async def add_default(database: Database, proxies: list[RealProxy], **facts: Any) -> list[int]:
    addresses = [parse_address(proxy.url()) for proxy in proxies]
    async with database.pool.acquire() as conn, conn.transaction():
        added = await control.add(conn, VAULT, addresses, ProxyInfo(is_default=True, **facts))
    return [each.id for each in added]


async def test_the_default_pool_serves_every_domain_from_its_first_request(database: Database) -> None:
    async with serve(WatchedSite(9), WatchedSite(9, number=2)) as web, running("http", "http", "http") as proxies:
        stage = await Stage.open(database, web)
        first, second = web.hosts.values()
        ids = await add_default(database, proxies[:2])
        await assign(stage, proxies[2:], second)
        await stage.work(services=USED, unpaced_concurrency=1)
        assert {visit.client for visit in visits_of(web.log, first)} == {"127.0.66.1", "127.0.66.2"}
        assert {visit.client for visit in visits_of(web.log, second)} == {"127.0.66.3"}
        assert sum(visit.url.endswith("/robots.txt") for visit in web.log) == 2
    assert len(await stage.urls("status = 'fetched'")) == 18
    pairs = await stage.fetch("SELECT * FROM domain_proxies WHERE NOT is_assigned ORDER BY proxy_id")
    assert [pair["proxy_id"] for pair in pairs] == ids
    assert sum(pair["hour_requests"] for pair in pairs) == sum(pair["successes"] for pair in pairs) == 10
    assert await stage.broken_promises() == {}


async def test_never_goes_direct_and_leaves_the_default_pool_alone(database: Database) -> None:
    async with serve(WatchedSite(5)) as web, running("http") as proxies:
        stage = await Stage.open(database, web)
        await add_default(database, proxies)
        await choose(database, proxy="never")
        await stage.work(services=USED)
        assert "127.0.66.1" not in callers(stage)
        assert proxies[0].calls == 0
    assert len(await stage.urls("status = 'fetched'")) == 5


async def test_always_without_a_proxy_waits_and_says_why(database: Database) -> None:
    async with serve(WatchedSite(5)) as web:
        stage = await Stage.open(database, web)
        await choose(database, proxy="always")
        await stage.work(services=USED)
        assert list(web.log) == []
        [domain] = await stage.fetch("SELECT block_reason, total_error_count FROM domains")
        assert domain["block_reason"] == (
            "it has no proxy and the default pool is empty, and it is never requested directly (proxy=always)"
        )
        assert domain["total_error_count"] == 0
        async with database.pool.acquire() as conn:
            assert [missing.is_waiting for missing in await get_missing_proxies(conn)] == [True]
    assert await stage.broken_promises() == {}


async def test_a_dead_default_pool_is_no_reason_to_go_direct(database: Database) -> None:
    async with serve(WatchedSite(5)) as web, running("http") as proxies:
        stage = await Stage.open(database, web)
        [number] = await add_default(database, proxies)
        async with database.pool.acquire() as conn:
            await control.switch(conn, [number], False)
        await stage.work(services=USED)
        assert list(web.log) == []
        [domain] = await stage.fetch("SELECT block_reason FROM domains")
        assert domain["block_reason"] == "the only proxy of the default pool is switched off or failing"


async def test_an_emptied_pool_falls_to_the_default_pool_and_else_raises_an_alert(database: Database) -> None:
    async with serve(WatchedSite(5)) as web, running("http", "http") as proxies:
        stage = await Stage.open(database, web)
        own = await assign(stage, proxies[:1])
        async with database.pool.acquire() as conn, conn.transaction():
            await control.unassign(conn, next(iter(web.hosts.values())), own, by="test")
            assert [missing.is_waiting for missing in await get_missing_proxies(conn)] == [False]
        await add_default(database, proxies[1:])
        async with database.pool.acquire() as conn:
            assert await get_missing_proxies(conn) == []
        await stage.work(services=USED)
        assert callers(stage) == {"127.0.66.2"}


async def test_as_few_proxies_are_used_as_the_rotation_period_needs(database: Database) -> None:
    async with serve(WatchedSite(14)) as web, running(*["http"] * 8) as proxies:
        stage = await Stage.open(database, web)
        await add_default(database, proxies)
        await choose(database, proxy_rotation=0.6)
        await stage.work(services=USED, delay_s=0.2, **PACED)
        by_proxy: dict[str, list[float]] = {}
        for visit in sorted(web.log, key=lambda visit: visit.received_s):
            by_proxy.setdefault(visit.client, []).append(visit.received_s)
    assert sum(map(len, by_proxy.values())) == 15
    assert len(by_proxy) in {3, 4}
    assert min(later - earlier for own in by_proxy.values() for earlier, later in pairwise(own)) > 0.57
    assert await stage.broken_promises() == {}


@pytest.mark.parametrize("is_default", [False, True])
async def test_a_proxy_makes_so_many_requests_to_a_domain_in_an_hour(database: Database, is_default: bool) -> None:
    """Also over several lease holders: the second worker finds what the first one used."""
    async with serve(WatchedSite(30)) as web, running("http", "http") as proxies:
        stage = await Stage.open(database, web)
        await (add_default(database, proxies) if is_default else assign(stage, proxies))
        await choose(database, proxy_max_per_hour=4)
        await stage.work(services=USED, unpaced_concurrency=1)
        assert Counter(visit.client for visit in web.log) == {"127.0.66.1": 4, "127.0.66.2": 4}
        await database.pool.execute("UPDATE domains SET next_crawl_after = NULL")
        await stage.work(services=USED, unpaced_concurrency=1)
        assert Counter(visit.client for visit in web.log) == {"127.0.66.1": 4, "127.0.66.2": 4}
        pairs = await health(stage, "domain_proxies")
        assert {pair["hour_requests"] for pair in pairs.values()} == {4}
        await database.pool.execute("UPDATE domain_proxies SET hour_began_at = now() - interval '61 minutes'")
        await database.pool.execute("UPDATE domains SET next_crawl_after = NULL")
        await stage.work(services=USED, unpaced_concurrency=1)
        assert Counter(visit.client for visit in web.log) == {"127.0.66.1": 8, "127.0.66.2": 8}
        async with database.pool.acquire() as conn:
            shown = await control.list_all(conn, domain=next(iter(web.hosts.values())))
            advised = await control.compute_pool_size(
                conn, next(iter(web.hosts.values())), pages_per_hour=100, delay_s=1.0
            )
    assert [(row["hour_requests"], row["max_per_hour"], row["is_assigned"]) for row in shown] == [
        (4, 4, not is_default)
    ] * 2
    assert [(size.requests_per_proxy_hour, size.needed, size.proxies) for size in advised] == [(4.0, 30, 2)]
