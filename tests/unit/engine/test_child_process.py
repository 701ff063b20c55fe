"""A process that is to be there: started again when it ends, after longer and longer pauses; told when we stop."""

import asyncio
import os
import signal
import sys

import pytest

from forager.engine import child_process
from forager.engine.child_process import Child, pause_s
from forager.engine.stop import StopRequest

WAIT_FOR_END = "import sys; sys.stdin.read()"


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(child_process, "LONGEST_PAUSE_S", 0.1)


def python(code: str, **given: object) -> Child:
    return Child("a child", (sys.executable, "-c", code), os.environ, **given)  # type: ignore[arg-type]


async def until_started(kept: Child, times: int) -> None:
    async with asyncio.timeout(30):
        while kept.starts < times or kept.pid is None:  # noqa: ASYNC110 (a process tells nobody that it is there)
            await asyncio.sleep(0.01)


def test_pauses_grow_to_a_limit() -> None:
    pauses = [pause_s(deaths) for deaths in range(1, 40)]
    assert pause_s(0) == 0
    assert pauses == sorted(pauses)
    assert pauses[-1] == child_process.LONGEST_PAUSE_S


async def test_one_that_dies_is_started_again_after_what_is_to_be_done_first() -> None:
    stop, seen = StopRequest(), []

    async def on_death() -> None:
        seen.append(kept.pid)

    kept = python("raise SystemExit(3)", on_death=on_death)
    keeping = asyncio.create_task(kept.keep(stop))
    async with asyncio.timeout(30):
        while len(seen) < 3:  # noqa: ASYNC110 (as above)
            await asyncio.sleep(0.01)
    stop.ask()
    await keeping
    assert kept.starts >= 3
    assert seen[:3] == [None, None, None]


async def test_who_may_leave_and_ends_in_peace_is_left_alone() -> None:
    stop = StopRequest()
    sent_away = python("pass", may_leave=True)
    await asyncio.wait_for(sent_away.keep(stop), 30)
    assert (sent_away.starts, sent_away.pid) == (1, None)
    dying = python("raise SystemExit(3)", may_leave=True)
    keeping = asyncio.create_task(dying.keep(stop))
    await until_started(dying, 2)
    stop.ask()
    await keeping


async def test_killed_it_is_replaced() -> None:
    stop, kept = StopRequest(), python(WAIT_FOR_END)
    keeping = asyncio.create_task(kept.keep(stop))
    await until_started(kept, 1)
    first = kept.pid
    assert first
    os.kill(first, signal.SIGKILL)
    await until_started(kept, 2)
    assert kept.pid != first
    stop.ask()
    await keeping
    assert kept.pid is None


async def test_one_that_does_not_listen_is_killed_when_somebody_insists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "KILL_AFTER_S", 0.05)
    stop = StopRequest()
    kept = python(
        "import signal, sys; signal.signal(15, signal.SIG_IGN); print('deaf', file=sys.stderr); sys.stdin.read()"
    )
    keeping = asyncio.create_task(kept.keep(stop))
    await until_started(kept, 1)
    stop.stop_now()
    await keeping
    assert kept.pid is None


async def test_cut_off_it_leaves_no_process_behind() -> None:
    kept = python(WAIT_FOR_END)
    keeping = asyncio.create_task(kept.keep(StopRequest()))
    await until_started(kept, 1)
    keeping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await keeping
    assert kept.pid is None
