"""A crawl whose tasks are paused, resumed and cancelled while its workers have them, by commands of their own."""

import json

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import Forager, until

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]

PAGES = 60
FIRST_LEAF = 12
"""Pages from here on lead to no page that nobody else leads to."""
PACED = {
    "FORAGER_POLITENESS_DELAY": "0.05",
    "FORAGER_POLITENESS_ADAPTIVE_DELAY": "false",
    "FORAGER_FETCH_MAX_REQUESTS_PER_WORKER": "8",
}
TAKEN = """SELECT t.id, p.url FROM crawl_tasks t JOIN pages p ON p.id = t.page_id JOIN domains d ON d.id = t.domain_id
           WHERE t.status = 'crawling' AND d.name = $1 AND substring(p.url FROM '/p/([0-9]+)$')::int >= $2
           ORDER BY t.id DESC"""
"""The last one that was taken first. Its turn is still to come where the site has not heard of it: what it answered may
be on its way into the database."""
PAUSED = "SELECT p.url FROM crawl_tasks t JOIN pages p ON p.id = t.page_id WHERE t.status = 'paused'"


def test_tasks_of_a_running_crawl_are_paused_cancelled_and_resumed(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web(f"uniform=2x{PAGES}")
    first, second = web.hosts
    crawl = forager.start(*web.urls, "--workers", "2", **PACED)
    web.wait_past(2 * FIRST_LEAF + 2)
    with web.frozen():
        heard = set(web.requests())
        doomed = until(
            lambda: [task for task in forager.ask(TAKEN, first, FIRST_LEAF) if task["url"] not in heard],
            "a leaf of the first site is taken",
        )[0]
        forager.do("tasks", "cancel", str(doomed["id"]))
        said = json.loads(forager.do("tasks", "pause", "--domain", first, "--reason", "acceptance", "--json"))
        assert len(said["tasks"]) > 1
        forager.do("domain", second, "pause")
    until(lambda: not forager.value("SELECT count(*) FROM task_signals"), "the workers have heard of it")
    crawl.finish()
    paused = {row["url"] for row in forager.ask(PAUSED)}
    assert paused <= {task["url"] for task in said["tasks"]}
    assert paused
    assert "paused; `forager tasks resume` resumes them" in crawl.said
    assert forager.value("SELECT outcome::text FROM crawl_tasks WHERE id = $1", doomed["id"]) == "cancelled"
    assert "pages of domains that are paused" in crawl.said
    assert forager.value("SELECT count(*) FROM domains WHERE claimed_by IS NOT NULL") == 0
    forager.check()

    forager.do("tasks", "resume", "--domain", first)
    forager.do("domain", second, "resume")
    forager.start(*web.urls, "-o", "out.jsonl", **PACED).finish()
    assert forager.pages() == web.key.expected_success() - {doomed["url"]}
    assert forager.value("SELECT count(*) FROM crawl_tasks WHERE retry_count > 0") == 0
    assert set(web.repeated()) <= paused
    forager.check()
    forager.do("audit", "politeness")
