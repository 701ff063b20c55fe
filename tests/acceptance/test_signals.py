"""Ctrl-C and SIGTERM: once lets open requests finish and saves them, twice does not wait; the same command resumes."""

import signal
from unittest import mock

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import Crawl, Forager, Web, until
from tests.starter import PROGRAM

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]

INTERRUPTED = 11


def start(forager: Forager, web: Web, number: signal.Signals) -> Crawl:
    """For Ctrl-C as a person does it: the signal finds nothing that was not there before."""
    program = (str(PROGRAM),) if number is signal.SIGINT else forager.program
    with mock.patch.object(forager, "program", program):
        crawl = forager.start(*web.urls, "--delay", "0.2", "--workers", "2", "-o", "out.jsonl")
    web.wait_past(20)
    return crawl


def assert_saved(forager: Forager) -> None:
    assert forager.value("SELECT count(*) FROM domains WHERE claimed_by IS NOT NULL") == 0
    assert forager.value("SELECT count(*) FROM crawl_tasks WHERE locked_by IS NOT NULL") == 0
    assert forager.value("SELECT count(*) FROM workers WHERE status = 'running'") == 0
    assert forager.value("SELECT count(*) FROM runs WHERE status <> 'stopped'") == 0
    forager.check()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_once_finishes_what_is_open(forager: Forager, open_web: OpenWeb, number: signal.Signals) -> None:
    """The web is frozen when the signal comes, so that requests are open for sure; it thaws, and they are kept."""
    web = open_web("uniform=6x25")
    crawl = start(forager, web, number)
    with web.frozen():
        crawl.signal(number)
        until(lambda: "stopping: open requests finish" in crawl.said, "it says that it stops")
        assert crawl.is_running
    assert crawl.wait() == INTERRUPTED, crawl.said
    assert "The same command resumes" in crawl.said
    seen = web.requests()
    assert 0 < len(seen) < len(web.key.by_url)
    assert {row["url"] for row in forager.rows()} == set(seen)
    assert_saved(forager)
    forager.start(*web.urls, "--delay", "0.02", "-o", "out.jsonl").finish()
    assert forager.pages() == web.key.expected_success()
    assert web.repeated() == {}
    forager.check()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_twice_does_not_wait(forager: Forager, open_web: OpenWeb, number: signal.Signals) -> None:
    """The web stays frozen: who waited for an answer would never end."""
    web = open_web("uniform=6x25")
    crawl = start(forager, web, number)
    with web.frozen():
        crawl.signal(number)
        until(lambda: "stopping: open requests finish" in crawl.said, "it says that it stops")
        crawl.signal(number)
        until(lambda: "stopping now" in crawl.said, "it says that it stops now")
        assert crawl.wait() == INTERRUPTED, crawl.said
    assert_saved(forager)
    forager.start(*web.urls, "--delay", "0.02", "-o", "out.jsonl").finish()
    assert forager.pages() == web.key.expected_success()
    forager.check()
