"""Traffic with its ends in a test's hands, and the targets that travel on it."""

import asyncio
from typing import Any

import pytest
from tests.builders import a_target, an_order
from tests.unit.engine.scripted import Answer, ScriptedClient, a_pipeline

from forager.domains.store import RobotsCopy
from forager.engine import retry_policy
from forager.engine.abandoned_tasks import AbandonedTasks
from forager.engine.config import BufferConfig
from forager.engine.database_clock import DatabaseClock
from forager.engine.dispatcher import Dispatcher
from forager.engine.domain_queue import DomainQueue
from forager.engine.domain_queues import DomainQueues
from forager.engine.pauses import Pauses
from forager.engine.stop import StopRequest
from forager.engine.write_buffer import WriteBuffer
from forager.frontier.models import Outcome, Target
from forager.robots.fetch import fetch_robots


class Road:
    """Traffic with its ends in a test's hands: what came out, and an event for each of it."""

    def __init__(self, client: ScriptedClient, **order: Any) -> None:
        self.client = client
        self.room = 1_000_000
        """How many outcomes may be waiting to be written."""
        self.outcomes: list[Outcome] = []
        self.copies: list[RobotsCopy] = []
        self.stirs = 0
        self.stop = StopRequest()
        self._moved = asyncio.Event()
        self.pauses = Pauses()
        config = an_order(**order)
        self.traffic = Dispatcher(
            *(config, a_pipeline(client), RoadQueues(self), RoadBuffer(config.buffer, self), AbandonedTasks()),
            stop=self.stop,
            pauses=self.pauses,
            database_clock=DatabaseClock(),
        )

    def give(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        self._moved.set()

    def keep(self, copy: RobotsCopy) -> None:
        self.copies.append(copy)
        self._moved.set()

    def wake(self) -> None:
        self.stirs += 1
        self._moved.set()

    async def until(self, outcomes: int) -> list[Outcome]:
        while len(self.outcomes) < outcomes:
            self._moved.clear()
            await asyncio.wait_for(self._moved.wait(), 5)
        return self.outcomes

    async def stirred(self) -> None:
        self._moved.clear()
        await asyncio.wait_for(self._moved.wait(), 5)

    async def until_closing(self, queue: DomainQueue) -> None:
        while queue.closing is None:
            self._moved.clear()
            await asyncio.wait_for(self._moved.wait(), 5)

    def drive(self, queue: DomainQueue, *targets: Target) -> None:
        queue.begin_refill()
        queue.end_refill(targets, is_short=True)
        self.traffic.start_requests(queue)


class RoadBuffer(WriteBuffer):
    """Gives everything to the test at once."""

    def __init__(self, config: BufferConfig, road: Road) -> None:
        super().__init__(config)
        self._road = road

    def has_room(self, under_way: int) -> bool:
        return len(self._road.outcomes) + under_way < self._road.room

    def add(self, outcome: Outcome) -> None:
        self._road.give(outcome)

    def add_robots(self, copy: RobotsCopy) -> None:
        self._road.keep(copy)


class RoadQueues(DomainQueues):
    """Tells the test when the worker's loop is woken."""

    def __init__(self, road: Road) -> None:
        super().__init__()
        self._road = road

    def wake(self) -> None:
        self._road.wake()


def targets_of(domain: int, count: int, first: int = 1) -> list[Target]:
    return [
        a_target(f"http://d{domain}.example/{number}", task=domain * 1000 + number, domain=domain)
        for number in range(first, first + count)
    ]


def script(domain: int, answer: Answer, count: int = 1) -> dict[str, list[Answer]]:
    return {target.url: [answer] for target in targets_of(domain, count)}


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Quick retries and robots tries come at once."""
    unhurried = retry_policy.quick_retry_s
    monkeypatch.setattr(retry_policy, "quick_retry_s", lambda *given: 0.0 if unhurried(*given) is not None else None)

    async def ask_at_once(*given: Any, **more: Any) -> RobotsCopy:
        return await fetch_robots(*given, **more | {"waits_s": (0.0, 0.0)})

    monkeypatch.setattr("forager.engine.robots_cache.fetch_robots", ask_at_once)
