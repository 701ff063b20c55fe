"""What the commands about domains say, from what was found or done."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest

from forager.domains.commands.card import card_lines, move_of
from forager.domains.commands.domain import say_block, say_breaker_reset, say_reset, say_switch
from forager.domains.commands.domains import rebuild_message, say_claims, say_merged
from forager.domains.commands.set import say_configured
from forager.domains.repair import CorrectedValue
from forager.domains.service import Blocked, BreakerReset, Reset, Switched
from forager.domains.settings import Configured
from forager.domains.status import DomainStatus
from forager.explain.rebuild import Merged, RebuildResult

NOW = datetime(2026, 2, 5, 14, 30, tzinfo=UTC)
SHOP = "shop.example"


def a_card(**more: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        **dict.fromkeys(("lastmod_claims", "lastmod_truths"), 0),
        **dict.fromkeys(
            ("block_reason", "block_reason_code", "error_streak_code", "next_crawl_after", "crawl_delay_s")
        ),
        **dict.fromkeys(
            (
                "max_concurrent_requests",
                "next_allowed_at",
                "max_pages_per_run",
                "max_pages_per_template",
                "revisit_every_s",
            )
        ),
        **dict.fromkeys(
            ("revisits_per_day", "refresh_every_s", "maintenance_start", "maintenance_end", "window_ends_at")
        ),
        **dict.fromkeys(
            ("pages_discovered", "images_found", "images_stored", "total_error_count", "blocked_returns"), 0
        ),
        **dict.fromkeys(
            ("consecutive_error_count", "run_pages", "priority_score", "image_yield_rate", "avg_images_per_page"), 0
        ),
        **dict.fromkeys(("pace_extra_s", "breaker_failures"), 0),
        "breaker_state": "closed",
        **dict.fromkeys(("is_leased", "is_adaptive"), False),
        "name": SHOP,
        "status": "active",
        "is_active": True,
        "page_states": {},
        "score_explained": [],
        "urgency": 0,
        "priority_computed_at": NOW - timedelta(minutes=5),
        "revisits": {"pages": 0, "next_at": None},
        "changes": {"comparisons": 0, "changes": 0},
        "first_seen_at": NOW - timedelta(days=2),
        "last_crawled_at": NOW - timedelta(minutes=3),
        "origins": [],
        "outcomes": [],
        "history": [],
        "content_policy": "signals",
        "verifies_tls": True,
        "site_origin": None,
        "duplicate_pages": 0,
        "worker_label": "",
        "images_policy": None,
        "image_retention_s": None,
        "images_only": False,
        "stores_links": True,
        "allow_networks": None,
        "rendering": None,
        "history_retention_s": None,
        "parser_name": "auto",
    }
    return given | more


def shown(**more: Any) -> dict[str, str]:
    return dict(card_lines(a_card(**more), NOW))


def test_a_blocked_domain_says_why_and_until_when() -> None:
    in_a_week = NOW + timedelta(days=7)
    lines = shown(status="blocked", block_reason="it answered 429 5 times in a row", next_crawl_after=in_a_week)
    assert (lines["status"], lines["reason"]) == ("blocked, resumes in 7 d", "it answered 429 5 times in a row")
    assert shown(status="blocked", block_reason_code="robots_denied")["status"] == "blocked, until it is reset"
    assert shown(status="exhausted", next_crawl_after=in_a_week)["status"] == "exhausted, visited again in 7 d"
    assert "reason" not in shown()


def test_a_paused_domain_says_how_to_go_on() -> None:
    assert "switch" not in shown()
    assert shown(is_active=False)["switch"] == "paused: `forager domain shop.example resume` resumes it"


def test_the_score_with_its_terms() -> None:
    points = {"seed_rank": 857.1, "image_yield": 0.0, "new_pages": 300.0, "recent_errors": -12.4, "staleness": 0.2}
    terms = [{"name": name, "points": value, "explanation": f"about {name}"} for name, value in points.items()]
    assert shown(priority_score=1204.2, score_explained=terms)["score"] == (
        "1,204, computed 5 m ago; by now seed rank +857 (about seed_rank), new pages +300 (about new_pages),"
        " recent errors −12 (about recent_errors)"
    )
    assert shown(urgency=2)["score"].startswith("an urgent task is due; ")
    assert shown(priority_computed_at=None)["score"] == "not computed yet"


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        ({}, "once"),
        ({"revisit_every_s": 21_600.0}, "every 6 h"),
        (
            {"revisit_every_s": 21_600.0, "revisits": {"pages": 14, "next_at": NOW + timedelta(hours=2)}},
            "every 6 h, 14 visits planned, next in 2 h",
        ),
        ({"is_adaptive": True, "revisits_per_day": 500.0}, "adaptive, 500 a day"),
        ({"is_adaptive": True, "revisit_every_s": 3600.0}, "adaptive, every 1 h until more is known"),
        ({"refresh_every_s": 604_800.0}, "once, refreshed 7 d after its end"),
    ],
)
def test_how_often_it_is_visited(columns: dict[str, Any], line: str) -> None:
    assert shown(**columns)["again"] == line


def test_its_window_and_whether_it_is_shut() -> None:
    night = {"maintenance_start": time(22), "maintenance_end": time(6)}
    assert shown(**night)["window"] == "no visits from 22:00 to 06:00 UTC"
    assert shown(**night, window_ends_at=NOW + timedelta(hours=3))["window"].endswith(", shut now, opens in 3 h")


def test_trouble_budget_pace_and_changes() -> None:
    assert (
        shown(consecutive_error_count=3, error_streak_code="rate_limited", total_error_count=9, blocked_returns=1)[
            "errors"
        ]
        == "9 in all, 3 in a row (rate limited), came back from a block 1 time"
    )
    assert shown(max_pages_per_run=500, run_pages=20)["budget"] == "500 pages per run, 20 taken"
    assert shown(lastmod_claims=9, lastmod_truths=1)["lastmod"] == (
        "1 of 9 changes that sitemaps announced were true; not believed"
    )
    assert shown(max_pages_per_template=40)["budget"] == "40 pages per template"
    assert shown(worker_label="eu")["workers"] == "only those with the label eu"
    assert shown(crawl_delay_s=2.0, max_concurrent_requests=1)["pace"] == "2 s between requests, at most 1 at once"
    assert shown(changes={"comparisons": 40, "changes": 3})["changes"] == "3 of 40 visits found one"


def test_the_pace_of_a_slow_server_and_the_breaker() -> None:
    assert (
        shown(pace_delay_s=4.2, pace_extra_s=3.2)["pace"] == "the default delay, 4.2 s now because the server is slow"
    )
    assert "breaker" not in shown()
    assert shown(breaker_failures=2)["breaker"] == "closed, 2 failed requests in a row"
    opened = NOW - timedelta(seconds=20)
    assert shown(breaker_state="open", breaker_failures=5, breaker_opened_at=opened)["breaker"] == (
        "open, opened 20 s ago after 5 failed requests in a row"
    )
    assert shown(breaker_state="half_open", breaker_failures=5, breaker_opened_at=opened)["breaker"].startswith(
        "half-open, opened"
    )


@pytest.mark.parametrize(
    ("now", "then", "is_active", "words"),
    [
        ("blocked", "pending", True, "blocked → pending"),
        ("active", "active", True, "active"),
        ("active", "active", False, "active, paused"),
    ],
)
def test_moves(now: str, then: str, is_active: bool, words: str) -> None:
    assert move_of({"from_status": now, "to_status": then, "is_active": is_active}) == words


def test_a_reset_says_what_happens_next() -> None:
    exhausted = Reset(SHOP, DomainStatus.EXHAUSTED, DomainStatus.PENDING, True, 1, 98)
    assert say_reset(exhausted) == (
        "shop.example was exhausted and is pending now: 1 page that failed will be tried again, 98 pages will be"
        " visited again. A running crawl continues with it; `forager refresh shop.example` starts one."
    )
    files = Reset(SHOP, DomainStatus.ACTIVE, DomainStatus.ACTIVE, True, 1, 0, 2)
    assert "1 page that failed will be tried again, 2 failed sitemaps, feeds or images will be tried" in say_reset(
        files
    )
    paused = Reset(SHOP, DomainStatus.ACTIVE, DomainStatus.ACTIVE, False, 0, 0)
    assert say_reset(paused) == (
        "shop.example is active; nothing holds it back. It is paused: `forager domain shop.example resume` resumes it."
    )


def test_a_closed_breaker_says_what_it_was() -> None:
    assert say_breaker_reset(BreakerReset(SHOP, "closed", False)).endswith("its failures are forgotten.")
    assert say_breaker_reset(BreakerReset(SHOP, "half_open", True)) == (
        "The breaker of shop.example was half-open and is closed. Its worker hears of it with its next heartbeat."
    )


def test_a_switch_says_whether_it_was_turned() -> None:
    assert "lets go of it" in say_switch(Switched(SHOP, False, True, True))
    assert say_switch(Switched(SHOP, True, True, False)) == "shop.example is resumed."
    assert "nothing changed" in say_switch(Switched(SHOP, False, False, False))


def test_a_block_says_its_end() -> None:
    assert say_block(Blocked(SHOP, DomainStatus.ACTIVE, None, True)).startswith(
        "shop.example was active and is blocked until it is reset. Its lease was ended"
    )
    assert say_block(Blocked(SHOP, DomainStatus.PENDING, 30 * 86_400.0, False)).endswith("is blocked for 30 d.")


def test_what_was_set() -> None:
    changes = {"delay": "2s", "adaptive": False, "window": "22:00-06:00"}
    assert say_configured(Configured(SHOP, changes, planned=61)) == (
        "shop.example: delay 2s, adaptive off, window 22:00-06:00. 61 next visits planned."
    )
    assert say_configured(Configured(SHOP, {"revisit_every": None}, dropped=1)) == (
        "shop.example: revisit_every default. 1 planned visit removed."
    )


def test_a_domain_whose_certificate_is_not_verified_says_so() -> None:
    assert "certificate" not in shown()
    assert shown(verifies_tls=False)["certificate"] == "not verified: any certificate is accepted"


def test_repairs_say_what_they_did() -> None:
    assert rebuild_message(RebuildResult(domains=8)) == "8 domains recounted: nothing was wrong."
    wrong = [CorrectedValue(SHOP, "frontier_size", 3, 2), CorrectedValue(SHOP, "status", "exhausted", "active")]
    assert rebuild_message(RebuildResult(8, 1, wrong)) == (
        "8 domains recounted: 2 values of 1 domain put right. 1 domain being worked on left out."
    )
    assert "nothing to merge" in say_merged([], is_trial=False)
    both = [Merged(SHOP, (SHOP, "www.shop.example"))]
    assert say_merged(both, is_trial=True) == "2 names would become 1 domain; without --dry-run they do."
    assert say_merged(both, is_trial=False) == "2 names became 1 domain."


def test_claims_in_one_sentence() -> None:
    waiting = [{"status": "pending", "domains": 1200, "due": 3}]
    assert say_claims({"held": 2, "stuck": 1, "expired": 0, "waiting": waiting}) == (
        "2 domains held, 1 of them stuck; waiting: 1,200 pending (3 due)."
    )
    assert say_claims({"held": 0, "stuck": 0, "expired": 0, "waiting": []}) == "0 domains held; waiting: none."


def test_duplicates_and_the_origin_of_the_site() -> None:
    lines = shown(duplicate_pages=2, site_origin="https://www.shop.example")
    assert lines["duplicates"] == "2 pages with the content of another one, which is revisited instead"
    assert lines["site"] == "known as https://www.shop.example"
    assert {"duplicates", "site"}.isdisjoint(shown())
