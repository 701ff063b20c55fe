"""What domains go through: refusals, login walls, silence; each with its reason and its cooldown, and the way back."""

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from tests.acceptance.conftest import HOST_BASE, NETWORK, OpenWeb
from tests.acceptance.stage import Forager, Web, kill

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]

UNPACED = {"FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK}
IN_FLIGHT = 4
HASTY = UNPACED | {
    "FORAGER_POLITENESS_NO_DELAY_MAX_REQUESTS": str(IN_FLIGHT),
    "FORAGER_CRAWL_MAX_WAIT": "2",
    "FORAGER_FAILURES_UNREACHABLE_AFTER": "1",
    "FORAGER_FAILURES_BREAKER_RESET": "0.2",
}
"""A 429 that is not over in two seconds is not waited for, one page that cannot be had is enough, and breakers pause
for a moment only."""
FAILURES = 6
STATE = """SELECT status::text, block_reason_code, block_reason, blocked_returns, next_crawl_after - now() AS rests
           FROM domains WHERE name = $1"""
HISTORY = """SELECT h.from_status::text, h.to_status::text, h.reason_code FROM domain_history h
             JOIN domains d ON d.id = h.domain_id WHERE d.name = $1 ORDER BY h.id"""
COOL = "UPDATE domains SET next_crawl_after = now() - interval '1 second' WHERE name = $1 RETURNING status"


def state_of(forager: Forager, host: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = forager.ask(STATE, host)[0]
    return found


def history_of(forager: Forager, host: str) -> list[tuple[str, ...]]:
    return [tuple(row) for row in forager.ask(HISTORY, host)]


def assert_rests(forager: Forager, host: str, status: str, code: str, days: float) -> None:
    state = state_of(forager, host)
    assert (state["status"], state["block_reason_code"]) == (status, code), state["block_reason"]
    assert timedelta(days=days, minutes=-5) <= state["rests"] <= timedelta(days=days)
    assert history_of(forager, host)[-1][1:3] == (status, code)


def asked(web: Web, host: str) -> list[str]:
    return [visit.target for visit in web.visits() if visit.host == host]


def test_each_trouble_has_its_reason_and_its_cooldown(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("closed=60", "limited=30", "soon=30", "broken=30", "wall=60", "gate=60", "hidden")
    mortal = open_web("uniform=1x900")
    closed, limited, soon, broken, wall, gate, hidden = web.hosts
    named = [f"http://{host}/p/{page}" for host in (closed, limited, soon, broken) for page in range(1, 30)]
    with nobody_listening() as deaf:
        crawl = forager.start(*web.urls, *mortal.urls, f"http://{deaf}/", *named, **HASTY)
        mortal.wait_past(8)
        kill(mortal.running.process.pid)
        crawl.wait()
    assert "Traceback" not in crawl.said
    assert_rests(forager, closed, "blocked", "forbidden", 14)
    assert_rests(forager, limited, "blocked", "rate_limited", 7)
    assert_rests(forager, soon, "blocked", "rate_limited", 7)
    assert_rests(forager, broken, "blocked", "server_error", 7)
    assert_rests(forager, wall, "blocked", "login_required", 30)
    assert_rests(forager, gate, "blocked", "login_required", 30)
    assert_rests(forager, hidden, "blocked", "robots_denied", 90)
    dead = state_of(forager, mortal.hosts[0])
    assert (dead["status"], dead["block_reason_code"]) == ("unreachable", "connect_error")
    assert timedelta(minutes=3) < dead["rests"] <= timedelta(minutes=5), "the first time it rests for a moment only"
    silent = state_of(forager, deaf)
    assert (silent["status"], silent["block_reason_code"]) == ("unreachable", "robots_unreachable")
    assert silent["rests"] > timedelta(minutes=50)
    assert asked(web, hidden) == []
    assert len(asked(web, limited)) <= IN_FLIGHT
    for host in (closed, wall, gate):  # ten refusals are enough; what was open then is still answered
        assert len(asked(web, host)) < 30
    forager.check()


@contextmanager
def nobody_listening() -> Iterator[str]:
    """An address that is taken, so that nobody else gets it, and where connections are refused."""
    with socket.socket() as bound:
        bound.bind((HOST_BASE, 0))
        yield f"{HOST_BASE}:{bound.getsockname()[1]}"


def test_a_private_corner_is_no_wall(forager: Forager, open_web: OpenWeb) -> None:
    """Some 403, a login page that is linked, a refusal at the very end: an ordinary site."""
    web = open_web("club")
    forager.start(*web.urls, "-o", "out.jsonl", **UNPACED).finish()
    assert forager.pages() == web.key.expected_success()
    state = state_of(forager, web.hosts[0])
    assert (state["status"], state["block_reason_code"]) == ("exhausted", None), state["block_reason"]
    forager.check()


def test_a_long_retry_after_is_a_rest_and_no_block(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("later")
    crawl = forager.start(*web.urls, **UNPACED)
    assert crawl.wait() == FAILURES, crawl.said
    state = state_of(forager, web.hosts[0])
    assert (state["status"], state["block_reason_code"]) == ("active", None)
    assert timedelta(minutes=55) <= state["rests"] <= timedelta(hours=1)
    assert asked(web, web.hosts[0]) == ["/"]
    crawl = forager.start(*web.urls, **UNPACED)
    crawl.wait()
    assert asked(web, web.hosts[0]) == ["/"]
    forager.check()


def test_a_blocked_domain_comes_back_three_times(forager: Forager, open_web: OpenWeb) -> None:
    """A cooldown is kept, each return is counted; when it is blocked once more, only an operator lifts it."""
    web = open_web("closed")
    (host,) = web.hosts
    crawl_refused(forager, web, visits=1)
    assert_rests(forager, host, "blocked", "forbidden", 14)
    crawl_refused(forager, web, visits=1)  # asked for again in its cooldown: no request at all
    cool_down(forager, host, returns=1)
    forager.ask("UPDATE domains SET blocked_returns = 2 WHERE name = $1 RETURNING id", host)  # and once more since
    crawl_refused(forager, web, visits=2)
    assert_rests(forager, host, "blocked", "forbidden", 14)
    cool_down(forager, host, returns=3)
    crawl_refused(forager, web, visits=3)
    assert state_of(forager, host)["rests"] is None
    forager.do("schedule", "run", "cooldown", "--once")
    assert state_of(forager, host)["status"] == "blocked"
    there, back = ("active", "blocked", "forbidden"), ("blocked", "pending", "cooldown_over")
    moves = [move for move in history_of(forager, host) if move[1] != "active"]
    assert moves == [there, back, there, back, there]
    forager.do("domain", host, "reset", "--reason", "they have let us in")
    state = state_of(forager, host)
    assert (state["status"], state["blocked_returns"]) == ("pending", 0)
    forager.check()


def crawl_refused(forager: Forager, web: Web, *, visits: int) -> None:
    """It ends blocked, and the site has seen so many requests in all."""
    forager.start(*web.urls, **UNPACED).wait()
    assert state_of(forager, web.hosts[0])["status"] == "blocked"
    assert len(web.visits()) == visits


def cool_down(forager: Forager, host: str, *, returns: int) -> None:
    forager.ask(COOL, host)
    forager.do("schedule", "run", "cooldown", "--once")
    state = state_of(forager, host)
    assert (state["status"], state["blocked_returns"], state["rests"]) == ("pending", returns, None)
