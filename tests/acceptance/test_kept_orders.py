"""What an operator says holds: what a crawl was allowed, for its refresh; a new pace and a budget, at once."""

import re
import time

import pytest
from tests.acceptance.conftest import HOST_BASE, NETWORK
from tests.acceptance.instance import up
from tests.acceptance.stage import Forager, until
from tests.web.serving import NETWORK as WEB
from tests.web.serving import NO_FILE, Site, a_page, serve

from forager_playground import start_playground

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]

NOT_ALLOWED = {"FORAGER_FETCH_ALLOW_NETWORKS": "", "FORAGER_POLITENESS_NO_DELAY_HOSTS": f"{NETWORK},{WEB}"}
STATES = "SELECT status::text AS status, count(*)::int AS pages FROM pages GROUP BY status"
DUE = "UPDATE domains SET next_crawl_after = now() WHERE next_crawl_after IS NOT NULL RETURNING id"


def states(forager: Forager) -> dict[str, int]:
    return {row["status"]: row["pages"] for row in forager.ask(STATES)}


def walk(forager: Forager, *, day: int, port: int = 0) -> int:
    """The walk of the how-to on products; answers the shop's port."""
    with start_playground(("shop=6",), host_base=HOST_BASE, port=port, day=day) as running:
        (url,) = running.urls
        if day == 0:
            forager.do("crawl", url, "--allow-network", NETWORK, **NOT_ALLOWED)
        else:
            assert forager.ask(DUE)
            again = forager.run("refresh", **NOT_ALLOWED)
            assert again.returncode == 0, again.stderr
            assert re.search(r"^[1-9]\d* pages fetched", again.stderr, re.MULTILINE), again.stderr
        return int(url.rstrip("/").rpartition(":")[2])


def test_a_refresh_is_allowed_what_the_crawl_was(forager: Forager) -> None:
    port = walk(forager, day=0)
    before = states(forager)
    walk(forager, day=1, port=port)
    assert states(forager) == before
    assert forager.value("SELECT count(*) > (SELECT count(*) FROM products) FROM product_prices")
    forager.check()


def test_our_own_guard_changes_no_page_and_is_no_success(forager: Forager) -> None:
    port = walk(forager, day=0)
    before = states(forager)
    forager.do("domain", forager.value("SELECT name FROM domains"), "set", "--default", "allow_networks")
    forager.ask(DUE)
    with start_playground(("shop=6",), host_base=HOST_BASE, port=port, day=1) as running:
        again = forager.run("refresh", **NOT_ALLOWED)
        assert again.returncode == 6, again.stderr
        assert f"{before['fetched']} pages failed: {before['fetched']} address refused" in again.stderr
        assert states(forager) == before
        assert forager.value("SELECT total_error_count::int FROM domains") == 0
        forager.check()
        forager.do("crawl", *running.urls, "--allow-network", NETWORK, **NOT_ALLOWED)  # and it is allowed again
        forager.do("refresh", "--now", **NOT_ALLOWED)


def test_pages_that_the_guard_rejected_are_tried_once_they_are_allowed(forager: Forager) -> None:
    with start_playground(("uniform=1x6",), host_base=HOST_BASE) as running:
        (url,) = running.urls
        named = sorted(running.answer_key.expected_success())[:3]
        rejected = forager.run("crawl", *named, "-o", "out.jsonl", **NOT_ALLOWED)
        assert rejected.returncode == 6, rejected.stderr
        assert "Finished" not in rejected.stderr
        assert "written" not in rejected.stderr
        assert states(forager) == {"failed": 3}
        forager.do("crawl", url, "--allow-network", NETWORK, **NOT_ALLOWED)
        assert set(states(forager)) == {"fetched"}
        forager.check()


def test_up_is_allowed_what_the_crawl_was(forager: Forager) -> None:
    site = Site("home", lambda _path: a_page("Home"))
    with serve([site]):
        forager.do("crawl", site.url("/"), "--allow-network", WEB, **NOT_ALLOWED)
        seen = len(site.pages_asked())
        forager.environ |= NOT_ALLOWED
        with up(forager):
            forager.do("domain", site.domain, "reset")
            until(lambda: len(site.pages_asked()) > seen, "`up` visits it again")
        assert states(forager) == {"fetched": 1}


def endless(path: str) -> bytes:
    if path == "/robots.txt":
        return NO_FILE
    number = int(path.strip("/") or 0)
    return a_page(f"Page {number}", *(f"/{number * 5 + step}" for step in range(1, 6)))


def test_a_new_pace_and_a_budget_hold_at_once_for_a_domain_that_is_crawled(forager: Forager) -> None:
    site = Site("endless", endless)
    with serve([site]):
        crawl = forager.start(site.url("/"), "--delay", "0.1", FORAGER_FETCH_ALLOW_NETWORKS=WEB)
        until(lambda: len(site.asked) > 10, "it is crawled")
        forager.do("domain", site.domain, "set", "--delay", "4")
        set_at = time.monotonic()
        why = forager.do("why", site.domain)
        assert "4 s between requests (set for the domain" in why
        until(lambda: any(at > set_at + 2 for at, _ in site.asked), "the next request comes")
        late = [at - set_at for at, _ in site.asked if at > set_at + 1.5]
        assert len(late) <= 2, f"requests {late} s after the change"

        taken = len(site.pages_asked())
        forager.do("domain", site.domain, "set", "--max-pages", "3", "--delay", "0.1")
        assert crawl.wait() == 15, crawl.said
        assert len(site.pages_asked()) <= taken + 2
        assert "page limit of their domain" in crawl.said
        assert "of 3 pages of run 1 taken" in forager.do("why", site.domain)
        forager.check()
