"""Worker processes: watched, replaced when they die, told to stop. The workers here are real, but only wait."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from forager.engine import supervisor
from forager.engine.stop import StopRequest
from forager.engine.supervisor import MOST_FRUITLESS_DEATHS, Supervisor

pytestmark = pytest.mark.timeout(60)

POLITE = """
import os, pathlib, signal, sys, time
folder = pathlib.Path(sys.argv[1])
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
(folder / str(os.getpid())).touch()
signal.pause()
"""
STUBBORN = POLITE.replace("lambda *_: sys.exit(0)", "signal.SIG_IGN").replace("signal.pause()", "time.sleep(3600)")


class Shop:
    """A supervisor whose every tick and death is seen."""

    def __init__(self, folder: Path, script: str) -> None:
        self.folder = folder
        self.stop = StopRequest()
        self.deaths = 0
        self.pages_done = 0
        self._ticked = asyncio.Event()
        self.supervisor = Supervisor(
            [sys.executable, "-c", script, str(folder)],
            os.environ,
            self.stop,
            on_tick=self._tick,
            on_death=self._record_exit,
            count_done=lambda: self.pages_done,
        )

    async def _tick(self) -> None:
        self._ticked.set()

    async def _record_exit(self) -> None:
        self.deaths += 1

    async def tick(self) -> None:
        self._ticked.clear()
        await asyncio.wait_for(self._ticked.wait(), 20)

    async def until_up(self, count: int) -> list[int]:
        """Pids of workers that listen to signals by now."""
        while len(pids := [int(path.name) for path in self.folder.iterdir()]) < count:
            await self.tick()
        return pids


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "TICK_S", 0.02)
    monkeypatch.setattr(supervisor, "KILL_AFTER_S", 0.2)


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def test_a_crawl_ends_when_all_workers_have(tmp_path: Path) -> None:
    shop = Shop(tmp_path, "pass")
    assert await shop.supervisor.run(3)
    assert shop.deaths == 0


async def test_a_worker_that_dies_is_replaced_and_its_leases_freed_first(tmp_path: Path) -> None:
    shop = Shop(tmp_path, POLITE)
    running = asyncio.create_task(shop.supervisor.run(2))
    first, _ = await shop.until_up(2)
    os.kill(first, signal.SIGKILL)
    await shop.until_up(3)
    assert shop.deaths == 1
    shop.stop.ask()
    assert await running
    assert all(is_gone(pid) for pid in await shop.until_up(3))


async def test_workers_that_die_again_and_again_end_the_crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "MOST_FRUITLESS_DEATHS", 3)
    assert MOST_FRUITLESS_DEATHS > 3
    shop = Shop(tmp_path, "raise SystemExit(1)")
    assert not await shop.supervisor.run(1)
    assert shop.deaths == 4


async def test_a_crawl_that_gets_on_replaces_its_workers_for_as_long_as_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "MOST_FRUITLESS_DEATHS", 3)
    shop = Shop(tmp_path, POLITE)
    running = asyncio.create_task(shop.supervisor.run(1))
    for number in range(1, 9):
        shop.pages_done += 1
        alive = [pid for pid in await shop.until_up(number) if not is_gone(pid)]
        os.kill(alive[0], signal.SIGKILL)
        await shop.until_up(number + 1)
    assert shop.deaths == 8
    shop.stop.ask()
    assert await running


async def test_deaths_that_lie_an_hour_apart_are_not_added_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "MOST_FRUITLESS_DEATHS", 3)
    monkeypatch.setattr(supervisor, "FRUITLESS_WITHIN_S", 0.0)  # each is older than that when the next comes
    shop = Shop(tmp_path, POLITE)
    running = asyncio.create_task(shop.supervisor.run(1))
    for number in range(1, 7):
        alive = [pid for pid in await shop.until_up(number) if not is_gone(pid)]
        os.kill(alive[0], signal.SIGKILL)
        await shop.until_up(number + 1)
    shop.stop.ask()
    assert await running


async def test_a_stop_before_the_workers_are_up_reaches_them_all_the_same(tmp_path: Path) -> None:
    shop = Shop(tmp_path, POLITE)
    shop.stop.ask()
    assert await asyncio.wait_for(shop.supervisor.run(2), 20)


async def test_a_worker_that_does_not_stop_is_killed_when_we_insist(tmp_path: Path) -> None:
    shop = Shop(tmp_path, STUBBORN)
    running = asyncio.create_task(shop.supervisor.run(1))
    (pid,) = await shop.until_up(1)
    shop.stop.stop_now()
    await asyncio.wait_for(running, 20)
    assert is_gone(pid)


async def test_a_supervisor_that_is_cancelled_leaves_nobody_behind(tmp_path: Path) -> None:
    shop = Shop(tmp_path, STUBBORN)
    running = asyncio.create_task(shop.supervisor.run(2))
    pids = await shop.until_up(2)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert all(is_gone(pid) for pid in pids)


async def test_a_long_crawl_piles_up_nothing(tmp_path: Path) -> None:
    shop = Shop(tmp_path, POLITE)
    running = asyncio.create_task(shop.supervisor.run(1))
    await shop.until_up(1)
    before = len(asyncio.all_tasks())
    for _ in range(10):
        await shop.tick()
    assert len(asyncio.all_tasks()) <= before + 1
    shop.stop.ask()
    await running
