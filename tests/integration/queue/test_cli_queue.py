"""`forager queue`: depths, dead letters, once more, and emptying; and what it says where there is no queue."""

import json
from collections.abc import Callable

import pytest
from tests.queues import BROKER, Queues

from forager.cli.main import run
from forager.queue.names import CRAWL

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
    assert "1 message would be thrown away" in capsys.readouterr().err
    assert queues.depth(crawl) == 1
    assert forager("purge", "--yes") == 0
    assert queues.depth(crawl) == 0


def test_redrive_wants_to_know_which(forager: Forager, capsys: pytest.CaptureFixture[str]) -> None:
    assert forager("redrive") == 2
    assert forager("redrive", "abc", "--all") == 2
    assert "Say which" in capsys.readouterr().err


def test_without_a_queue_it_says_so(
    forager: Forager, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORAGER_QUEUE", "inline")
    assert forager() == 2
    assert "queue = celery makes some" in capsys.readouterr().err


def test_a_broker_that_does_not_answer_is_named(
    forager: Forager, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORAGER_BROKER_URL", BROKER.replace("5672", "1"))
    assert forager() == 1
    said = capsys.readouterr().err
    assert "RabbitMQ at 127.0.0.1:1 does not answer" in said
    assert "guest" not in said
