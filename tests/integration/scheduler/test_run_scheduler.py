"""Running the scheduler: until asked to stop, across a lost database, whatever a job that fails or hangs does."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.ground import Ground
from tests.integration.scheduler.test_scheduler import Counted, logs_are_new

from forager.config.loader import load
from forager.db.database import Database
from forager.engine.stop import StopRequest
from forager.instance import Forager
from forager.runtime import schedule as app
from forager.scheduler.job import Loop

__all__ = ["logs_are_new"]


@pytest.fixture
def forager(database: Database, monkeypatch: pytest.MonkeyPatch) -> Forager:
    monkeypatch.setattr(app, "SHORTEST_SLEEP_S", 0.01)
    monkeypatch.setattr(app, "LONGEST_PAUSE_S", 0.01)
    return Forager(load({}, {}), database)


def only(monkeypatch: pytest.MonkeyPatch, *jobs: Counted) -> None:
    monkeypatch.setattr(app, "JOBS", jobs)


def then(done: asyncio.Event) -> Callable[[Any], Awaitable[None]]:
    async def act(_conn: Any) -> None:
        done.set()

    return act


async def test_it_does_what_is_due_until_asked_to_stop(forager: Forager, monkeypatch: pytest.MonkeyPatch) -> None:
    stop, again = StopRequest(), asyncio.Event()
    job = Counted(interval_s=0.01)

    async def second_time(_conn: Any) -> None:
        if len(job.runs) == 2:
            again.set()

    job.act = second_time
    only(monkeypatch, job)
    running = asyncio.create_task(app.run_scheduler(forager, stop))
    await again.wait()
    stop.ask()
    await running


async def test_a_job_that_fails_does_not_end_it(forager: Forager, monkeypatch: pytest.MonkeyPatch) -> None:
    stop, done = StopRequest(), asyncio.Event()

    async def fail(_conn: Any) -> None:
        raise RuntimeError("no")

    only(monkeypatch, Counted("broken", interval_s=0.01, act=fail), Counted("fine", act=then(done)))
    running = asyncio.create_task(app.run_scheduler(forager, stop))
    await done.wait()
    stop.ask()
    await running


async def test_a_job_that_hangs_is_left_when_asked_to_stop(
    forager: Forager, ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is written down: who comes next does it."""
    stop, begun = StopRequest(), asyncio.Event()

    async def hang(conn: Any) -> None:
        begun.set()
        await conn.execute("SELECT pg_sleep(600)")

    only(monkeypatch, Counted(act=hang))
    running = asyncio.create_task(app.run_scheduler(forager, stop))
    await begun.wait()
    stop.ask()
    await running
    assert await ground.conn.fetchval("SELECT next_at <= now() AND times = 0 FROM jobs")


async def test_a_server_that_does_not_hear_of_a_stop_holds_nobody_up(
    forager: Forager, ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked to cancel a statement that it has not begun with, so it begins with it, and goes on."""
    monkeypatch.setattr(app, "CANCEL_TIMEOUT_S", 0.2)
    stop, deaf = StopRequest(), asyncio.get_running_loop().create_future()

    async def hang(conn: Any) -> None:
        async with conn.transaction():
            pid = conn.get_server_pid()
            os.kill(pid, signal.SIGSTOP)
            deaf.set_result(pid)
            await conn.execute("SELECT pg_sleep(600)")

    only(monkeypatch, Counted(act=hang))
    running = asyncio.create_task(app.run_scheduler(forager, stop))
    pid = await deaf
    try:
        stop.ask()
        async with asyncio.timeout(20):
            await running
    finally:
        os.kill(pid, signal.SIGCONT)
        await ground.conn.execute("SELECT pg_terminate_backend($1)", pid)
    assert await ground.conn.fetchval("SELECT next_at <= now() AND times = 0 FROM jobs")


async def test_what_takes_long_delays_nothing_that_is_quick(forager: Forager, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither does what takes all night delay what takes minutes."""
    stop, both_begun, again = StopRequest(), asyncio.Barrier(3), asyncio.Event()
    quick = Counted("quick", interval_s=0.01)

    async def hang(_conn: Any) -> None:
        await both_begun.wait()
        await asyncio.Event().wait()

    async def thrice(_conn: Any) -> None:
        if len(quick.runs) == 3:
            again.set()

    quick.act = thrice
    only(monkeypatch, Counted("nightly", act=hang, loop=Loop.NIGHTLY), Counted("slow", act=hang, loop=Loop.SLOW), quick)
    running = asyncio.create_task(app.run_scheduler(forager, stop))
    async with asyncio.timeout(20):
        await both_begun.wait()
        quick.runs.clear()
        await again.wait()
    stop.ask()
    await running


def test_every_loop_has_jobs() -> None:
    loops = {job.name: job.loop for job in app.JOBS}
    assert set(loops.values()) == set(Loop) - {Loop.PLUGINS}, "those of plug-ins are registered by them"
    assert {loops[name] for name in ("alerts", "webhooks", "dependencies", "cooldown", "series")} == {Loop.QUICK}


async def test_it_goes_on_when_the_database_comes_back(
    forager: Forager, ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop, done = StopRequest(), asyncio.Event()
    job = Counted()

    async def lose_the_database_once(conn: Any) -> None:
        if len(job.runs) == 1:
            await ground.conn.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
            await conn.execute("SELECT 1")
        done.set()

    job.act = lose_the_database_once
    only(monkeypatch, job)
    running = asyncio.create_task(app.run_scheduler(forager, stop))
    await done.wait()
    stop.ask()
    await running
    assert len(job.runs) == 2


async def test_only_named_jobs_run(forager: Forager, monkeypatch: pytest.MonkeyPatch) -> None:
    stop, done = StopRequest(), asyncio.Event()
    other = Counted("a")
    only(monkeypatch, other, Counted("b", act=then(done)))
    running = asyncio.create_task(app.run_scheduler(forager, stop, ["b"]))
    await done.wait()
    stop.ask()
    await running
    assert other.runs == []


async def test_an_absence_is_written_down_when_it_is_over(
    forager: Forager, ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop, done = StopRequest(), asyncio.Event()
    job = Counted()
    monkeypatch.setattr("forager.alerts.service.LEAST_AWAY_S", 0.0)
    await ground.conn.execute("DELETE FROM alerts")

    async def lose_the_database_once(conn: Any) -> None:
        if len(job.runs) == 1:
            await ground.conn.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
            await conn.execute("SELECT 1")
        done.set()

    job.act = lose_the_database_once
    only(monkeypatch, job)
    running = asyncio.create_task(app.run_scheduler(forager, stop))
    await done.wait()
    stop.ask()
    await running
    row = await ground.conn.fetchrow("SELECT rule, resolved_by, resolved_at >= raised_at AS is_over FROM alerts")
    assert tuple(row) == ("database_away", "rule", True)
