"""How a run is recorded to have ended: by itself, killed, beside another crawl of the same site."""

import json
import signal
import time

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.instance import up
from tests.acceptance.stage import Forager, until, wait_for_end

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]


def test_a_crawl_that_was_begun_long_ago_and_ends_by_itself_is_finished(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=1x30")
    crawl = forager.start(*web.urls, "--delay", "0.1")
    web.wait_past(3)
    forager.ask("UPDATE runs SET started_at = started_at - interval '1 hour' RETURNING id")
    crawl.finish()
    assert forager.value("SELECT status::text FROM runs") == "finished"


def test_a_crawl_that_is_killed_at_once_is_stopped_and_not_running_for_ever(
    forager: Forager, open_web: OpenWeb
) -> None:
    web = open_web("uniform=1x30")
    crawl = forager.start(*web.urls, "--delay", "0.1")
    until(lambda: forager.value("SELECT count(*) FROM runs"), "the run is on record")
    crawl.kill_all()
    (row,) = json.loads(forager.do("runs", "--json"))
    assert row["status"] == "stopped"
    assert forager.value("SELECT status::text FROM runs") == "running", "looking changes nothing"
    forager.start(*web.urls, "--delay", "0").finish()
    rows = forager.ask("SELECT status::text, ended_at < now() - interval '0.2 s' AS was_before FROM runs ORDER BY id")
    assert [row["status"] for row in rows] == ["stopped", "finished"]
    assert rows[0]["was_before"]


def test_a_site_that_forager_up_crawls_is_handed_over_to_who_asks_for_it(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=2x40")
    with up(
        forager, "--workers", "1", FORAGER_POLITENESS_DELAY="0.1", FORAGER_POLITENESS_NO_DELAY_HOSTS=""
    ) as instance:
        instance.become_admin()
        instance.do("POST", "/api/frontier/seed", {"urls": list(web.urls)})
        web.wait_past(5)
        crawl = forager.start(web.urls[0], "--max-pages", "10", "--delay", "0.1")
        began = time.monotonic()
        assert crawl.wait() in {0, 15}, crawl.said
        assert time.monotonic() - began < 60
        assert "is being crawled by `forager up` (worker " in crawl.said
        assert "hands over when its open requests are done" in crawl.said
        run = forager.value("SELECT max(id) FROM runs")
        assert forager.value("SELECT sum(pages)::int FROM run_outcomes WHERE run_id = $1", run) == 10
        until(
            lambda: (
                forager.value("SELECT count(*) FROM pages WHERE status = 'fetched'") >= len(web.key.expected_success())
            ),
            "`forager up` visits the rest",
        )
        instance.stop()
    assert web.repeated() == {}
    forager.check()


def test_up_follows_at_once_on_one_that_was_killed(forager: Forager) -> None:
    """Its API lives a little longer, and so does its hold on the port."""
    with up(forager, "--workers", "0") as killed:
        children = killed.pids("api")
        killed.process.process.send_signal(signal.SIGKILL)
        killed.process.process.wait()
        with up(forager, "--workers", "0", port=killed.port) as follower:
            wait_for_end(*children)
            until(lambda: follower.pids("api"), "the API was started")
            until(follower.answers, "the API answers")
            follower.stop()
