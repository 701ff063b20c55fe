"""Two hundred servers that drip, beside a good one: they keep few requests open, and it keeps its rate."""

import pytest
from tests.acceptance.stage import Forager, tell, until
from tests.web.cases import endless
from tests.web.serving import NETWORK, NO_FILE, Site, serve
from tests.web.test_bad_servers import good_site, rate_of

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180), pytest.mark.xdist_group("bad servers")]

DRIPPING, PAGES_EACH, GOOD_PAGES = 200, 3, 30
SLOTS = 64
SETTINGS = {
    "FORAGER_FETCH_ALLOW_NETWORKS": NETWORK,
    "FORAGER_POLITENESS_DELAY": "0.2",
    "FORAGER_FETCH_MAX_REQUESTS_PER_WORKER": str(SLOTS),
    "FORAGER_FETCH_TIMEOUT": "5",
    "FORAGER_FETCH_MIN_RATE": "0",
    "FORAGER_FAILURES_MAX_RETRIES": "0",
    "FORAGER_CRAWL_MAX_WAIT": "1",
}
"""They would take all requests five times over, and hold each of them for as long as the good site takes in all."""


def dripping_site(number: int) -> Site:
    drip = endless(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9999\r\n\r\n", b"<p>", 0.5)
    return Site(f"dripping {number}", lambda path: NO_FILE if path == "/robots.txt" else drip)


def test_dripping_servers_cost_a_good_site_little_of_its_rate(forager: Forager) -> None:
    alone, beside = good_site("alone", GOOD_PAGES), good_site("beside", GOOD_PAGES)
    bad = [dripping_site(number) for number in range(DRIPPING)]
    with serve([alone, beside, *bad]):
        forager.start(alone.url("/"), **SETTINGS).finish()
        seeds = [site.url(f"/{number}") for number in range(PAGES_EACH) for site in bad]
        crawl = forager.start(beside.url("/"), *seeds, **SETTINGS)
        until(lambda: len(beside.pages_asked()) == GOOD_PAGES, "the good site was crawled")
        dripping = sum(len(site.pages_asked()) for site in bad)
        crawl.kill_all()
    tell(f"alone {rate_of(alone):.2f} pages/s, beside {rate_of(beside):.2f}; {dripping} dripping requests meanwhile")
    assert dripping >= SLOTS // 2
    assert rate_of(beside) >= 0.8 * rate_of(alone)
