"""Whole workers against servers in trouble: the pause, the pace, and what a successor and an operator make of it."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from tests.ground import Ground
from tests.integration.engine.stage import Stage, WatchedSite, serve

from forager.db.database import Database
from forager.domains.service import reset_breaker
from forager.engine.transaction_retry import in_transaction
from forager.explain.politeness import audit_delays
from forager.runs.models import RunEnd
from forager_playground import Answer, most_open_at_once, visits_of
from forager_playground.answer import refuse

pytestmark = pytest.mark.timeout(90)

BROKEN = replace(refuse(500, "Broken"), is_stable=False)
BREAKER = "SELECT breaker_state, breaker_failures, breaker_opened_at, next_crawl_after, status::text FROM domains"


def broken_from(first: int, last: int) -> Any:
    return lambda _path, count: BROKEN if first <= count <= last else None


async def test_a_server_in_trouble_gets_its_pause_and_then_single_requests(database: Database) -> None:
    async with serve(WatchedSite(30, on_request=broken_from(6, 10))) as web:
        stage = await Stage.open(database, web)
        await stage.work(breaker_reset_s=0.8, unpaced_concurrency=1)
        (host,) = web.hosts.values()
        visits = visits_of(web.log, host, with_robots=False)
        failed = [number for number, visit in enumerate(visits) if visit.status == 500]
        assert len(failed) == 5
        assert visits[failed[-1] + 1].received_s - visits[failed[-1]].ended_s >= 0.75
    (row,) = await stage.fetch(BREAKER)
    assert tuple(row)[:3] == ("closed", 0, None)
    report = await stage.report()
    assert report.waiting == {"retry_later": 1}  # the visit that opened it is tried again in a minute
    assert await stage.broken_promises() == {}


async def test_the_pause_outlives_the_lease_and_an_operator_can_end_it(database: Database) -> None:
    async with serve(WatchedSite(30, on_request=broken_from(6, 10))) as web:
        stage = await Stage.open(database, web)
        await stage.work(breaker_reset_s=60.0, unpaced_concurrency=1)
        (row,) = await stage.fetch(BREAKER)
        assert (row["breaker_state"], row["breaker_failures"], row["status"]) == ("open", 5, "active")
        assert 55 < (row["next_crawl_after"] - row["breaker_opened_at"]).total_seconds() <= 61
        report = await stage.report()
        assert report.end is RunEnd.FINISHED
        assert "5 requests in a row failed" in (report.standing[0].reason or "")

        asked = len(web.log)
        await stage.work(breaker_reset_s=60.0)  # comes too early, and leaves
        assert len(web.log) == asked

        (name,) = [row["name"] for row in await stage.fetch("SELECT name FROM domains")]
        await in_transaction(database, partial(reset_breaker, name=name, by="test", reason="mended", rest_s=60.0))
        await stage.work(breaker_reset_s=60.0)
        assert len(await stage.urls("status = 'fetched'")) >= 28
    assert await stage.broken_promises() == {}


async def test_a_restart_goes_on_with_the_breaker_it_finds(database: Database, ground: Ground) -> None:
    """Killed or stopped while it was open: the next worker waits for the rest of the pause, then tries one by one."""
    async with serve(WatchedSite(20)) as web:
        stage = await Stage.open(database, web)
        opened_s = asyncio.get_running_loop().time() - 1.0  # or later: however busy the machine is, not earlier
        await ground.conn.execute(
            "UPDATE domains"
            " SET breaker_state = 'open', breaker_failures = 5, breaker_opened_at = now() - interval '1 s'"
        )
        await stage.work(breaker_reset_s=1.8, unpaced_concurrency=8)
        (host,) = web.hosts.values()
        visits = visits_of(web.log, host)
        assert visits[0].received_s - opened_s >= 1.75
        assert most_open_at_once(visits[:3], host) == 1
        assert await stage.urls("status = 'fetched'") == web.answer_key.expected_success()
    assert tuple((await stage.fetch(BREAKER))[0])[:3] == ("closed", 0, None)


async def test_a_worker_hears_that_an_operator_closed_the_breaker(database: Database, ground: Ground) -> None:
    goes_on = asyncio.Event()

    def answer(_path: str, count: int) -> Answer | None:
        if count > 15:
            goes_on.set()
        return BROKEN if 6 <= count <= 10 else None

    async with serve(WatchedSite(30, on_request=answer)) as web:
        stage = await Stage.open(database, web)
        working = asyncio.create_task(
            stage.work(breaker_reset_s=60.0, longest_wait_s=100.0, heartbeat_s=0.1, unpaced_concurrency=1)
        )
        while await ground.conn.fetchval("SELECT breaker_state FROM domains") != "open":  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        name = await ground.conn.fetchval("SELECT name FROM domains")
        async with ground.conn.transaction():
            await reset_breaker(ground.conn, name, by="test", reason="mended", rest_s=60.0)
        await asyncio.wait_for(goes_on.wait(), 20)
        stage.stop.ask()
        await working
    assert await stage.broken_promises() == {}


async def test_a_server_that_slows_down_is_asked_less_often_and_the_history_proves_it(database: Database) -> None:
    def slow_down(path: str, count: int) -> Answer | None:
        page = site.ground.answer(path, "")
        return replace(page, is_stable=False, delay_s=0.15) if count > 12 else None

    site = WatchedSite(18, on_request=slow_down)
    async with serve(site) as web:
        stage = await Stage.open(database, web)
        await stage.work(delay_s=0.06, is_unpaced=lambda _domain: False, max_concurrent_requests=1)
        assert len(stage.requests()) == 18
    tasks = await stage.fetch("SELECT pace_ms FROM crawl_tasks ORDER BY requested_at")
    paces = [row["pace_ms"] for row in tasks]
    assert paces[0] == 60
    assert max(paces[13:]) > 90
    (row,) = await stage.fetch("SELECT pace_delay_s, pace_extra_s, response_s FROM domains")
    assert row["pace_delay_s"] == pytest.approx(0.06 + row["pace_extra_s"])
    assert row["pace_extra_s"] > 0.03
    async with database.pool.acquire() as conn:
        proof = await audit_delays(conn)
    assert (proof.too_early, proof.requests) == (0, 19)


async def test_many_hosts_on_one_address_are_one_server(database: Database) -> None:
    """Six sites on six ports of one machine. Each distance is told by when requests left: between that and arriving
    lies a busy machine, which only all of them together need not fear."""
    async with AsyncExitStack() as stack:
        webs = [await stack.enter_async_context(serve(WatchedSite(4, number=number))) for number in range(1, 7)]
        seeds = [url for web in webs for url in web.urls]
        assert len({url.rpartition(":")[0] for url in seeds}) == 1
        stage = await Stage.open(database, webs[0], *seeds)
        await stage.work(delay_s=0.01, is_unpaced=lambda _domain: False, delay_per_ip_s=0.1)
        moments = sorted(visit.received_s for web in webs for visit in web.log)
    rows = await stage.fetch("SELECT requested_at FROM crawl_tasks UNION ALL SELECT requested_at FROM robots_requests")
    left = sorted(row["requested_at"].timestamp() for row in rows)
    assert len(moments) == len(left) == 6 * 5
    assert min(later - earlier for earlier, later in pairwise(left)) >= 0.095
    assert moments[-1] - moments[0] >= 29 * 0.1 - 0.1
    assert await stage.broken_promises() == {}
