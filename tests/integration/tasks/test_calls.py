"""A worker that has a task which somebody pauses or cancels: it obeys at its next step, and nothing is lost or counted
twice."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from tests.integration.engine.stage import Stage, WatchedSite, serve

from forager import clock
from forager.db.database import Database
from forager.domains import service as domain_admin
from forager.engine import signals
from forager.engine.recovery import recover
from forager.engine.transaction_retry import in_transaction
from forager.errors import ConflictError
from forager.runs.models import RunEnd
from forager.tasks import bulk as tasks_many
from forager.tasks import service as tasks
from forager.tasks.bulk import TaskFilter
from forager.urls.domain import domain_of
from forager_playground import Answer

pytestmark = pytest.mark.timeout(90)
BY: dict[str, Any] = {"by": "test"}
SLOW = "/p/3"


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "EVERY_S", 0.1)


class SlowPage:
    """One page of a site takes its time; who waits for its request hears of it."""

    def __init__(self, size: int = 12, *, slow_s: float = 1.0) -> None:
        self.site = WatchedSite(size, on_request=self._answer)
        self.reached = asyncio.Event()
        self._slow_s = slow_s

    def _answer(self, path: str, _count: int) -> Answer | None:
        if path != SLOW:
            return None
        self.reached.set()
        return replace(self.site.ground.answer(path, ""), delay_s=self._slow_s, is_stable=False)


async def until(is_so: Callable[[], Awaitable[Any]], *, longest_s: float = 15.0) -> None:
    async with asyncio.timeout(longest_s):
        while not await is_so():  # noqa: ASYNC110 (a database tells nobody)
            await asyncio.sleep(0.02)


async def act(stage: Stage, verb: Callable[..., Awaitable[Any]], *args: Any, **more: Any) -> Any:
    return await in_transaction(stage.database, lambda conn: verb(conn, *args, **BY | more))


@asynccontextmanager
async def crawling(database: Database, site: WatchedSite, **order: Any) -> AsyncIterator[tuple[Stage, Any]]:
    async with serve(site) as web:
        stage = await Stage.open(database, web)
        work = asyncio.create_task(stage.work(**order))
        yield stage, work


async def task_of(stage: Stage, path: str) -> int:
    rows = await stage.fetch(
        "SELECT t.id FROM crawl_tasks t JOIN pages p ON p.id = t.page_id WHERE p.url LIKE '%' || $1", path
    )
    number: int = rows[0]["id"]
    return number


async def row_of(stage: Stage, task: int) -> Any:
    return (await stage.fetch("SELECT *, status::text, outcome::text FROM crawl_tasks WHERE id = $1", task))[0]


# under way ----------------------------------------------------------------------------------------------------------


async def test_a_visit_under_way_is_put_down_when_its_answer_comes(database: Database) -> None:
    slow = SlowPage()
    async with crawling(database, slow.site) as (stage, work):
        await slow.reached.wait()
        task = await task_of(stage, SLOW)
        assert "Its worker puts it down" in (await act(stage, tasks.pause, task)).message
        await work
        row = await row_of(stage, task)
        assert (row["status"], row["locked_by"], row["run_id"], row["retry_count"]) == ("paused", None, None, 0)
        assert len(row["earlier_requests"]) == 1, "the request that was made stays on record"
        report = await stage.report()
        assert (report.end, report.waiting) == (RunEnd.FINISHED, {"paused": report.waiting["paused"]})
        assert await stage.broken_promises() == {}
        await act(stage, tasks.resume, task)
        await stage.work()
        expected = stage.web.answer_key.expected_success()
        assert await stage.urls("status = 'fetched'") == expected
        assert stage.requests()[next(url for url in expected if url.endswith(SLOW))] == 2
    row = await row_of(stage, task)
    assert (row["status"], row["retry_count"], len(row["earlier_requests"])) == ("completed", 0, 1)
    assert await stage.broken_promises() == {}
    assert await stage.fetch("SELECT FROM task_signals") == []


async def test_a_visit_that_is_cancelled_under_way_leaves_no_trace_of_its_answer(database: Database) -> None:
    slow = SlowPage()
    async with crawling(database, slow.site) as (stage, work):
        await slow.reached.wait()
        task = await task_of(stage, SLOW)
        await act(stage, tasks.cancel, task)
        await work
        row = await row_of(stage, task)
        assert (row["status"], row["outcome"], row["status_code"], row["run_id"]) == (
            "cancelled",
            "cancelled",
            None,
            None,
        )
        assert await stage.urls("status = 'blocked'") == await stage.urls(f"url LIKE '%{SLOW}'")
        assert (
            stage.requests()[(await stage.fetch("SELECT url FROM pages WHERE id = $1", row["page_id"]))[0]["url"]] == 1
        )
        rows = await stage.fetch("SELECT status::text, frontier_size, claimed_by FROM domains")
        assert [tuple(row) for row in rows] == [("exhausted", 0, None)]
    assert await stage.broken_promises() == {}
    assert await stage.fetch("SELECT FROM task_signals") == []


async def test_a_task_that_is_restarted_by_force_under_way_is_visited_by_the_new_one(database: Database) -> None:
    slow = SlowPage()
    async with crawling(database, slow.site) as (stage, work):
        await slow.reached.wait()
        task = await task_of(stage, SLOW)
        new = await act(stage, tasks.restart, task, force=True)
        await work
        assert (await row_of(stage, new.task_id))["status"] == "completed"
        assert (await row_of(stage, task))["outcome"] == "cancelled"
        assert await stage.urls("status = 'fetched'") == stage.web.answer_key.expected_success()
    assert await stage.broken_promises() == {}


async def test_paused_and_resumed_before_the_worker_heard_of_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signals, "EVERY_S", 30.0)
    slow = SlowPage()
    async with crawling(database, slow.site) as (stage, work):
        await slow.reached.wait()
        task = await task_of(stage, SLOW)
        await act(stage, tasks.pause, task)
        await act(stage, tasks.resume, task)
        await work
        assert await stage.urls("status = 'fetched'") == stage.web.answer_key.expected_success()
        assert max(stage.requests().values()) == 1
    assert (await row_of(stage, task))["status"] == "completed"
    assert await stage.broken_promises() == {}


async def test_a_visit_that_is_finished_when_the_pause_comes_is_kept(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker hears of the pause only after it handed its outcome over."""
    monkeypatch.setattr(signals, "EVERY_S", 30.0)
    slow = SlowPage()
    async with crawling(database, slow.site) as (stage, work):
        await slow.reached.wait()
        task = await task_of(stage, SLOW)
        await act(stage, tasks.pause, task)
        await work
        assert await stage.urls("status = 'fetched'") == stage.web.answer_key.expected_success()
    assert (await row_of(stage, task))["status"] == "completed"
    assert await stage.broken_promises() == {}


# waiting ------------------------------------------------------------------------------------------------------------


async def test_tasks_that_wait_in_a_lane_are_put_down_within_two_seconds(database: Database) -> None:
    site = WatchedSite(25)
    order: dict[str, Any] = {"is_unpaced": lambda _domain: False, "delay_s": 0.1, "adaptive_pace": False}
    async with crawling(database, site, **order) as (stage, work):
        await until(lambda: stage.fetch("SELECT FROM crawl_tasks WHERE outcome = 'success' LIMIT 1"))
        domain = domain_of(stage.web.urls[0])
        done = await act(stage, tasks_many.pause_many, TaskFilter(domain=domain))
        paused = [task.task_id for task in done.tasks]
        began = clock.monotonic()
        await until(lambda: nobody_holds(stage, paused))
        assert clock.monotonic() - began < 2
        await act(stage, tasks_many.resume_many, TaskFilter(domain=domain))
        await work
        expected = stage.web.answer_key.expected_success()
        assert await stage.urls("status = 'fetched'") == expected
    retries = await stage.fetch("SELECT FROM crawl_tasks WHERE retry_count > 0 OR parent_task_id IS NOT NULL")
    assert retries == []
    assert await stage.broken_promises() == {}


async def nobody_holds(stage: Stage, task_ids: list[int]) -> bool:
    held = "SELECT FROM crawl_tasks WHERE id = ANY ($1::bigint[]) AND outcome IS NULL AND locked_by IS NOT NULL"
    return not await stage.fetch(held, task_ids)


async def test_a_page_limit_gets_back_what_was_paused(database: Database) -> None:
    slow = SlowPage(30)
    async with serve(slow.site) as web:
        seeds = web.urls[0], web.urls[0].removesuffix("/") + SLOW  # so that it is among the first ten, whatever comes
        stage = await Stage.open(database, web, *seeds, max_pages=10)
        work = asyncio.create_task(stage.work())
        await slow.reached.wait()
        await act(stage, tasks.pause, await task_of(stage, SLOW))
        await work
    (row,) = await stage.fetch("SELECT pages_claimed FROM runs")
    (closed,) = await stage.fetch("SELECT count(*) AS n FROM crawl_tasks WHERE outcome IS NOT NULL")
    assert (row["pages_claimed"], closed["n"]) == (10, 10)
    assert await stage.broken_promises() == {}


async def test_a_domain_that_is_switched_off_is_let_go_within_two_seconds(database: Database) -> None:
    """Also one that has nothing to record for a long time."""
    site = WatchedSite(25)
    order: dict[str, Any] = {"is_unpaced": lambda _domain: False, "delay_s": 2.0, "longest_wait_s": 30.0}
    async with crawling(database, site, **order) as (stage, work):
        await until(lambda: stage.fetch("SELECT FROM crawl_tasks WHERE outcome = 'success' LIMIT 1"))
        began = clock.monotonic()
        await act(stage, domain_admin.switch, domain_of(stage.web.urls[0]), False, reason="test")
        await until(lambda: stage.fetch("SELECT FROM domains WHERE claimed_by IS NULL"))
        assert clock.monotonic() - began < 2
        await work
        assert set((await stage.report()).waiting) == {"domain_paused"}
    assert await stage.broken_promises() == {}


# kills --------------------------------------------------------------------------------------------------------------


async def test_what_a_dead_worker_held_stays_paused(database: Database) -> None:
    slow = SlowPage(slow_s=30.0)
    async with crawling(database, slow.site) as (stage, work):
        await slow.reached.wait()
        task = await task_of(stage, SLOW)
        await act(stage, tasks.pause, task)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        await stage.fetch("UPDATE workers SET heartbeat_at = now() - interval '1 hour'")
        await in_transaction(database, partial(recover, dead_after_s=60.0, delay_s=0.0))
        row = await row_of(stage, task)
        assert (row["status"], row["locked_by"]) == ("paused", None)
        assert await stage.broken_promises() == {}


# all at once --------------------------------------------------------------------------------------------------------


async def test_random_orders_during_a_crawl_break_nothing(database: Database) -> None:
    rng, sites = random.Random(7), [WatchedSite(30, number=number) for number in (1, 2, 3)]
    async with serve(*sites) as web:
        stage = await Stage.open(database, web)
        order: dict[str, Any] = {"is_unpaced": lambda _domain: False, "delay_s": 0.02, "adaptive_pace": False}
        work = asyncio.create_task(stage.work(**order, lease_pages=7))
        verbs: list[Callable[..., Awaitable[Any]]] = [
            tasks.pause,
            tasks.pause,
            tasks.resume,
            tasks.cancel,
            partial(tasks.restart, force=True),
        ]
        while not work.done():
            rows = await stage.fetch("SELECT id FROM crawl_tasks ORDER BY random() LIMIT 1")
            if rows:
                with suppress(ConflictError):
                    await act(stage, rng.choice(verbs), rows[0]["id"])
            await asyncio.sleep(0.01)
        await work
        assert await stage.broken_promises() == {}
        for site in web.urls:
            await act(stage, tasks_many.resume_many, TaskFilter(domain=domain_of(site)))
        await stage.work()
        assert await stage.broken_promises() == {}
        assert await stage.fetch("SELECT FROM pages WHERE status IN ('queued', 'discovered')") == []
        blocked = await stage.urls("status = 'blocked'")
        known = await stage.urls("true")
        assert await stage.urls("status = 'fetched'") == known - blocked
    assert await stage.fetch("SELECT FROM task_signals") == []
