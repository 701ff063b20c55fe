"""Domains remember: what a stop leaves, what the next run makes of it. The worked example and every kind of rerun."""

import signal
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from tests.acceptance.conftest import NETWORK, OpenWeb
from tests.acceptance.stage import Forager, Web, until

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]

INTERRUPTED, LIMIT_REACHED = 11, 15
ONE_BY_ONE = {"FORAGER_WORKER_MAX_DOMAINS": "1", "FORAGER_CRAWL_DOMAIN_ORDER": "seed_order"}
"""Domains are taken one after the other, in the order of their addresses."""
UNPACED = {"FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK}
STATE = """SELECT status::text, block_reason_code, pages_discovered, pages_crawled, frontier_size, claimed_by,
                  next_crawl_after, next_crawl_after - now() AS rests, first_blocked_at, version
           FROM domains WHERE name = $1"""
CRAWLED = "SELECT COALESCE(max(pages_crawled), 0) FROM domains WHERE name = $1"
RESET_REASON = """SELECT h.reason FROM domain_history h JOIN domains d ON d.id = h.domain_id
                  WHERE d.name = $1 AND h.from_status = 'exhausted' AND h.to_status = 'pending'"""
TWO_WEEKS = timedelta(days=14)


def state_of(forager: Forager, host: str) -> dict[str, Any]:
    return dict(forager.ask(STATE, host)[0])


def is_about(found: timedelta, wanted: timedelta) -> bool:
    """What a slow machine does between the write and the question is not counted."""
    return wanted - timedelta(minutes=5) <= found <= wanted


def targets(web: Web, host: str, *, since: int = 0) -> list[str]:
    """What was asked of a host after the first `since` requests to the web, robots.txt included."""
    return [visit.target for visit in web.everything()[since:] if visit.host == host]


def test_the_worked_example(forager: Forager, open_web: OpenWeb) -> None:
    """C refuses, B is crawled to its end, A is half done when Ctrl-C comes, D not begun. The same command goes on."""
    web = open_web("closed", "uniform=1x50", "uniform=1x500", "uniform=1x20")
    closed, small, large, untouched = web.hosts
    command = (*web.urls, "--delay", "0.005", "-o", "out.jsonl")
    crawl = forager.start(*command, **ONE_BY_ONE)
    until(lambda: forager.value(CRAWLED, large) >= 100, "A has a hundred pages")
    crawl.signal(signal.SIGINT)
    assert crawl.wait() == INTERRUPTED, crawl.said
    forager.check()

    begun = state_of(forager, large)
    assert (begun["status"], begun["claimed_by"]) == ("active", None)
    assert 100 <= begun["pages_crawled"] < 500
    assert begun["frontier_size"] == begun["pages_discovered"] - begun["pages_crawled"] > 0
    done = state_of(forager, small)
    assert (done["status"], done["pages_crawled"], done["frontier_size"]) == ("exhausted", 50, 0)
    assert is_about(done["rests"], TWO_WEEKS)
    refused = state_of(forager, closed)
    assert (refused["status"], refused["block_reason_code"], refused["pages_crawled"]) == ("blocked", "forbidden", 0)
    assert is_about(refused["rests"], TWO_WEEKS)
    assert refused["first_blocked_at"] is not None
    fresh = state_of(forager, untouched)
    assert (fresh["status"], fresh["pages_crawled"], fresh["frontier_size"]) == ("pending", 0, 1)
    assert targets(web, untouched) == []

    before = len(web.everything())
    first_half = set(targets(web, large)) - {"/robots.txt"}
    forager.start(*command, **ONE_BY_ONE).finish()
    assert targets(web, closed, since=before) == targets(web, small, since=before) == []
    second_half = set(targets(web, large, since=before)) - {"/robots.txt"}
    assert not first_half & second_half
    assert len(first_half | second_half) == 500
    assert targets(web, untouched, since=before)[:2] == ["/robots.txt", "/"]
    assert forager.pages() == web.key.expected_success()
    assert web.repeated() == {}
    assert [state_of(forager, host)["status"] for host in (large, untouched)] == ["exhausted", "exhausted"]
    for host, earlier in ((small, done), (closed, refused)):
        assert state_of(forager, host)["next_crawl_after"] == earlier["next_crawl_after"]
    forager.check()


def test_every_kind_of_rerun(forager: Forager, open_web: OpenWeb) -> None:
    """Same seeds and limit, higher limit, new seeds, and an operator who wants a finished domain once more."""
    web = open_web("closed", "uniform=1x10", "uniform=1x60", "uniform=1x15")
    closed, small, large, new = web.hosts
    known = web.urls[:3]
    asked: dict[str, int] = dict.fromkeys(web.hosts, 0)

    def expect(**pages: int) -> None:
        """How many pages of which site were asked for since the last time; of all others none, not even robots.txt."""
        more = {web.hosts[int(site[-1])]: number for site, number in pages.items()}
        for host in web.hosts:
            seen = targets(web, host)[asked[host] :]
            assert len([target for target in seen if target != "/robots.txt"]) == more.get(host, 0)
            assert host in more or seen == []
            asked[host] += len(seen)

    def crawl(urls: Sequence[str], limit: int) -> int:
        return forager.start(*urls, "--max-pages-per-domain", str(limit), "-o", "out.jsonl", **UNPACED).wait()

    assert crawl(known, 20) == LIMIT_REACHED
    expect(site0=1, site1=10, site2=20)
    statuses = [state_of(forager, host)["status"] for host in web.hosts[:3]]
    assert statuses == ["blocked", "exhausted", "active"]

    assert crawl(known, 20) == LIMIT_REACHED  # same seeds, same limit: only what is not finished
    expect(site2=20)
    assert crawl(known, 100) == 0  # a higher limit: more of it, finished domains stay finished
    expect(site2=20)
    before = state_of(forager, closed)
    assert crawl(web.urls, 100) == 0  # a new seed is crawled; of finished domains the seed is asked whether it changed
    expect(site1=1, site2=1, site3=15)
    assert _lasting(state_of(forager, closed)) == _lasting(before)
    assert sum(web.repeated().values()) == 2
    assert [state_of(forager, host)["status"] for host in (small, large, new)] == ["exhausted"] * 3
    forager.check()

    forager.do("domain", small, "reset", "--reason", "the owner has moved everything")
    assert state_of(forager, small)["status"] == "pending"
    assert crawl(known, 100) == 0  # forced: all of it once more, and of the other its seed
    expect(site1=10, site2=1)
    assert state_of(forager, small)["status"] == "exhausted"
    assert forager.value(RESET_REASON, small) == "the owner has moved everything"
    forager.check()


def _lasting(state: dict[str, Any]) -> dict[str, Any]:
    """But for what time does."""
    return {name: value for name, value in state.items() if name not in {"rests", "frontier_size"}}
