"""A domain, pages and a frontier are purged while a crawl goes on: only the domains concerned are held up."""

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import Forager, Web, until
from tests.web.serving import NETWORK, NO_FILE, Site, a_page, serve

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


LINKED_PAGES = 120
"""So many that the crawl outlasts the purge."""


def test_a_site_that_is_purged_forever_does_not_come_back_by_links(forager: Forager) -> None:
    """Every page of two sites links to the other site; one is purged forever while workers crawl both."""

    def answer(path: str) -> bytes:
        if path == "/robots.txt":
            return NO_FILE
        number = int(path[1:] or 0)
        links = (f"/{number + 1}", f"/{number + 2}") if number < LINKED_PAGES else ()
        return a_page(path, *links, *(site.url(path) for site in sites))

    kept, unwanted = sites = (Site("kept", answer), Site("unwanted", answer))

    with serve(sites):
        order = (kept.url("/"), "--scope", "any", "--depth", "100", "--allow-network", NETWORK, "--workers", "2")
        crawl = forager.start(*order, **PACED)
        until(lambda: min(len(site.pages_asked()) for site in sites) > 5, "both sites are being crawled")
        forager.do("purge", "domain", unwanted.domain, "--forever", "--yes", "--reason", "the owner asked")
        asked = len(unwanted.asked)
        assert crawl.wait() == 0, crawl.said
        assert len(unwanted.asked) == asked
        assert len(set(kept.pages_asked())) >= LINKED_PAGES, "the other site was crawled to its end"
        assert forager.value("SELECT count(*)::int FROM domains WHERE name = $1", unwanted.domain) == 0
        assert forager.value("SELECT links FROM run_drops WHERE reason = 'denied'") > 0
        forager.check()
        again = forager.run("crawl", unwanted.url("/"), "--allow-network", NETWORK)
        assert again.returncode == 7, again.stderr
        assert f"forager domains allow {unwanted.domain}" in again.stderr
        forager.do("domains", "allow", unwanted.domain)
        alone = ("crawl", unwanted.url("/"), "--scope", "page", "--allow-network", NETWORK)
        assert forager.run(*alone).returncode == 0
