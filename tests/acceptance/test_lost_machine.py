"""A machine that is lost for good, or stands still: the other workers take over all of its domains within a lease and
five seconds, although the run still expects as many workers as before."""

import os
import signal
import time
from collections.abc import Callable

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import Crawl, Forager, Web, until

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

LEASE_S, WORKERS, DOMAINS = 6.0, 3, 12
SHORT = {
    "FORAGER_WORKER_LEASE": str(LEASE_S),
    "FORAGER_WORKER_HEARTBEAT": "1",
    "FORAGER_WORKER_DEAD_AFTER": "5",
    "FORAGER_WORKER_PARSER_PROCESSES": "0",
    "FORAGER_POLITENESS_DELAY": "0.5",
    "FORAGER_POLITENESS_ADAPTIVE_DELAY": "false",
}
TO_THE_STANDING_RUN = "UPDATE domains SET run_id = (SELECT id FROM runs WHERE keeper = 'standing')"
HELD_BY = """SELECT d.name FROM domains d JOIN workers w ON w.id = d.claimed_by WHERE w.pid = $1"""
SHARES = "SELECT count(*) FROM domains WHERE claimed_by IS NOT NULL GROUP BY claimed_by"
LATE = "SELECT count(*) FROM crawl_tasks WHERE outcome IS NOT NULL GROUP BY page_id HAVING count(*) > 1"


def stop_for_good(crawl: Crawl) -> None:
    os.kill(crawl.process.pid, signal.SIGKILL)


def freeze(crawl: Crawl) -> None:
    os.kill(crawl.process.pid, signal.SIGSTOP)


@pytest.mark.parametrize("lose", [stop_for_good, freeze])
def test_a_lost_workers_domains_are_taken_over(
    forager: Forager, open_web: OpenWeb, lose: Callable[[Crawl], None]
) -> None:
    web = open_web(f"uniform={DOMAINS}x80")
    forager.environ |= SHORT
    forager.do("seed", *web.urls)
    workers = [forager.spawn("worker", "--of", str(WORKERS)) for _ in range(WORKERS)]
    until(lambda: forager.value("SELECT count(*) FROM workers") == WORKERS, "all workers are there")
    forager.ask(TO_THE_STANDING_RUN)
    until(lambda: [row[0] for row in forager.ask(SHARES)] == [DOMAINS // WORKERS] * WORKERS, "each has its share")
    lost = workers[0]
    domains = {row["name"] for row in forager.ask(HELD_BY, lost.process.pid)}
    until(lambda: domains <= hosts_since(web, 0.0), "it works on all of them")
    lose(lost)
    lost_at = time.monotonic()
    ends_at = lost_at + LEASE_S + 5
    until(lambda: domains <= hosts_since(web, lost_at + 1.0) or time.monotonic() > ends_at, "others ask for them")
    assert domains - hosts_since(web, lost_at + 1.0) == set()
    os.kill(lost.process.pid, signal.SIGCONT)  # a frozen one brings late results; a killed one is a zombie
    if lose is freeze:
        until(lambda: "lease lost" in lost.said, "it notices")
    for each in workers[1:]:
        each.signal(signal.SIGTERM)
        assert each.wait() == 0, each.said
    assert forager.ask(LATE) == []
    forager.check()
    forager.do("audit", "politeness")


def hosts_since(web: Web, moment_s: float) -> set[str]:
    return {visit.host for visit in web.everything() if visit.received_s > moment_s}
