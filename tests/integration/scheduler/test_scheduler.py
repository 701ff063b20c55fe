"""The timetable: each duty once when its time comes, whoever keeps it, and none of them hindered by another."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import pytest
from tests.ground import Ground
from tests.integration.scheduler.stage import an_order

from forager import observe
from forager.scheduler.config import Duty, SchedulerConfig
from forager.scheduler.scheduler import JobScheduler, read_duties

pytestmark = pytest.mark.both_servers


@pytest.fixture(autouse=True)
def logs_are_new() -> Iterator[None]:
    """The writer of logs keeps the stream it began with, which pytest closes after each test."""
    observe.configure()
    yield
    observe.configure()


@dataclass
class Counted:
    """A duty that counts how often it is done, and may do something."""

    NAME: str = "counted"
    EVERY_S: float = 3600.0
    act: Callable[[Any], Awaitable[Any]] | None = None
    times: list[SchedulerConfig] = field(default_factory=list)

    async def run_once(self, conn: Any, order: SchedulerConfig) -> str:
        self.times.append(order)
        if self.act is not None:
            await self.act(conn)
        return "done"


def a_timetable(pool: asyncpg.Pool, *duties: Duty) -> JobScheduler:
    return JobScheduler(pool, duties, an_order())


async def make_due(ground: Ground, ago: str = "1 second") -> None:
    await ground.conn.execute("UPDATE duties SET next_at = now() - $1::text::interval", ago)


async def row_of(ground: Ground, name: str = "counted") -> dict[str, Any]:
    return {row["name"]: row for row in await read_duties(ground.conn)}[name]


async def test_a_new_duty_is_done_at_once_and_then_once_per_period(ground: Ground, pool: asyncpg.Pool) -> None:
    duty = Counted()
    timetable = a_timetable(pool, duty)
    await timetable.post()
    done = await timetable.do_due()
    assert [(each.name, each.result, each.error) for each in done] == [("counted", "done", None)]
    assert await timetable.do_due() == []
    assert 3590 < await timetable.next_in_s() <= 3600
    row = await row_of(ground)
    assert (row["result"], row["error"], row["times"], row["every_s"]) == ("done", None, 1, 3600.0)
    assert row["started_at"] <= row["ended_at"] < row["next_at"]
    await make_due(ground)
    await timetable.do_due()
    assert len(duty.times) == 2


async def test_what_was_missed_is_done_once(ground: Ground, pool: asyncpg.Pool) -> None:
    duty = Counted()
    timetable = a_timetable(pool, duty)
    await timetable.post()
    await make_due(ground, "10 hours")
    await timetable.do_due()
    await timetable.do_due()
    assert len(duty.times) == 1
    assert await timetable.next_in_s() > 3590


async def test_posting_again_changes_nothing(ground: Ground, pool: asyncpg.Pool) -> None:
    timetable = a_timetable(pool, Counted())
    await timetable.post()
    await timetable.do_due()
    before = await row_of(ground)
    await timetable.post()
    assert await row_of(ground) == before


async def test_a_failing_duty_is_written_down_and_the_others_go_on(
    ground: Ground, pool: asyncpg.Pool, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fail(conn: Any) -> None:
        await conn.execute("SELECT 1 / 0")

    broken, fine = Counted("broken", act=fail), Counted("fine")
    timetable = a_timetable(pool, broken, fine)
    await timetable.post()
    done = {each.name: each for each in await timetable.do_due()}
    assert (done["fine"].result, done["broken"].error) == ("done", "DivisionByZeroError: division by zero")
    row = await row_of(ground, "broken")
    assert (row["error"], row["result"], row["times"]) == ("DivisionByZeroError: division by zero", None, 1)
    assert await timetable.do_due() == []
    assert "duty failed" in capsys.readouterr().err
    broken.act = None
    await make_due(ground)
    await timetable.do_due()
    assert (await row_of(ground, "broken"))["error"] is None


async def test_two_schedulers_do_a_duty_once(ground: Ground, pool: asyncpg.Pool) -> None:
    """The second comes while the first is at it, and again when the first has ended."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def wait(_conn: Any) -> None:
        begun.set()
        await go_on.wait()

    first, second = Counted(act=wait), Counted()
    mine, other = a_timetable(pool, first), a_timetable(pool, second)
    await mine.post()
    doing = asyncio.create_task(mine.do_due())
    await begun.wait()
    await other.post()
    assert await other.do_due() == []
    assert await other.do_now("counted") is None
    go_on.set()
    await doing
    assert await other.do_due() == []
    assert (len(first.times), len(second.times)) == (1, 0)


async def test_many_schedulers_at_the_same_moment_do_each_duty_once_per_period(
    ground: Ground, pool: asyncpg.Pool
) -> None:
    duties = [Counted(f"duty {number}") for number in range(3)]
    tables = [a_timetable(pool, *duties) for _ in range(4)]
    await tables[0].post()
    for _ in range(10):
        await make_due(ground)
        await asyncio.gather(*(table.do_due() for table in tables))
    assert [len(duty.times) for duty in duties] == [10, 10, 10]


async def test_a_scheduler_that_dies_lets_go_of_its_duty(ground: Ground, pool: asyncpg.Pool) -> None:
    begun = asyncio.Event()

    async def hang(_conn: Any) -> None:
        begun.set()
        await asyncio.Event().wait()

    dying = a_timetable(pool, Counted(act=hang))
    await dying.post()
    doing = asyncio.create_task(dying.do_due())
    await begun.wait()
    doing.cancel()
    await asyncio.gather(doing, return_exceptions=True)
    successor = Counted()
    assert len(await a_timetable(pool, successor).do_due()) == 1


async def test_a_duty_does_not_wait_for_a_lock_for_ever(
    ground: Ground, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forager.scheduler.scheduler.LONGEST_WAIT", "10ms")
    domain = await ground.a_domain()

    async def touch(conn: Any) -> None:
        await conn.execute("UPDATE domains SET source = 'touched' WHERE id = $1", domain)

    timetable = a_timetable(pool, Counted(act=touch))
    await timetable.post()
    async with ground.conn.transaction():
        await ground.conn.execute("SELECT FROM domains FOR UPDATE")
        (done,) = await timetable.do_due()
    assert (done.error or "").startswith("LockNotAvailableError")
    assert await pool.fetchval("SHOW lock_timeout") == "0"


async def test_a_duty_can_be_done_before_its_time(ground: Ground, pool: asyncpg.Pool) -> None:
    duty = Counted()
    timetable = a_timetable(pool, duty)
    await timetable.post()
    await timetable.do_due()
    done = await timetable.do_now("counted")
    assert done is not None
    assert (len(duty.times), (await row_of(ground))["times"]) == (2, 2)
