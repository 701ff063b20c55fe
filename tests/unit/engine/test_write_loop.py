"""Batches are written in order, two at once, and nothing waits that need not."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pytest
from tests.builders import a_success, a_target

from forager.domains.store import RobotsCopy
from forager.engine.batch import Draft, Recorded
from forager.engine.config import BufferConfig
from forager.engine.write_buffer import WriteBuffer
from forager.engine.write_loop import WriteLoop
from forager.frontier.enqueue import EnqueueResult
from forager.frontier.models import Outcome
from forager.links.repetition import TrapCandidate

LONG_S = 60.0
SUSPICION = TrapCandidate("calendar", "/*", 9, is_trap=True, example="http://a.example/1")


@dataclass
class Desk:
    """Says what happens, and does nothing until it is let."""

    are_first: bool = False
    error: Exception | None = None
    story: list[str] = field(default_factory=list)
    new_pages: list[int] = field(default_factory=list)
    may_record: asyncio.Event = field(default_factory=asyncio.Event)
    happened: asyncio.Event = field(default_factory=asyncio.Event)

    def say(self, what: str) -> None:
        self.story.append(what)
        self.happened.set()

    async def until(self, what: str) -> None:
        async with asyncio.timeout(5):
            while what not in self.story:
                self.happened.clear()
                await self.happened.wait()

    async def prepare(self, outcomes: Sequence[Outcome]) -> Draft:
        self.say(f"learn {tasks_of(outcomes)}")
        suspicions = [(1, SUSPICION)] if self.are_first else []
        return Draft(outcomes, EnqueueResult(), suspicions=suspicions, domains_with_new_pages=[1])

    async def record(self, draft: Draft, robots: Sequence[RobotsCopy]) -> Recorded:
        tasks = tasks_of(draft.outcomes)
        self.say(f"begin {tasks}")
        await self.may_record.wait()
        if self.error is not None:
            raise self.error
        self.say(f"end {tasks}")
        return Recorded({(1, 1): len(tasks)}, {})

    def add_new_pages(self, domain_ids: Iterable[int]) -> None:
        self.new_pages += domain_ids

    def apply_recorded(self, recorded: Recorded) -> None:
        self.say("room")


def tasks_of(outcomes: Sequence[Outcome]) -> list[int]:
    return [outcome.target.task_id for outcome in outcomes]


def open_loop(desk: Desk, *, wait_s: float = LONG_S) -> tuple[WriteLoop, WriteBuffer]:
    buffer = WriteBuffer(BufferConfig(2, wait_s, 100, 10**9))
    return WriteLoop(buffer, desk, desk), buffer


def add(buffer: WriteBuffer, *tasks: int) -> None:
    for task in tasks:
        buffer.add(a_success(a_target(task=task)))


async def test_the_next_batch_is_learned_while_one_is_recorded() -> None:
    desk = Desk()
    loop, buffer = open_loop(desk)
    writing = asyncio.create_task(loop.run())
    add(buffer, 1, 2)
    await desk.until("begin [1, 2]")
    add(buffer, 3, 4)
    await desk.until("learn [3, 4]")
    add(buffer, 5, 6)
    assert sorted(desk.story) == ["begin [1, 2]", "learn [1, 2]", "learn [3, 4]"]
    desk.may_record.set()
    await desk.until("end [5, 6]")
    ends = [what for what in desk.story if what.startswith(("begin", "end"))]
    assert ends == ["begin [1, 2]", "end [1, 2]", "begin [3, 4]", "end [3, 4]", "begin [5, 6]", "end [5, 6]"]
    buffer.close()
    await writing
    assert buffer.is_empty
    assert desk.story.count("room") == 3


async def test_what_gathers_while_others_are_written_is_written_together() -> None:
    """Two batches as one, and no more: the rest is another."""
    desk = Desk()
    desk.may_record.set()
    loop, buffer = open_loop(desk)
    add(buffer, 1, 2, 3, 4, 5, 6, 7)
    buffer.close()
    await loop.run()
    learned = [what for what in desk.story if what.startswith("learn")]
    assert learned == ["learn [1, 2, 3, 4]", "learn [5, 6, 7]"]
    assert buffer.is_empty


async def test_one_that_goes_first_is_waited_for() -> None:
    desk = Desk(are_first=True)
    loop, buffer = open_loop(desk)
    writing = asyncio.create_task(loop.run())
    add(buffer, 1, 2)
    await desk.until("begin [1, 2]")
    add(buffer, 3, 4)
    for _ in range(5):
        await asyncio.sleep(0)
    assert "learn [3, 4]" not in desk.story
    desk.may_record.set()
    await desk.until("end [3, 4]")
    assert desk.story.index("end [1, 2]") < desk.story.index("learn [3, 4]")
    buffer.close()
    await writing


async def test_who_hurries_does_not_wait_for_a_full_batch() -> None:
    desk = Desk()
    desk.may_record.set()
    loop, buffer = open_loop(desk)
    writing = asyncio.create_task(loop.run())
    buffer.flush()  # nothing is there: nothing to do
    add(buffer, 1)
    await asyncio.sleep(0)
    assert desk.story == []
    buffer.flush()
    await desk.until("end [1]")
    add(buffer, 2)
    for _ in range(5):
        await asyncio.sleep(0)
    assert "learn [2]" not in desk.story
    buffer.close()
    await writing
    assert desk.story[-2:] == ["end [2]", "room"]


async def test_a_batch_leaves_when_its_time_has_come() -> None:
    desk = Desk()
    desk.may_record.set()
    loop, buffer = open_loop(desk, wait_s=0.01)
    writing = asyncio.create_task(loop.run())
    add(buffer, 1)
    await desk.until("end [1]")
    buffer.close()
    await writing


async def test_what_goes_wrong_is_heard_of_though_nothing_more_comes() -> None:
    desk = Desk(error=RuntimeError("broken"))
    loop, buffer = open_loop(desk)
    writing = asyncio.create_task(loop.run())
    add(buffer, 1, 2)
    await desk.until("begin [1, 2]")
    desk.may_record.set()
    with pytest.raises(RuntimeError, match="broken"):
        async with asyncio.timeout(5):
            await writing
    assert not buffer.is_empty


@pytest.mark.parametrize("batches_under_way", [1, 2])
async def test_who_is_cut_off_leaves_nothing_behind(batches_under_way: int) -> None:
    desk = Desk()
    loop, buffer = open_loop(desk)
    writing = asyncio.create_task(loop.run())
    for number in range(batches_under_way):
        add(buffer, 2 * number + 1, 2 * number + 2)
        await desk.until(f"learn {[2 * number + 1, 2 * number + 2]}")
    writing.cancel()
    await asyncio.wait({writing}, timeout=5)
    assert writing.cancelled()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    desk.may_record.set()
    await asyncio.sleep(0)
    assert not buffer.is_empty
    assert "end [1, 2]" not in desk.story
