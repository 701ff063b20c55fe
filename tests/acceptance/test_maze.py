"""A site made to keep crawlers for ever: the crawl ends by itself, with the real pages; an operator may disagree."""

import json
from typing import Any

import pytest
from tests.acceptance.conftest import NETWORK, OpenWeb
from tests.acceptance.stage import Forager, Web, tell

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

UNPACED = {"FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK, "FORAGER_POLITENESS_NO_DELAY_MAX_REQUESTS": "4"}
BUDGET = 2000
"""Visits to a site of 200 real pages whose mazes have no end. What a worker has locked already when a trap is found is
still visited: up to 128 pages for each of six traps, on a site without pace."""


def test_the_crawl_ends_by_itself_with_the_real_pages(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("maze")
    assert forager.start(*web.urls, "-o", "out.jsonl", **UNPACED).wait() in {0, 15}, "mazes may end at the depth limit"
    real = forager.pages() & web.key.expected_success()
    tell(f"{len(real)} of {len(web.key.expected_success())} real pages, {web.count()} visits")
    assert len(real) >= 0.95 * len(web.key.expected_success())
    assert web.count() <= BUDGET
    assert web.repeated() == {}
    forager.check()
    compare_rules(forager, web)
    an_operator_may_release_a_trap(forager, web)


def compare_rules(forager: Forager, web: Web) -> None:
    """Each kind of maze was told by its own rule."""
    found = {(trap["rule"], trap["template"].removeprefix(web.urls[0])) for trap in traps_of(forager, web)}
    assert {
        ("session_id", ""),
        ("repeating_path", ""),
        ("growing_query", ""),
        ("calendar", "calendar/{n}/{n}/{n}"),
        ("nothing_new", "same/{id}"),
        ("nothing_new", "gone/{n}"),
        ("nothing_new", "p/{n}?visit"),
        ("nothing_new", "find?…"),
    } <= found
    assert ("nothing_new", "p/{n}") not in found


def an_operator_may_release_a_trap(forager: Forager, web: Web) -> None:
    host = web.hosts[0]
    trap = next(trap for trap in traps_of(forager, web) if trap["template"].endswith("/same/{id}"))
    assert f"left out by trap {trap['id']}, rule nothing_new" in forager.do("why", f"{web.urls[0]}same/0000000a")
    released = json.loads(forager.do("domain", host, "release", str(trap["id"]), "--json"))
    assert released["pages"] == trap["pages_left_out"] > 0
    forager.check()
    assert "would be taken" in forager.do("why", f"{web.urls[0]}same/0000000a")


def traps_of(forager: Forager, web: Web) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(forager.do("domain", web.hosts[0], "traps", "--json"))
    return [row for row in rows if row["found_at"]]
