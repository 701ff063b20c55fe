"""Replays that a message asks a worker for: answered for when they run, put off where not, told anew at a stop."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.integration.dispatch.stage import becomes
from tests.queues import Queues

from forager.config.loader import load
from forager.dispatch import factory as celery_mode
from forager.dispatch.broker import Broker
from forager.dispatch.factory import ReplayRunner
from forager.dispatch.inbox import MessageReply


class Given:
    """What was said of messages."""

    def __init__(self) -> None:
        self.verdicts: list[tuple[str, MessageReply]] = []
        self._has_come = asyncio.Event()

    def take(self, key: str, verdict: MessageReply) -> None:
        self.verdicts.append((key, verdict))
        self._has_come.set()

    async def next(self) -> tuple[str, MessageReply]:
        await asyncio.wait_for(self._has_come.wait(), 20)
        self._has_come.clear()
        return self.verdicts[-1]


@pytest.fixture
def given() -> Given:
    return Given()


@pytest.fixture
async def desk(
    queues: Queues, broker: Broker, given: Given, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[ReplayRunner]:
    monkeypatch.setattr(celery_mode, "HOLD_S", 0.05)
    await broker.look([broker.names.parse])
    made = ReplayRunner(load({}, queues.settings))
    made.give = given.take
    yield made
    await made.close()


def replays_take(words: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of Python, whatever it is asked to run."""
    program = folder / "replay"
    program.write_text(f"#!/bin/sh\n{words}\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))


async def test_a_message_is_answered_for_when_its_replay_runs(
    desk: ReplayRunner, given: Given, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RabbitMQ closes the channel of a message that waits for half an hour. A second one waits for its turn."""
    replays_take("exec sleep 60", tmp_path, monkeypatch)
    desk.take("a", 7)
    assert await given.next() == ("a", MessageReply.DONE)
    desk.take("b", 8)
    assert await given.next() == ("b", MessageReply.LATER)


async def test_a_replay_that_a_stop_ends_is_told_anew(
    desk: ReplayRunner, given: Given, queues: Queues, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replays_take("exec sleep 60", tmp_path, monkeypatch)
    desk.take("a", 7)
    await given.next()
    await desk.close()
    desk.take("b", 7)  # it may come straight here: the connection is closed a moment later
    (message,) = queues.take(queues.names.parse)
    assert '"replay": 7' in message.body
    assert given.verdicts == [("a", MessageReply.DONE)]


async def test_a_replay_that_came_to_its_end_is_not(
    desk: ReplayRunner, given: Given, queues: Queues, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked to stop, it had just done its last page."""
    replays_take("trap 'exit 0' TERM; echo > ready; while :; do sleep 0.05; done", tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    desk.take("a", 7)
    await given.next()
    await becomes((tmp_path / "ready").exists)
    await desk.close()
    assert queues.depth(queues.names.parse) == 0


async def test_a_replay_that_cannot_be_started_is_put_off(
    desk: ReplayRunner, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    desk.take("a", 7)
    assert await given.next() == ("a", MessageReply.LATER)
    assert given.verdicts == [("a", MessageReply.LATER)]
