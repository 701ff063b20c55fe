"""A worker's life: it crawls exactly what is there, stops and goes on, and gives way when it lost a domain."""

import asyncio
import socket
from functools import partial
from typing import Any

import pytest
from tests.ground import Ground
from tests.integration.engine.stage import Stage, WatchedSite, serve

from forager.db.database import Database
from forager.domains.store import RobotsCopy
from forager.engine.page_parser import InlineParser
from forager.engine.recovery import recover
from forager.engine.transaction_retry import in_transaction
from forager.fetch.models import Fetched
from forager.parsing.models import ParseOptions, Reading
from forager.politeness.throttle import LEAST_DELAY_S
from forager.robots.fetch import fetch_robots
from forager.runs.models import RunEnd, Scope
from forager_playground import Answer, smallest_gap_s, visits_of
from forager_playground.answer import refuse

pytestmark = pytest.mark.timeout(90)


@pytest.fixture
def hasty_robots(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second and third try for a robots.txt come at once."""

    async def ask(*given: Any, **more: Any) -> RobotsCopy:
        return await fetch_robots(*given, **more | {"waits_s": (0.0, 0.0)})

    monkeypatch.setattr("forager.engine.robots_cache.fetch_robots", ask)


# All of it ----------------------------------------------------------------------------------------------------------


@pytest.mark.both_servers
async def test_a_worker_crawls_exactly_what_is_there(database: Database, ground: Ground) -> None:
    async with serve(WatchedSite(40), WatchedSite(25, number=2)) as web:
        stage = await Stage.open(database, web)
        await stage.work()
        expected = web.answer_key.expected_success()
        assert len(expected) == 65
        assert await stage.urls("status = 'fetched'") == expected
        assert stage.requests() == dict.fromkeys(expected, 1)
        depths = {row["url"]: row["depth"] for row in await stage.fetch("SELECT url, depth FROM pages")}
        assert depths == {url: web.answer_key.by_url[url].depth for url in expected}
    assert await stage.broken_promises() == {}
    rows = await stage.fetch("SELECT status::text, claimed_by, ready_at, frontier_size FROM domains")
    assert {tuple(row) for row in rows} == {("exhausted", None, None, 0)}
    assert [row["status"] for row in await stage.fetch("SELECT status::text FROM workers")] == ["stopped"]
    report = await stage.report()
    assert (report.end, report.waiting, report.progress.pages_ok) == (RunEnd.FINISHED, {}, 65)
    assert report.progress.links_seen == sum(report.dropped.values()) + await ground.conn.fetchval(
        "SELECT count(*) FROM page_links"
    )


async def test_the_same_order_again_visits_its_seed_only(database: Database) -> None:
    async with serve(WatchedSite(10)) as web:
        await (await Stage.open(database, web)).work()
        web.log.clear()
        again = await Stage.open(database, web)
        await again.work()
        assert [visit.target for visit in web.log] == ["/"]
    assert (await again.report()).end is RunEnd.FINISHED


async def test_two_workers_share_the_domains_and_no_page_is_fetched_twice(database: Database) -> None:
    async with serve(*(WatchedSite(12, number=number) for number in range(1, 7))) as web:
        stage = await Stage.open(database, web)
        await asyncio.gather(stage.work(workers=2), stage.work(workers=2))
        assert stage.requests() == dict.fromkeys(web.answer_key.expected_success(), 1)
    assert await stage.broken_promises() == {}
    workers = await stage.fetch("SELECT DISTINCT status::text FROM workers")
    assert [row["status"] for row in workers] == ["stopped"]


async def test_requests_keep_the_pace(database: Database) -> None:
    async with serve(WatchedSite(8)) as web:
        stage = await Stage.open(database, web)
        await stage.work(delay_s=0.2, is_unpaced=lambda _domain: False)
        (host,) = web.hosts.values()
        assert len(stage.requests()) == 8
        assert smallest_gap_s(web.log, host) >= 0.19  # the kernel's clock goes in steps


@pytest.mark.parametrize("own", [None, 0.0])
async def test_a_delay_of_nothing_leaves_a_pace(database: Database, own: float | None) -> None:
    async with serve(WatchedSite(8)) as web:
        stage = await Stage.open(database, web)
        async with database.pool.acquire() as conn:
            if own is not None:
                await Ground(conn).choose(delay=own)
        await stage.work(delay_s=0.0 if own is None else 1.0, is_unpaced=lambda _domain: False)
        (host,) = web.hosts.values()
        assert smallest_gap_s(web.log, host) >= LEAST_DELAY_S - 0.01
    assert await stage.broken_promises() == {}


# Limits -------------------------------------------------------------------------------------------------------------


async def test_a_page_limit_is_reached_and_not_passed(database: Database) -> None:
    async with serve(WatchedSite(30)) as web:
        stage = await Stage.open(database, web, max_pages=7)
        await stage.work()
        assert sum(stage.requests().values()) == 7
    report = await stage.report()
    assert (report.end, report.progress.pages_done) == (RunEnd.LIMIT, 7)
    assert report.waiting["over_limit"] == report.progress.frontier > 0
    assert await stage.broken_promises() == {}


async def test_a_limit_per_domain_is_reached_in_each_and_not_passed(database: Database) -> None:
    async with serve(WatchedSite(20), WatchedSite(3, number=2)) as web:
        stage = await Stage.open(database, web, max_pages_per_domain=5)
        await stage.work()
        by_host = {host: len(visits_of(web.log, host, with_robots=False)) for host in web.hosts.values()}
        assert sorted(by_host.values()) == [3, 5]
    assert await stage.broken_promises() == {}


async def test_depth_and_scope_are_kept(database: Database) -> None:
    async with serve(WatchedSite(60)) as web:
        stage = await Stage.open(database, web, max_depth=1)
        await stage.work()
        near = {url for url, page in web.answer_key.by_url.items() if page.depth in {0, 1}}
        assert set(stage.requests()) == near
        assert (await stage.report()).waiting == {"too_deep": len(await stage.urls("depth = 2"))}
        alone = await Stage.open(database, web, f"{web.urls[0]}p/59", scope=Scope.PAGE)
        web.log.clear()
        await alone.work()
        assert set(stage.requests()) == {f"{web.urls[0]}p/59"}
    assert await stage.broken_promises() == {}


async def test_a_retry_that_is_out_of_reach_does_not_keep_the_next_run_going(database: Database) -> None:
    """A page deep down waits for its next try; a run that may not go there ends all the same."""
    async with serve(WatchedSite(20)) as web:
        stage = await Stage.open(database, web)
        await stage.work()
        await stage.fetch(
            "WITH far AS (UPDATE pages SET status = 'queued' WHERE depth = 2 RETURNING id, domain_id), made AS ("
            " INSERT INTO crawl_tasks (page_id, domain_id) SELECT id, domain_id FROM far)"
            " UPDATE domains SET status = 'active', frontier_size = (SELECT count(*) FROM far)"
        )
        shallow = await Stage.open(database, web, max_depth=1)
        web.log.clear()
        await shallow.work()
        assert list(web.log) == []


# Stopping -----------------------------------------------------------------------------------------------------------


async def test_a_stopped_worker_gives_everything_back_and_the_next_one_finishes(database: Database) -> None:
    stages: list[Stage] = []
    site = WatchedSite(60, on_request=lambda _path, count: stages[0].stop.ask() if count == 20 else None)
    async with serve(site) as web:
        stages.append(stage := await Stage.open(database, web))
        await stage.work()
        assert 20 <= site.requests < 60
        assert await stage.fetch("SELECT FROM crawl_tasks WHERE locked_at IS NOT NULL") == []
        await in_transaction(database, partial(recover, dead_after_s=60, delay_s=0.0))
        assert await stage.fetch("SELECT FROM domains WHERE claimed_by IS NOT NULL") == []
        assert await stage.broken_promises() == {}
        report = await stage.report()
        assert (report.end, set(report.waiting)) == (RunEnd.STOPPED, {"stopped"})
        assert report.progress.pages_done == site.requests

        await stage.work()
        expected = web.answer_key.expected_success()
        assert await stage.urls("status = 'fetched'") == expected
        assert stage.requests() == dict.fromkeys(expected, 1)
    assert await stage.broken_promises() == {}


async def test_a_worker_that_is_cut_off_loses_nothing_that_was_known(database: Database) -> None:
    """Insisting drops what is in flight: those pages are fetched again, and no other."""
    stages: list[Stage] = []
    site = WatchedSite(60, on_request=lambda _path, count: stages[0].stop.stop_now() if count == 20 else None)
    async with serve(site) as web:
        stages.append(stage := await Stage.open(database, web))
        await stage.work(unpaced_concurrency=8)
        await stage.work()
        expected = web.answer_key.expected_success()
        assert await stage.urls("status = 'fetched'") == expected
        assert sum(stage.requests().values()) <= len(expected) + 8
    assert await stage.broken_promises() == {}


# Sites that do not want us, or are not there ------------------------------------------------------------------------


async def test_a_site_that_forbids_everything_is_asked_for_nothing_but_robots_txt(database: Database) -> None:
    async with serve(WatchedSite(10, robots="User-agent: *\nDisallow: /\n")) as web:
        stage = await Stage.open(database, web)
        await stage.work()
        assert [visit.target for visit in web.log] == ["/robots.txt"]
    (domain,) = await stage.fetch(
        "SELECT status::text, block_reason_code, next_crawl_after > now() AS rests FROM domains"
    )
    assert tuple(domain) == ("blocked", "robots_denied", True)
    (task,) = await stage.fetch("SELECT outcome::text, requested_at FROM crawl_tasks")
    assert tuple(task) == ("blocked_robots", None)
    assert [domain.status for domain in (await stage.report()).standing] == ["blocked"]
    assert await stage.broken_promises() == {}


@pytest.mark.usefixtures("hasty_robots")
async def test_a_host_that_is_not_there_costs_one_task_and_is_left_until_it_is_asked_for_again(
    database: Database,
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.77.9", 0))
        seed = f"http://127.0.77.9:{closed.getsockname()[1]}/"
        async with serve(WatchedSite(5)) as web:
            stage = await Stage.open(database, web, seed, *web.urls)
            await stage.work()
            assert len(stage.requests()) == 5
    tasks = await stage.fetch("SELECT error_code FROM crawl_tasks WHERE outcome = 'failed'")
    assert [row["error_code"] for row in tasks] == ["robots_unreachable"]
    domains = await stage.fetch("SELECT status::text FROM domains ORDER BY name")
    assert [row["status"] for row in domains] == ["exhausted", "unreachable"]
    assert await stage.broken_promises() == {}
    again = await Stage.open(database, web, seed)
    await again.work()
    assert len(await stage.fetch("SELECT FROM crawl_tasks WHERE outcome = 'failed'")) == 2
    assert await stage.broken_promises() == {}


async def test_retry_after_silences_the_whole_domain(database: Database) -> None:
    def busy_once(_path: str, count: int) -> Answer | None:
        return refuse(429, "Too many", retry_after_s=1, is_stable=False) if count == 3 else None

    async with serve(WatchedSite(8, on_request=busy_once)) as web:
        stage = await Stage.open(database, web)
        await stage.work(unpaced_concurrency=1)
        (host,) = web.hosts.values()
        visits = visits_of(web.log, host, with_robots=False)
        refused = next(number for number, visit in enumerate(visits) if visit.status == 429)
        assert visits[refused + 1].started_s - visits[refused].ended_s >= 0.99
        assert await stage.urls("status = 'fetched'") == web.answer_key.expected_success()
    assert await stage.broken_promises() == {}


async def test_a_long_rest_ends_the_run_and_is_told(database: Database) -> None:
    site = WatchedSite(8, on_request=lambda _path, _count: refuse(503, "Later", retry_after_s=3600, is_stable=False))
    async with serve(site) as web:
        stage = await Stage.open(database, web)
        await stage.work()
    report = await stage.report()
    assert report.waiting == {"domain_waits": 1}
    assert "3600" in (report.standing[0].reason or "")
    assert await stage.broken_promises() == {}


async def test_a_bug_of_ours_is_an_outcome_and_no_fault_of_the_site(database: Database) -> None:
    def broken(_fetched: Fetched, _options: ParseOptions) -> Reading:
        raise ZeroDivisionError("oops")

    async with serve(WatchedSite(5)) as web:
        stage = await Stage.open(database, web)
        await stage.work({"parser": InlineParser(broken)})
    task, again = await stage.fetch("SELECT outcome::text, error_code, blame FROM crawl_tasks ORDER BY id")
    assert again["outcome"] is None  # never final
    assert tuple(task) == ("failed", "broken", "us")
    (domain,) = await stage.fetch("SELECT status::text, total_error_count FROM domains")
    assert tuple(domain) == ("active", 0)
    (error,) = await stage.fetch("SELECT stack FROM errors")
    assert "ZeroDivisionError" in error["stack"]
    assert await stage.broken_promises() == {}


# Losing a domain ----------------------------------------------------------------------------------------------------


@pytest.mark.both_servers
async def test_a_worker_that_lost_its_lease_gives_way_and_its_late_results_are_refused(
    database: Database, ground: Ground
) -> None:
    reached = asyncio.Event()
    site = WatchedSite(60, on_request=lambda _path, count: reached.set() if count == 20 else None)
    async with serve(site) as web:
        stage = await Stage.open(database, web)
        working = asyncio.create_task(stage.work(batch_interval_s=0.001))
        await reached.wait()
        thief = await ground.a_worker(stage.run)
        async with ground.conn.transaction():
            lease = await ground.a_lease(await ground.conn.fetchval("SELECT id FROM domains"), thief)
            closed = await ground.conn.fetchval("SELECT count(*) FROM crawl_tasks WHERE outcome IS NOT NULL")
        assert stage.worker is not None
        while len(stage.worker._queues):  # noqa: ASYNC110 (a worker has no event for what it lost)
            await asyncio.sleep(0.01)
        assert await ground.conn.fetchval("SELECT count(*) FROM crawl_tasks WHERE outcome IS NOT NULL") == closed
        row = await ground.domain(lease.domain_id)
        assert (row["claimed_by"], row["version"]) == (thief, lease.version)
        assert not working.done()  # somebody still works on the run

        await ground.conn.execute("UPDATE workers SET status = 'dead' WHERE id = $1", thief)
        await working
        expected = web.answer_key.expected_success()
        assert await stage.urls("status = 'fetched'") == expected
        asked = stage.requests()
        assert set(asked) == expected
        assert max(asked.values()) == 2  # what was refused was fetched again, and nothing more than once
    assert await stage.broken_promises() == {}


async def test_a_worker_declared_dead_finishes_all_the_same(database: Database, ground: Ground) -> None:
    """Its machine slept, say: others buried it, and its leases are gone. It notices, and works under a new number."""
    reached = asyncio.Event()
    site = WatchedSite(60, on_request=lambda _path, count: reached.set() if count == 20 else None)
    async with serve(site) as web:
        stage = await Stage.open(database, web)
        working = asyncio.create_task(stage.work(heartbeat_s=0.1, batch_interval_s=0.001))
        await reached.wait()
        await ground.conn.execute("UPDATE workers SET status = 'dead'")
        await in_transaction(database, partial(recover, dead_after_s=60, delay_s=0.0))
        await working
        assert await stage.urls("status = 'fetched'") == web.answer_key.expected_success()
    assert await stage.broken_promises() == {}
    states = [row["status"] for row in await stage.fetch("SELECT status::text FROM workers ORDER BY id")]
    assert states[0] == "dead"
    assert set(states[1:]) <= {"stopped"}  # none, if all was done before it noticed


async def test_a_page_with_too_many_links_says_so(database: Database) -> None:
    links = b"".join(b"<a href=/p%d>x</a>" % number for number in range(150))
    async with serve(WatchedSite(2, on_request=lambda _path, _count: Answer(body=links, is_stable=False))) as web:
        stage = await Stage.open(database, web, max_pages=1)
        await stage.work()
    (row,) = await stage.fetch("SELECT links_count, flags FROM pages WHERE flags IS NOT NULL")
    assert tuple(row) == (100, ["links_cut"])


async def test_a_secret_that_cannot_be_decrypted_holds_back_its_own_domain_only(database: Database) -> None:
    """A key is missing: nothing is requested without the login, nothing is lost, and the reason is on record."""
    async with serve(WatchedSite(4), WatchedSite(5, number=2)) as web:
        stage = await Stage.open(database, web)
        async with database.pool.acquire() as conn:
            first = await conn.fetchval("SELECT min(id) FROM domains")
            await Ground(conn).choose(first, headers="sealed:gAAAAA")
        await stage.work()
        rows = {row["id"]: row for row in await stage.fetch("SELECT *, status::text FROM domains")}
        assert (rows[first]["status"], rows[first]["block_reason_code"]) == ("blocked", "login_failed")
        assert "its settings cannot be read" in rows[first]["block_reason"]
        assert {url.split("/")[2] for url in stage.requests()}.isdisjoint({rows[first]["name"]})
        assert len(stage.requests()) == 5
    assert await stage.broken_promises() == {}
