"""A worker that sleeps longer than its lease: another takes over, and what the sleeper brings afterwards is refused."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import Forager, Web, until

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

SHORT = {
    "FORAGER_WORKER_LEASE": "4",
    "FORAGER_WORKER_HEARTBEAT": "1",
    "FORAGER_WORKER_DEAD_AFTER": "4",
    "FORAGER_WORKER_BATCH_INTERVAL": "1s",
}
"""Results are in hand for a second, long enough for a busy machine to find them there before the crawl is over."""
LOCKED = """SELECT p.url FROM crawl_tasks t JOIN pages p ON p.id = t.page_id JOIN workers w ON w.id = t.locked_by
            WHERE t.outcome IS NULL AND w.pid = $1"""
WRITING = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND state <> 'idle'"
"""Asleep in a transaction it would keep its rows locked, and nobody could take them before it wakes."""
SETTLED_S = 0.3
"""The server may have its last words, a COMMIT among them, and not have read them yet: it looks idle until it does."""
PLANT_STRAY = """UPDATE domains SET claimed_by = w.id, claim_expires_at = now() + interval '1 hour', status = 'active',
                 version = version + 1 FROM workers w
                 WHERE w.status = 'running' AND claimed_by IS NULL RETURNING name"""
NOBODYS = "SELECT count(*) FROM domains WHERE claimed_by IS NULL AND version = 0"
HELD = "SELECT count(*) FROM domains d JOIN workers w ON w.id = d.claimed_by WHERE w.pid = $1"


def test_late_results_of_a_lost_lease_are_refused(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=6x24")
    crawl = forager.start(*web.urls, "--delay", "0.25", "--workers", "2", "-o", "out.jsonl", **SHORT)
    until(lambda: len(crawl.workers()) == 2 and all(leases(forager, pid) for pid in crawl.workers()), "both work")
    until(lambda: forager.value(NOBODYS) == 0, "every domain has its worker")
    web.wait_past(20)
    sleeper = crawl.workers()[0]
    late = put_to_sleep_with_results(forager, web, sleeper)
    try:
        until(lambda: leases(forager, sleeper) == 0, "the lease ran out and was taken")
        until(
            lambda: forager.value("SELECT count(*) FROM pages WHERE status <> 'fetched'") == 0, "the other did it all"
        )
    finally:
        awake_at = time.monotonic()
        os.kill(sleeper, signal.SIGCONT)
    crawl.finish()
    assert "late results refused" in crawl.said
    assert [visit.url for visit in web.everything() if visit.received_s > awake_at] == []
    assert forager.pages() == web.key.expected_success()
    assert set(forager.ask("SELECT DISTINCT count(*) FROM crawl_tasks WHERE outcome IS NOT NULL GROUP BY page_id")) == {
        (1,)
    }
    assert late <= set(web.repeated())
    assert len(web.repeated()) <= 6 * 5 + len(late)
    forager.check()


def test_who_lost_its_lease_makes_no_request_beside_its_successor(forager: Forager, open_web: OpenWeb) -> None:
    """The site knows the two apart by their names: after the successor's first request it sees no other's."""
    web = open_web("uniform=1x60")
    crawl = forager.start(*web.urls, "--delay", "0.1", "-o", "out.jsonl", FORAGER_FETCH_USER_AGENT="Sleeper/1", **SHORT)
    web.wait_past(10)
    (sleeper,) = crawl.workers()
    late = put_to_sleep_with_results(forager, web, sleeper)
    with another_worker(forager, FORAGER_FETCH_USER_AGENT="Successor/1", **SHORT) as successor:
        try:
            until(lambda: len(visits_by(web, "Successor/1")) > 10, "another took over, and works")
        finally:
            os.kill(sleeper, signal.SIGCONT)
        assert successor.poll() is None
        crawl.finish()
        assert successor.wait() == 0
    taken_over_at = visits_by(web, "Successor/1")[0]
    assert [at for at in visits_by(web, "Sleeper/1") if at > taken_over_at] == []
    assert "late results refused" in crawl.said
    assert late <= set(web.repeated())
    assert len(web.repeated()) <= 5 + len(late)
    assert forager.pages() == web.key.expected_success()
    forager.check()


def test_a_lease_nobody_knows_of_is_handed_back(forager: Forager, open_web: OpenWeb) -> None:
    """As if the connection broke after the claim was committed and before its answer came: a lease without a lane."""
    web = open_web("uniform=2x10")
    crawl = forager.start(
        *web.urls, "--delay", "0.2", "-o", "out.jsonl", FORAGER_WORKER_MAX_DOMAINS="1", FORAGER_WORKER_HEARTBEAT="1"
    )
    web.wait_past(0)
    assert forager.ask(PLANT_STRAY)
    crawl.finish()
    assert forager.pages() == web.key.expected_success()
    assert web.repeated() == {}
    forager.check()


@contextmanager
def another_worker(forager: Forager, **environ: str) -> Iterator[subprocess.Popen[bytes]]:
    """A second one for the same run, as on another machine."""
    run = forager.value("SELECT max(id) FROM runs")
    process = subprocess.Popen(
        [sys.executable, "-m", "forager", "worker", "--run", str(run)],
        env=os.environ | forager.environ | environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def visits_by(web: Web, agent: str) -> list[float]:
    """When its requests came, robots.txt counted."""
    return sorted(visit.received_s for visit in web.everything() if visit.user_agent == agent)


def leases(forager: Forager, pid: int) -> int:
    found: int = forager.value(HELD, pid)
    return found


def put_to_sleep_with_results(forager: Forager, web: Web, pid: int) -> set[str]:
    """Stop it at a moment when it has answers in hand that are in no database yet; answers which."""

    def in_hand() -> set[str]:
        late = {row["url"] for row in forager.ask(LOCKED, pid)} & set(web.requests())
        return late if forager.value(WRITING, f"forager worker {pid}") == 0 else set()

    def sleeps() -> set[str]:
        os.kill(pid, signal.SIGSTOP)
        late = in_hand()
        time.sleep(SETTLED_S)
        if late != in_hand():
            late = set()
        if not late:
            os.kill(pid, signal.SIGCONT)
            time.sleep(random.uniform(0.05, 0.5))  # else it is stopped again and again in the middle of the same batch
        return late

    found: set[str] = until(sleeps, "it sleeps with results in hand")
    return found
