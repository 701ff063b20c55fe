"""`forager queue`: depths, dead letters, once more, and emptying; and what it says where there is no queue."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.queues import BROKER, Queues

from forager.cli.main import run
from forager.dispatch import broker as broker_module
from forager.dispatch.broker import open_broker
from forager.dispatch.dead_letter import DeadLetter, read_letter
from forager.dispatch.names import CRAWL, Names

Forager = Callable[..., int]


@pytest.fixture
def forager(queues: Queues, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Forager:
    for name, value in (queues.settings | {"FORAGER_DATABASE_URL": database_url}).items():
        monkeypatch.setenv(name, value)
    return lambda *words: run(["queue", *words])


def test_dead_letters_are_listed_sent_once_more_and_thrown_away(
    forager: Forager, queues: Queues, capsys: pytest.CaptureFixture[str]
) -> None:
    assert forager("--json") == 0
    shown = {row["queue"]: row["messages"] for row in json.loads(capsys.readouterr().out)}
    assert shown == dict.fromkeys(queues.all(), 0)
    crawl = queues.names.prefix + CRAWL
    queues.publish(queues.names.dead, {"what": "is this"}, headers={"x-death": [{"queue": crawl}]})
    assert forager("dead", "--json") == 0
    (letter,) = json.loads(capsys.readouterr().out)
    assert letter["queue"] == crawl
    assert letter["why"] == "it names no task of Forager"
    assert queues.depth(queues.names.dead) == 1

    assert forager("redrive", "0000") == 3
    assert "no dead letter 0000" in capsys.readouterr().err
    assert forager("redrive", letter["id"]) == 0
    assert (queues.depth(queues.names.dead), queues.depth(crawl)) == (0, 1)

    assert forager("purge") == 2
    assert "1 message would be deleted" in capsys.readouterr().err
    assert queues.depth(crawl) == 1
    assert forager("purge", "--yes") == 0
    assert queues.depth(crawl) == 0


def test_letters_with_forged_headers_are_shown_and_go_nowhere(
    forager: Forager, queues: Queues, capsys: pytest.CaptureFixture[str]
) -> None:
    assert forager("--json") == 0
    crawl = queues.names.prefix + CRAWL
    forged: list[Any] = ["x", 7, [7], [{"queue": 7}], [{"queue": "payroll"}], [{"queue": queues.names.dead}]]
    for number, deaths in enumerate(forged):
        queues.publish(queues.names.dead, {"n": number}, headers={"x-death": deaths, "task": {"a": 1}})
    queues.publish(queues.names.dead, {"n": "true"}, headers={"x-death": [{"queue": crawl}]})
    capsys.readouterr()
    assert forager("dead", "--json") == 0
    letters = json.loads(capsys.readouterr().out)
    assert [letter["queue"] for letter in letters] == [None] * len(forged) + [crawl]
    assert forager("dead") == 0
    assert forager("redrive", letters[0]["id"]) == 0
    assert forager("redrive", "--all") == 0
    assert (queues.depth(queues.names.dead), queues.depth(crawl)) == (len(forged), 1)
    assert queues.depth("payroll") == 0


def test_redrive_reads_in_portions_and_no_further_than_it_has_to(
    queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker_module, "PORTION", 2)
    crawl = queues.names.prefix + CRAWL

    async def ask() -> None:
        async with open_broker(BROKER, queues.names.prefix) as broker:
            await broker.look([crawl])
            for number in range(7):
                queues.publish(queues.names.dead, {"n": number}, headers={"x-death": [{"queue": crawl}]})
            letters = await broker.dead_letters(100)
            seen = count_looks(monkeypatch)
            assert [letter.body for letter in await broker.redrive([letters[2].id])] == ['{"n": 2}']
            assert len(seen) == 4, "two portions"
            assert [letter.body for letter in await broker.redrive(None)] == [
                f'{{"n": {n}}}' for n in (0, 1, 3, 4, 5, 6)
            ]

    asyncio.run(ask())
    assert (queues.depth(queues.names.dead), queues.depth(crawl)) == (0, 7)


def test_letters_that_were_looked_at_are_back_when_the_look_is_over(queues: Queues) -> None:
    """RabbitMQ puts them back after it has said that the channel is closed: one look in a thousand found none."""

    async def ask() -> None:
        async with open_broker(BROKER, queues.names.prefix) as broker:
            await broker.look([])
            for number in range(3):
                queues.publish(queues.names.dead, {"n": number})
            for _ in range(200):
                assert len(await broker.dead_letters(100)) == 3
                assert (await broker.look([]))[queues.names.dead].messages == 3

    asyncio.run(ask())


def count_looks(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Letters that are looked at from now on."""
    seen: list[object] = []

    def look(message: object, names: Names) -> DeadLetter:
        seen.append(message)
        return read_letter(message, names)

    monkeypatch.setattr("forager.dispatch.broker.read_letter", look)
    return seen


def test_redrive_wants_to_know_which(forager: Forager, capsys: pytest.CaptureFixture[str]) -> None:
    assert forager("redrive") == 2
    assert forager("redrive", "abc", "--all") == 2
    assert "Say which" in capsys.readouterr().err


def test_without_a_queue_it_says_so(
    forager: Forager, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORAGER_DISPATCH_MODE", "inline")
    assert forager() == 2
    assert "queue = celery makes some" in capsys.readouterr().err


def test_a_broker_that_does_not_answer_is_named(
    forager: Forager, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORAGER_DISPATCH_BROKER_URL", BROKER.replace("5672", "1"))
    assert forager() == 1
    said = capsys.readouterr().err
    assert "RabbitMQ at 127.0.0.1:1 does not answer" in said
    assert "guest" not in said
