"""A few broken pages of a site: they hold no crawl, are asked for a few times, and are not forgotten."""

import re
import time
from collections import Counter

import pytest
from tests.acceptance.stage import Forager
from tests.integration.fetch.raw_server import http
from tests.web.serving import NETWORK, NO_FILE, Site, a_page, serve

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]

BROKEN = {
    "/500": http(b"", status="500 Internal Server Error"),
    "/503": http(b"", status="503 Service Unavailable"),
    "/429": http(b"", "Retry-After: 4", status="429 Too Many Requests"),
}
GOOD = [f"/{number}" for number in range(1, 11)]


class Shop:
    """Fourteen pages, of which three are broken until they are mended."""

    def __init__(self) -> None:
        self.is_mended = False

    def answer(self, path: str) -> bytes:
        if path == "/robots.txt":
            return NO_FILE
        if path in BROKEN and not self.is_mended:
            return BROKEN[path]
        return a_page(path, *(GOOD + list(BROKEN) if path == "/" else ()))


def test_three_broken_pages_do_not_hold_a_crawl(forager: Forager) -> None:
    shop = Shop()
    site = Site("shop", shop.answer)
    environ = {"FORAGER_FETCH_ALLOW_NETWORKS": NETWORK, "FORAGER_CRAWL_MAX_WAIT": "120"}
    with serve([site]):
        began_at = time.monotonic()
        crawl = forager.start(site.url("/"), "--delay", "0.05", **environ)
        crawl.finish()
        assert time.monotonic() - began_at < 60, "no try that was put off is waited for"
        asked = Counter(site.pages_asked())
        assert asked["/500"] <= 4
        assert asked["/503"] <= 4
        assert asked["/429"] <= 2
        assert all(asked[path] == 1 for path in ["/", *GOOD])
        moments = sorted(at for at, _ in site.asked)
        first = next(at for at, path in site.asked if path == "/429")
        assert not [at for at in moments if first < at < first + 3.9], "the whole site waits as it asked"
        assert re.search(r"waiting: .*asked us to wait 4 s \(answer 429\), until \d\d:\d\d:\d\d UTC", crawl.said)
        assert "Finished, but for 3 pages that failed for now" in crawl.said
        assert f"`forager refresh {site.domain}` tries them again, from" in crawl.said
        assert forager.value("SELECT count(*)::int FROM crawl_tasks WHERE outcome IS NULL") == 3, "nothing is lost"
        forager.check()

        shop.is_mended = True
        early = forager.run("refresh", site.domain, **environ)
        assert early.returncode == 0
        assert "Nothing is due" in early.stderr
        forager.do("refresh", site.domain, "--now", **environ)
        assert forager.value("SELECT count(*)::int FROM pages WHERE status = 'fetched'") == 14
        forager.check()
