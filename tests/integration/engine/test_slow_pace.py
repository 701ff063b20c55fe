"""A pace slower than a crawl waits for: it ends and says until when; the next one goes on, not a moment early."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from tests.ground import Ground
from tests.integration.engine.stage import Stage, WatchedSite, serve

from forager.db.database import Database
from forager.explain.politeness import audit_delays
from forager_playground import visits_of

pytestmark = pytest.mark.timeout(90)

DELAY_S = 1.5
HASTY: dict[str, Any] = {
    "delay_s": 0.01,
    "is_unpaced": lambda _domain: False,
    "longest_wait_s": 0.5,
    "robots_ttl_s": 0.1,
}
"""robots.txt asks for three times as long as anybody waits, and is trusted for less."""
SLOW = f"User-agent: *\nCrawl-delay: {DELAY_S}\n"
TURN = "SELECT GREATEST(0, EXTRACT(EPOCH FROM next_crawl_after - now()))::float8 AS rest_s, block_reason FROM domains"


async def until_due(stage: Stage) -> None:
    (row,) = await stage.fetch(TURN)
    await asyncio.sleep(row["rest_s"])


async def test_pages_wait_for_their_turn_through_as_many_runs_as_it_takes(database: Database) -> None:
    async with serve(WatchedSite(3, robots=SLOW)) as web:
        stage = await Stage.open(database, web)
        lives = 0
        while len(await stage.urls("status = 'fetched'")) < 3:
            await stage.work(**HASTY)
            lives += 1
            if await stage.urls("status <> 'fetched'"):
                await until_due(stage)
        (host,) = web.hosts.values()
        visits = visits_of(web.log, host)
    assert [visit.target for visit in visits].count("/robots.txt") == 1
    assert len(visits) == 4
    assert lives > 1
    gaps = [later.received_s - earlier.received_s for earlier, later in pairwise(visits)]
    assert min(gaps) >= DELAY_S - 0.05  # read a little late, at most
    async with database.pool.acquire() as conn:
        proof = await audit_delays(conn)
    assert (proof.too_early, proof.requests) == (0, 4)
    assert await stage.broken_promises() == {}


async def test_a_run_that_ends_before_the_turn_says_until_when_and_asks_nothing(database: Database) -> None:
    async with serve(WatchedSite(3, robots="User-agent: *\nCrawl-delay: 3600\n")) as web:
        stage = await Stage.open(database, web)
        await stage.work(**HASTY)
        asked = len(web.log)
        await stage.work(**HASTY)
        assert asked == len(web.log) == 1
        report = await stage.report()
        (row,) = await stage.fetch(TURN)
        (open_tasks,) = await stage.fetch("SELECT count(*) FILTER (WHERE locked_by IS NOT NULL) FROM crawl_tasks")
    assert 3500 < row["rest_s"] <= 3600
    (standing,) = report.standing
    assert "waits until" in (standing.reason or "")
    assert "3,600 s" in (standing.reason or "")
    assert report.waiting == {"domain_waits": 1}
    assert open_tasks[0] == 0
    assert await stage.broken_promises() == {}


async def test_a_killed_workers_successor_waits_for_the_whole_delay(database: Database, ground: Ground) -> None:
    """Nothing was written down but its robots.txt: the request for it is not forgotten."""
    async with serve(WatchedSite(3, robots=SLOW)) as web:
        stage = await Stage.open(database, web)
        await stage.work(**HASTY)
        await ground.conn.execute(
            "UPDATE domains SET next_allowed_at = now(), next_crawl_after = NULL, pace_delay_s = NULL"
        )
        await stage.work(**HASTY)
        assert len(web.log) == 1
        (row,) = await stage.fetch(TURN)
    assert row["rest_s"] > DELAY_S / 2
