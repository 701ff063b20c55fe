"""A worker on another machine whose network is cut and healed: others take over, and nothing is lost or done twice."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.namespace import DATABASE, HERE, Machine, another_machine, need_machines, relay_to
from tests.acceptance.stage import Forager, Web, count_leases, until
from tests.queues import BROKER, BROKER_PORT, Queues, queues

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

__all__ = ["queues"]

SHORT = {
    "FORAGER_WORKER_LEASE": "3",
    "FORAGER_WORKER_HEARTBEAT": "0.5",
    "FORAGER_WORKER_DEAD_AFTER": "3",
    "FORAGER_WORKER_MAX_DOMAINS": "4",
    "FORAGER_WORKER_PARSER_PROCESSES": "0",
    "FORAGER_FETCH_FIRST_BYTE_TIMEOUT": "120",
    "FORAGER_POLITENESS_ADAPTIVE_DELAY": "false",
}
HELD_BY = "SELECT count(*) FROM domains d JOIN workers w ON w.id = d.claimed_by WHERE w.pid = $1"
OPEN_AT_ONCE = 5
CUTS = {
    "all of its network": (Machine.pull_out, Machine.plug_in),
    "its way to the database": (Machine.silence_database, Machine.let_database_speak),
}
"""With the second it still hears of domains through the broker, and cannot claim them."""


@pytest.mark.parametrize("server", ["external_server"], indirect=True)
@pytest.mark.parametrize(("queue", "what"), [("inline", "all of its network"), *(("celery", what) for what in CUTS)])
def test_cut_off_and_healed(
    forager: Forager, open_web: OpenWeb, queue: str, what: str, request: pytest.FixtureRequest
) -> None:
    need_machines()
    cut, heal = CUTS[what]
    web = open_web("uniform=8x15")
    if queue == "celery":
        hinted: Queues = request.getfixturevalue("queues")
        hinted.runs.add(1)
        forager.environ |= hinted.settings
    with another_machine() as machine, ways_from_it(forager) as ways:
        crawl = forager.start(
            *web.urls, "--delay", "0.2", "-o", "out.jsonl", **SHORT, FORAGER_FETCH_USER_AGENT="Near/1"
        )
        web.wait_past(4)
        with web.frozen():  # until both have their part, so that neither comes too late
            run = forager.value("SELECT max(id) FROM runs")
            environ = SHORT | ways | {"FORAGER_FETCH_USER_AGENT": "Far/1"}
            far = forager.spawn("worker", "--run", str(run), before=machine.command, **environ)
            until(lambda: forager.value(HELD_BY, far.process.pid) == 4, "the far one has its part")
        until(lambda: count(web, "Far/1") > 8, "the far one works")
        cut(machine)
        until(lambda: forager.value(HELD_BY, far.process.pid) == 0, "its domains were taken from it")
        seen = count(web, "Far/1")
        heal(machine)
        crawl.finish()
        far.finish()
    assert forager.pages() == web.key.expected_success()
    assert set(forager.ask("SELECT DISTINCT count(*) FROM crawl_tasks WHERE outcome IS NOT NULL GROUP BY page_id")) == {
        (1,)
    }
    assert sum(web.repeated().values()) <= 4 * OPEN_AT_ONCE + seen
    assert (count_leases(forager, "hinted") > 0) == (queue == "celery")
    forager.check()
    forager.do("audit", "politeness")


@contextmanager
def ways_from_it(forager: Forager) -> Iterator[dict[str, str]]:
    """Settings of somebody who reaches the database and the broker by the cable."""
    database = urlsplit(forager.dsn)
    with (
        relay_to("127.0.0.1", database.port or 5432, at=DATABASE) as port,
        relay_to("127.0.0.1", BROKER_PORT) as broker_port,
    ):
        yield {
            "FORAGER_DATABASE_URL": f"postgresql://{database.username}@{DATABASE}:{port}{database.path}",
            "FORAGER_DISPATCH_BROKER_URL": BROKER.replace(f"127.0.0.1:{BROKER_PORT}", f"{HERE}:{broker_port}"),
        }


def count(web: Web, agent: str) -> int:
    return sum(visit.user_agent == agent for visit in web.everything())
