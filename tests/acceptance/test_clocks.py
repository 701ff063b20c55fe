"""F9: wall clocks of workers and of whoever keeps the timetable jump by hours and days in the middle of a crawl. Leases
and the timetable follow the database's clock, the pace the one that never jumps."""

import time

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.moving_clock import a_moving_clock
from tests.acceptance.stage import Forager, assert_no_domain_twice
from tests.acceptance.test_sharing import assert_pace

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

HOUR, DAY = 3600, 86_400
SHORT = {
    "FORAGER_WORKER_LEASE": "6",
    "FORAGER_WORKER_HEARTBEAT": "1",
    "FORAGER_WORKER_PARSER_PROCESSES": "0",
    "FORAGER_POLITENESS_ADAPTIVE_DELAY": "false",
}
"""A lease that has to be renewed several times on the way, so that a wrong clock would lose it, or never end it."""
SELDOM_TWICE = "SELECT name FROM jobs WHERE every_s >= 900 AND times > 1"
STAMPED = "SELECT max(abs(EXTRACT(EPOCH FROM now() - completed_at)))::float8 FROM crawl_tasks WHERE outcome IS NOT NULL"


def test_clocks_that_jump_change_nothing(forager: Forager, open_web: OpenWeb) -> None:
    web, delay_s = open_web("uniform=4x36"), 0.2
    clock = a_moving_clock(forager.folder)
    command = (*web.urls, "--delay", str(delay_s), "--workers", "2", "-o", "out.jsonl")
    crawl = forager.start(*command, **SHORT, **clock.environ)
    for number, jump_s in enumerate((HOUR, -HOUR, DAY, -DAY), start=1):
        web.wait_past(number * 24)
        clock.move(jump_s)
        assert abs(clock.shown_s() - time.time() - jump_s) < HOUR / 2, "it really jumped"
    crawl.finish()
    assert forager.pages() == web.key.expected_success()
    assert web.repeated() == {}
    assert "lease lost" not in crawl.said
    assert_no_domain_twice(forager)
    for host in web.hosts:
        assert_pace(web, forager, host, delay_s)
    assert forager.ask(SELDOM_TWICE) == []
    assert forager.value(STAMPED) < HOUR / 2, "visits are stamped with the database's time"
    forager.do("audit", "politeness")
    forager.check()
