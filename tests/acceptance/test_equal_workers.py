"""F10: workers whose host names and process numbers are equal, as those of containers are. The database numbers them,
and its version of a lease decides; a name decides nothing."""

import signal
from contextlib import ExitStack

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.containers import Container, need_containers
from tests.acceptance.stage import AT_RISK, SMALL, Forager, tell, until
from tests.acceptance.test_up import visited

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

SHORT = SMALL | {
    "FORAGER_WORKER_LEASE": "8",
    "FORAGER_WORKER_HEARTBEAT": "1",
    "FORAGER_WORKER_DEAD_AFTER": "8",
    "FORAGER_WORKER_PARSER_PROCESSES": "0",
    "FORAGER_POLITENESS_DELAY": "0.2",
}
ALIKE = "SELECT count(DISTINCT (host, pid_started)) FROM workers WHERE pid = 1 AND split_part(host, '/', 1) = 'twin'"
"""Containers, by what stands behind the name: a worker that was declared dead, as when the machine stood still, has two
rows."""
AT_WORK = "SELECT count(DISTINCT claimed_by) FROM domains WHERE claimed_by IS NOT NULL"
TO_THE_STANDING_RUN = "UPDATE domains SET run_id = (SELECT id FROM runs WHERE keeper = 'standing')"


def test_workers_that_look_alike_share_the_work(forager: Forager, open_web: OpenWeb) -> None:
    """One of two is killed, and comes back under the same name and number, as a container that is started anew."""
    need_containers()
    web = open_web("uniform=6x16")
    forager.environ |= SHORT
    forager.do("seed", *web.urls)
    with ExitStack() as stack:

        def a_twin() -> Container:
            twin = Container("worker", "--of", "2", environ=forager.environ, folder=forager.folder)
            stack.callback(twin.kill)
            return twin

        keeper = forager.spawn("schedule", "run", "dispatch", "takeover")
        first, second = a_twin(), a_twin()
        until(lambda: forager.value(ALIKE) == 2, "both are there")
        forager.ask(TO_THE_STANDING_RUN)
        until(lambda: forager.value(AT_WORK) == 2, "both work")
        web.wait_past(30)
        first.kill()
        third = a_twin()
        until(lambda: forager.value(ALIKE) == 3, "another of that name is there")
        until(lambda: visited(forager) == web.key.expected_success(), "every page was visited")
        for twin in (second, third):
            twin.signal(signal.SIGTERM)
            assert twin.wait() == 0, twin.said
        keeper.signal(signal.SIGTERM)
        assert keeper.wait() == 0, keeper.said
    assert forager.value("SELECT count(*) FROM crawl_tasks WHERE outcome IS NOT NULL") == len(web.key.by_url)
    tell(f"{sum(web.repeated().values())} of at most {AT_RISK} requests were made again")
    assert sum(web.repeated().values()) <= AT_RISK
    said = second.said + third.said
    assert "lease lost" not in said
    assert "already using" not in said, "Celery knows them apart, too"
    forager.check()
