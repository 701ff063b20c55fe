"""Several workers: every domain has one at a time, every page is asked for once, and each site sees its pace."""

from itertools import pairwise

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import TRANSPORT_S, Forager, Web, assert_no_domain_twice, until

from forager_playground import most_open_at_once, visits_of

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

HELD = "SELECT claimed_by, count(*) AS domains FROM domains WHERE claimed_by IS NOT NULL GROUP BY claimed_by"
REQUESTED = """SELECT requested_at FROM crawl_tasks t JOIN domains d ON d.id = t.domain_id
               WHERE d.name = $1 AND requested_at IS NOT NULL ORDER BY requested_at"""
CLOCK_S = 0.001
"""The database keeps microseconds, and its clock is read anew now and then."""
SPAN, MOST_OPEN = 8, 5


@pytest.mark.parametrize("workers", [2, 8])
def test_no_page_twice_and_no_domain_twice(forager: Forager, open_web: OpenWeb, workers: int) -> None:
    """The web is frozen until every worker has its share, so that none comes too late."""
    web = open_web("uniform=16x12")
    with web.frozen():
        crawl = forager.start(*web.urls, "--delay", "0.05", "--workers", str(workers), "-o", "out.jsonl")
        until(lambda: len(forager.ask(HELD)) == workers, "every worker has leases")
        assert {row["domains"] for row in forager.ask(HELD)} == {16 // workers}
    crawl.finish()
    assert forager.pages() == web.key.expected_success()
    assert web.repeated() == {}
    assert_no_domain_twice(forager)
    assert forager.value("SELECT count(*) FROM workers WHERE status = 'stopped'") == workers
    forager.check()


def test_every_site_sees_its_pace(forager: Forager, open_web: OpenWeb) -> None:
    """Twenty-one sites and three workers; the last site asks for more distance in its robots.txt."""
    web, delay_s, asked_s = open_web("uniform=20x20", "strict=6"), 0.1, 0.2
    forager.start(*web.urls, "--delay", str(delay_s), "--workers", "3", "-o", "out.jsonl").finish()
    assert forager.pages() == web.key.expected_success()
    assert web.repeated() == {}
    *uniform, strict = web.hosts
    for host in uniform:
        assert_pace(web, forager, host, delay_s)
    assert_pace(web, forager, strict, asked_s)


def test_many_workers_on_one_domain_keep_its_pace(forager: Forager, open_web: OpenWeb) -> None:
    web, delay_s = open_web("uniform=1x25"), 0.2
    forager.start(*web.urls, "--delay", str(delay_s), "--workers", "4", "-o", "out.jsonl").finish()
    assert forager.pages() == web.key.expected_success()
    assert web.repeated() == {}
    assert_pace(web, forager, web.hosts[0], delay_s)
    forager.check()


def assert_pace(web: Web, forager: Forager, host: str, delay_s: float) -> None:
    """As the site saw it: never more in a span of time than the pace allows, robots.txt counted, whoever sent it.
    And exactly so as we wrote it down: each request not earlier than the pace after the one before."""
    log = web.everything()
    arrivals = sorted(visit.received_s for visit in visits_of(log, host))
    for steps in (SPAN, len(arrivals) - 1):
        spans = [later - earlier for earlier, later in zip(arrivals, arrivals[steps:], strict=False)]
        assert min(spans) >= steps * delay_s - TRANSPORT_S
    assert most_open_at_once(log, host) <= MOST_OPEN
    asked = forager.ask(REQUESTED, host)
    assert len(asked) == len(visits_of(log, host, with_robots=False))
    gaps = [(later[0] - earlier[0]).total_seconds() for earlier, later in pairwise(asked)]
    assert min(gaps) >= delay_s - CLOCK_S
