"""The scheduler: each job runs once when it is due, whichever process runs it, and none delays another."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import pytest
from tests.ground import Ground
from tests.integration.scheduler.stage import some_settings

from forager import logs as observe
from forager.config.settings import Settings
from forager.db.database import Database
from forager.instance import Forager
from forager.scheduler.job import Job, JobContext, Loop
from forager.scheduler.scheduler import JobScheduler
from forager.scheduler.store import list_jobs
from forager.scheduler.times import ANY_TIME, TimeOfDay

pytestmark = pytest.mark.both_servers


@pytest.fixture(autouse=True)
def logs_are_new() -> Iterator[None]:
    """The writer of logs keeps the stream it began with, which pytest closes after each test."""
    observe.configure()
    yield
    observe.configure()


@dataclass
class Counted(Job):
    """A job that counts its runs, and may do something."""

    name: str = "counted"
    interval_s: float = 3600.0
    act: Callable[[Any], Awaitable[Any]] | None = None
    loop: Loop = Loop.QUICK
    at: TimeOfDay = ANY_TIME
    runs: list[JobContext] = field(default_factory=list)

    def time_of_day(self, settings: Settings) -> TimeOfDay:
        return self.at

    async def run(self, context: JobContext) -> str:
        self.runs.append(context)
        if self.act is not None:
            await self.act(context.connection)
        return "done"


def a_scheduler(pool: asyncpg.Pool, *jobs: Job) -> JobScheduler:
    database = Database(pool, "a test's database", is_embedded=False, dsn="")
    return JobScheduler(Forager(some_settings(), database), jobs)


async def make_due(ground: Ground, ago: str = "1 second") -> None:
    await ground.conn.execute("UPDATE jobs SET next_at = now() - $1::text::interval", ago)


async def row_of(ground: Ground, name: str = "counted") -> dict[str, Any]:
    return {row["name"]: row for row in await list_jobs(ground.conn)}[name]


async def test_a_new_job_is_done_at_once_and_then_once_per_period(ground: Ground, pool: asyncpg.Pool) -> None:
    job = Counted()
    scheduler = a_scheduler(pool, job)
    await scheduler.register()
    done = await scheduler.run_due()
    assert [(each.name, each.result, each.error) for each in done] == [("counted", "done", None)]
    assert await scheduler.run_due() == []
    assert 3590 < await scheduler.seconds_until_due() <= 3600
    row = await row_of(ground)
    assert (row["result"], row["error"], row["times"], row["every_s"]) == ("done", None, 1, 3600.0)
    assert row["started_at"] <= row["ended_at"] < row["next_at"]
    await make_due(ground)
    await scheduler.run_due()
    assert len(job.runs) == 2


async def test_what_was_missed_is_done_once(ground: Ground, pool: asyncpg.Pool) -> None:
    job = Counted()
    scheduler = a_scheduler(pool, job)
    await scheduler.register()
    await make_due(ground, "10 hours")
    await scheduler.run_due()
    await scheduler.run_due()
    assert len(job.runs) == 1
    assert await scheduler.seconds_until_due() > 3590


async def test_posting_again_changes_nothing(ground: Ground, pool: asyncpg.Pool) -> None:
    scheduler = a_scheduler(pool, Counted())
    await scheduler.register()
    await scheduler.run_due()
    before = await row_of(ground)
    await scheduler.register()
    assert await row_of(ground) == before


async def test_a_failing_job_is_written_down_and_the_others_go_on(
    ground: Ground, pool: asyncpg.Pool, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fail(conn: Any) -> None:
        await conn.execute("SELECT 1 / 0")

    broken, fine = Counted("broken", act=fail), Counted("fine")
    scheduler = a_scheduler(pool, broken, fine)
    await scheduler.register()
    done = {each.name: each for each in await scheduler.run_due()}
    assert (done["fine"].result, done["broken"].error) == ("done", "DivisionByZeroError: division by zero")
    row = await row_of(ground, "broken")
    assert (row["error"], row["result"], row["times"]) == ("DivisionByZeroError: division by zero", None, 1)
    assert await scheduler.run_due() == []
    assert "job failed" in capsys.readouterr().err
    broken.act = None
    await make_due(ground)
    await scheduler.run_due()
    assert (await row_of(ground, "broken"))["error"] is None


async def test_two_schedulers_do_a_job_once(ground: Ground, pool: asyncpg.Pool) -> None:
    """The second comes while the first is at it, and again when the first has ended."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def wait(_conn: Any) -> None:
        begun.set()
        await go_on.wait()

    first, second = Counted(act=wait), Counted()
    mine, other = a_scheduler(pool, first), a_scheduler(pool, second)
    await mine.register()
    doing = asyncio.create_task(mine.run_due())
    await begun.wait()
    await other.register()
    assert await other.run_due() == []
    assert await other.run_now("counted") is None
    go_on.set()
    await doing
    assert await other.run_due() == []
    assert (len(first.runs), len(second.runs)) == (1, 0)


async def test_many_schedulers_at_the_same_moment_do_each_job_once_per_period(
    ground: Ground, pool: asyncpg.Pool
) -> None:
    jobs = [Counted(f"job {number}") for number in range(3)]
    schedulers = [a_scheduler(pool, *jobs) for _ in range(4)]
    await schedulers[0].register()
    for _ in range(10):
        await make_due(ground)
        await asyncio.gather(*(each.run_due() for each in schedulers))
    assert [len(job.runs) for job in jobs] == [10, 10, 10]


async def test_a_scheduler_that_dies_lets_go_of_its_job(ground: Ground, pool: asyncpg.Pool) -> None:
    begun = asyncio.Event()

    async def hang(_conn: Any) -> None:
        begun.set()
        await asyncio.Event().wait()

    dying = a_scheduler(pool, Counted(act=hang))
    await dying.register()
    doing = asyncio.create_task(dying.run_due())
    await begun.wait()
    doing.cancel()
    await asyncio.gather(doing, return_exceptions=True)
    successor = Counted()
    assert len(await a_scheduler(pool, successor).run_due()) == 1


async def test_a_job_does_not_wait_for_a_lock_for_ever(
    ground: Ground, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forager.scheduler.scheduler.LOCK_TIMEOUT", "10ms")
    domain = await ground.a_domain()

    async def touch(conn: Any) -> None:
        await conn.execute("UPDATE domains SET source = 'touched' WHERE id = $1", domain)

    scheduler = a_scheduler(pool, Counted(act=touch))
    await scheduler.register()
    async with ground.conn.transaction():
        await ground.conn.execute("SELECT FROM domains FOR UPDATE")
        (done,) = await scheduler.run_due()
    assert (done.error or "").startswith("LockNotAvailableError")
    assert await pool.fetchval("SHOW lock_timeout") == "0"


async def test_a_job_can_be_done_before_its_time(ground: Ground, pool: asyncpg.Pool) -> None:
    job = Counted()
    scheduler = a_scheduler(pool, job)
    await scheduler.register()
    await scheduler.run_due()
    done = await scheduler.run_now("counted")
    assert done is not None
    assert (len(job.runs), (await row_of(ground))["times"]) == (2, 2)
