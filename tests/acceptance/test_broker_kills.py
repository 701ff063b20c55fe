"""F6: RabbitMQ itself is restarted, killed and loses its disk while workers crawl through it. They come back to it by
themselves, and so does whoever sends; what happens meanwhile comes from PostgreSQL alone."""

import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from kombu import Connection
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.own_broker import OwnBroker, need_rabbitmq
from tests.acceptance.stage import Forager, Web, count_leases, until
from tests.acceptance.test_queue import ALONE, WORKERS
from tests.acceptance.test_up import visited
from tests.queues import Queues

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

BEATING = {"FORAGER_POLITENESS_DELAY": "0.1", "FORAGER_WORKER_HEARTBEAT": "0.5"}
OPEN_UP = (
    """UPDATE domains SET run_id = (SELECT id FROM runs WHERE keeper = 'standing') WHERE name = ANY ($1::text[])"""
)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[OwnBroker]:
    need_rabbitmq()
    made = OwnBroker(tmp_path / "rabbitmq")
    yield made
    made.close()


def test_a_broker_that_is_killed_and_one_that_is_stopped_and_loses_its_disk(
    forager: Forager, open_web: OpenWeb, broker: OwnBroker
) -> None:
    """Everything else starts before it is there. Each time it goes in the middle of a crawl; when it is back, workers
    hear of others through it."""
    web = open_web("uniform=16x8")
    waves = (web.hosts[number : number + 4] for number in range(0, 16, 4))
    forager.environ |= ALONE | BEATING
    forager.do("seed", *web.urls)
    with Connection(broker.url, connect_timeout=5) as connection:
        queues = Queues(connection, "", broker.url)
        broker.start()
        schedule = forager.spawn("schedule", "run", "dispatch", **queues.settings)
        workers = [forager.spawn("worker", "--of", "2", **queues.settings) for _ in range(2)]
        until(lambda: forager.value(WORKERS) == 2, "both are there")

        comes_through(forager, web, queues, next(waves))
        broker.kill()
        broker.start()
        comes_through(forager, web, queues, next(waves))
        broker.stop()
        broker.burn()
        comes_without(forager, web, next(waves))
        broker.start()
        comes_through(forager, web, queues, next(waves))
        until(lambda: visited(forager) == web.key.expected_success(), "every page was visited")

        for process in (*workers, schedule):
            process.signal(signal.SIGTERM)
            assert process.wait() == 0, process.said
            assert "Traceback" not in process.said
    assert web.repeated() == {}
    assert forager.value("SELECT count(*) FROM crawl_tasks WHERE outcome IS NOT NULL") == len(web.key.by_url)
    forager.check()


def comes_through(forager: Forager, web: Web, queues: Queues, hosts: Sequence[str]) -> None:
    """These sites are new, and workers hear of them through the broker. Answers in the middle of their crawl."""
    until(lambda: is_listened_to(queues), "both listen")
    hinted, seen = count_leases(forager, "hinted"), web.count()
    forager.ask(OPEN_UP, hosts)
    until(lambda: count_leases(forager, "hinted") > hinted, "hints led to leases")
    web.wait_past(seen)


def comes_without(forager: Forager, web: Web, hosts: Sequence[str]) -> None:
    hinted = count_leases(forager, "hinted")
    forager.ask(OPEN_UP, hosts)
    there = {url for url in web.key.expected_success() if url.split("/")[2] in hosts}
    until(lambda: visited(forager) >= there, "their pages were visited all the same")
    assert count_leases(forager, "hinted") == hinted


def is_listened_to(queues: Queues) -> bool:
    try:
        return queues.listeners(queues.names.parse) == 2
    except queues.connection.recoverable_connection_errors:
        queues.connection.collect()
        return False
