"""A domain, pages and a frontier are purged while a crawl goes on: only the domains concerned are held up."""

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import Forager, Web, until

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]

PAGES = 60
PACED = {"FORAGER_POLITENESS_DELAY": "0.05", "FORAGER_POLITENESS_ADAPTIVE_DELAY": "false"}


def seen(web: Web, host: str) -> int:
    return sum(host in url for url in web.requests())


def test_a_purge_fences_only_what_it_takes(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web(f"uniform=4x{PAGES}")
    unwanted, partly, emptied, other = web.hosts
    crawl = forager.start(*web.urls, "--workers", "2", "-o", "out.jsonl", **PACED)
    until(lambda: all(seen(web, host) > 8 for host in web.hosts), "all sites are being crawled")

    forager.do("purge", "domain", unwanted, "--yes", "--reason", "they asked us to")
    asked, others = seen(web, unwanted), seen(web, other)
    assert forager.value("SELECT count(*) FROM domains WHERE name = $1", unwanted) == 0
    assert crawl.is_running, crawl.said
    until(lambda: seen(web, other) > others, "another site is crawled")
    forager.do("purge", "pages", partly, "/p/2", "--yes")
    forager.do("purge", "frontier", "--domain", emptied, "--yes")
    forager.do("domain", unwanted, "block", "--reason", "for good")
    forager.check()
    crawl.finish()

    assert seen(web, unwanted) == asked
    expected = {url for url in web.key.expected_success() if f"//{other}/" in url}
    assert {url for url in forager.pages() if f"//{other}/" in url} == expected
    assert not [url for url in web.repeated() if f"//{other}/" in url]
    status = "SELECT status::text FROM domains WHERE name = $1"
    assert forager.value(status, unwanted) == "blocked"
    assert forager.value("SELECT count(*) FROM domains WHERE claimed_by IS NOT NULL") == 0
    forager.check()
    forager.do("audit", "politeness")
