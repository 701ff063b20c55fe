"""`/metrics` over a real database: counters never go back, many who ask cost one look, and it answers without it."""

import asyncio
import time
from typing import Any

import asyncpg
import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.integration.scheduler.stage import a_context

from forager.stats import series
from forager.stats.counters import CounterMap
from forager.stats.jobs.series import SeriesJob
from forager.stats.routes import prometheus as metrics
from forager.stats.routes.prometheus import MetricsExporter


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every scrape looks."""
    monkeypatch.setattr(metrics, "FRESH_S", 0.0)
    monkeypatch.setattr(metrics, "REST", 0)


def read(text: bytes) -> dict[str, float]:
    """By name; of those with labels, the sum."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text.decode()):
        for sample in family.samples:
            found[sample.name] = found.get(sample.name, 0.0) + sample.value
    return found


def some_visits(number: int) -> CounterMap:
    tally = CounterMap()
    tally.add("visits", "success", number)
    tally.add("status", "200", number)
    tally.time("fetch", *[0.1] * number)
    return tally


async def test_an_empty_instance_is_up(pool: asyncpg.Pool) -> None:
    found = read(await MetricsExporter(pool).render())
    assert found["crawler_up"] == 1
    assert (
        found["crawler_pages_fetched_total"] == found["crawler_frontier_size"] == found["crawler_active_workers"] == 0
    )
    assert found["crawler_stalled_domains"] == 0
    assert found["crawler_database_bytes"] > 1_000_000
    assert found["crawler_pool_connections"] > 0


@pytest.mark.usefixtures("always")
async def test_counters_go_on_over_folds_days_and_another_process(pool: asyncpg.Pool, conn: Any) -> None:
    seen = []
    for number in (10, 0, 0, 7):
        if number:
            await series.add(conn, number, some_visits(number))
        await conn.execute("UPDATE series_parts SET minute = minute - interval '9 days'")
        await SeriesJob().run(a_context(conn))
        seen.append(read(await MetricsExporter(pool).render()))
    assert [found["crawler_pages_fetched_total"] for found in seen] == [10, 10, 10, 17]
    assert [found["crawler_stage_seconds_count"] for found in seen] == [10, 10, 10, 17]
    assert seen[-1]["crawler_http_status_total"] == 17


async def test_many_who_ask_at_once_cost_one_look(pool: asyncpg.Pool, conn: Any) -> None:
    shown = MetricsExporter(pool)
    first = await asyncio.gather(*(shown.render() for _ in range(50)))
    await series.add(conn, 1, some_visits(5))
    assert len(set(first)) == 1
    assert await shown.render() == first[0]


@pytest.mark.usefixtures("always")
async def test_it_says_so_when_the_database_is_away_and_comes_back_with_it(
    pool: asyncpg.Pool, database_url: str
) -> None:
    shown = MetricsExporter(pool)
    await shown.render()
    admin = await asyncpg.connect(database_url)
    name = await admin.fetchval("SELECT current_database()")
    other = await asyncpg.connect(database_url, database="postgres")
    await other.execute(f'ALTER DATABASE "{name}" WITH ALLOW_CONNECTIONS false')
    await other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name)
    assert read(await shown.render()) == {"crawler_up": 0, "crawler_info": 1}
    await other.execute(f'ALTER DATABASE "{name}" WITH ALLOW_CONNECTIONS true')
    assert read(await shown.render())["crawler_up"] == 1
    await other.close()
    admin.terminate()


@pytest.mark.usefixtures("always")
async def test_a_database_that_hangs_is_not_waited_for(
    pool: asyncpg.Pool, conn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "PATIENCE_S", 0.2)
    shown = MetricsExporter(pool)
    async with conn.transaction():
        await conn.execute("LOCK TABLE domains IN ACCESS EXCLUSIVE MODE")
        began = time.monotonic()
        assert read(await shown.render())["crawler_up"] == 0
        assert read(await shown.render())["crawler_up"] == 0
        assert time.monotonic() - began < 3
    await asyncio.wait({shown._reading} if shown._reading else set(), timeout=5)
    assert read(await shown.render())["crawler_up"] == 1


async def test_one_that_is_closed_leaves_nothing_behind(
    pool: asyncpg.Pool, conn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "PATIENCE_S", 0.1)
    shown = MetricsExporter(pool)
    async with conn.transaction():
        await conn.execute("LOCK TABLE domains IN ACCESS EXCLUSIVE MODE")
        await shown.render()
        await shown.close()
    assert pool.get_idle_size() == pool.get_size()


async def test_names_from_the_web_are_twenty_at_most(pool: asyncpg.Pool, conn: Any) -> None:
    await conn.execute(
        "INSERT INTO domains (name, parent_domain, base_url, claimed_by, claim_expires_at, pages_crawled)"
        " SELECT 'd' || n || '.example', '', '', 1, now() + interval '1 hour', n FROM generate_series(1, 50) n"
    )
    text = (await MetricsExporter(pool).render()).decode()
    names = [line for line in text.splitlines() if line.startswith("crawler_domain_pages_total{")]
    assert len(names) == 20
    assert any('"d50.example"' in line for line in names)
