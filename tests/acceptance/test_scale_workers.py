"""Sixteen workers at once; one that comes later; a schema that becomes newer under a crawl; one that is sent away."""

import json
import signal
from pathlib import Path

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import Forager, Web, assert_exact, assert_no_domain_twice, kill, until
from tests.acceptance.test_up import visited
from tests.integration.scale.next_revision import NEXT, add_next

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

WORKERS = 16
FEW = {
    "FORAGER_WORKER_PARSER_PROCESSES": "0",
    "FORAGER_FETCH_FIRST_BYTE_TIMEOUT": "120",
    "FORAGER_POLITENESS_ADAPTIVE_DELAY": "false",
}
"""So many processes start at once: pages are read by the workers themselves. A frozen web is waited for, and not spared
afterwards."""
HELD = "SELECT claimed_by, count(*) AS domains FROM domains WHERE claimed_by IS NOT NULL GROUP BY claimed_by"
RUNNING = "SELECT count(*) FROM workers WHERE status = 'running'"


def test_sixteen_workers_and_no_domain_twice(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web(f"uniform={2 * WORKERS}x5")
    learn_robots(forager, web)
    with web.frozen():
        crawl = forager.start(*web.urls, "--delay", "0.05", "--workers", str(WORKERS), "-o", "out.jsonl", **FEW)
        until(lambda: len(forager.ask(HELD)) == WORKERS, "every worker has leases")
        assert {row["domains"] for row in forager.ask(HELD)} == {2}
    crawl.finish()
    assert forager.pages() == web.key.expected_success()
    assert web.repeated() == {}
    assert_no_domain_twice(forager)
    assert forager.value("SELECT count(*) FROM workers WHERE status = 'stopped'") == 1 + WORKERS
    forager.check()


def test_work_moves_to_a_worker_that_comes_later(forager: Forager, open_web: OpenWeb) -> None:
    """One has all domains, for as long as it likes; when another is there it hands back what is more than its share.
    The web is frozen until then."""
    web = open_web("uniform=6x48")
    forager.environ |= FEW | {"FORAGER_POLITENESS_DELAY": "0.2", "FORAGER_WORKER_HEARTBEAT": "0.5"}
    forager.do("seed", *web.urls)
    first = forager.spawn("worker")
    until(lambda: forager.value(RUNNING) == 1, "it is there")
    forager.ask("UPDATE domains SET run_id = (SELECT id FROM runs WHERE keeper = 'standing')")
    until(lambda: len({visit.host for visit in web.visits()}) == 6, "it knows all of them")
    with web.frozen():
        assert [row["domains"] for row in forager.ask(HELD)] == [6]
        second = forager.spawn("worker")
        until(lambda: forager.value(RUNNING) == 2, "another is there")
    until(lambda: len(forager.ask(HELD)) == 2, "each has some of them")
    assert web.count() < len(web.key.by_url)
    until(lambda: visited(forager) == web.key.expected_success(), "every page was visited")
    for process in (first, second):
        process.signal(signal.SIGTERM)
        assert process.wait() == 0, process.said
    assert process.said.count("lease lost") == 0
    assert web.repeated() == {}
    forager.check()
    forager.do("audit", "politeness")


def test_a_schema_that_grows_under_a_crawl_and_a_worker_that_is_sent_away(
    forager: Forager, open_web: OpenWeb, tmp_path: Path
) -> None:
    """The program is the older one then: it goes on, starts another worker where one was killed, answers commands."""
    web = open_web("uniform=6x12")
    learn_robots(forager, web)
    crawl = forager.start(*web.urls, "--delay", "0.1", "--workers", "2", "-o", "out.jsonl", **FEW)
    web.wait_past(10)
    with web.frozen():
        (tmp_path / "later").mkdir()
        add_next(forager.dsn, tmp_path / "later", "ALTER TABLE domains ADD COLUMN mood text NOT NULL DEFAULT 'calm';")
        assert forager.value("SELECT max(revision) FROM schema_revisions") == NEXT
        kill(crawl.workers()[0])
        until(lambda: forager.value("SELECT count(*) FROM workers") == 4, "another was started on the newer schema")
        newest = forager.value("SELECT max(id) FROM workers")
        until(lambda: newest in {row["claimed_by"] for row in forager.ask(HELD)}, "it works")
        (sent,) = json.loads(forager.do("worker", "drain", str(newest), "--json"))
        assert sent["worker"] == newest
    until(lambda: forager.value("SELECT status::text FROM workers WHERE id = $1", newest) == "stopped", "it left")
    crawl.finish()
    assert_exact(forager, web, at_risk=6 * 5 + 200)
    assert forager.value("SELECT count(*) FROM audit_log WHERE action = 'worker.drain'") == 1
    shown = {row["id"]: row for row in json.loads(forager.do("workers", "--all", "--json"))}
    assert shown[newest]["drain_asked_at"] is not None


def learn_robots(forager: Forager, web: Web) -> None:
    """The first page of each site, so that nobody asks a frozen web for a robots.txt, which is not waited for long."""
    forager.start(*web.urls, "--max-pages-per-domain", "1", "--delay", "0.05", **FEW).finish(15)
    forager.ask("DELETE FROM domain_settings")  # a limit that was given with a crawl is remembered
