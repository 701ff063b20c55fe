"""The demo web against its answer key: every page, depth, title and language, and nothing that must be left alone."""

from typing import Any

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import Forager, Web

from forager.engine.retry_policy import QUICK_TRIES
from forager_playground import forbidden_hits

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]

DEMO = ("shop", "blog", "docs", "gallery", "strict", "slow", "flaky", "trap")
OUTCOMES = {403: "blocked_4xx", 404: "blocked_4xx", 410: "blocked_4xx", 500: "blocked_5xx"}


def test_the_demo_web_is_brought_home_exactly(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web(*DEMO)
    crawl = forager.start(*web.urls, "--delay", "0.02", "--workers", "2", "-o", "out.jsonl")
    crawl.finish(15)  # pages of its trap lie deeper than the default goes
    rows = {row["url"]: row for row in forager.rows()}
    assert len(rows) == len(forager.rows())
    compare_pages(web, rows)
    compare_failures(web, rows)
    compare_redirects(web, rows, forager)
    compare_requests(web)
    compare_trap(web, rows, forager)
    forager.check()
    exported = forager.run("export", "pages", "--format", "jsonl", "-o", "all.jsonl")
    assert exported.returncode == 0, exported.stderr
    assert [row for row in forager.rows("all.jsonl") if row["outcome"] is not None] == forager.rows()


def compare_pages(web: Web, rows: dict[str, Any]) -> None:
    key = web.key
    found = {url for url, row in rows.items() if row["status_code"] == 200}
    assert {url for url in found if not key.is_trap(url)} == key.expected_success()
    shortcuts = {page.url for site in key.sites if site.traps for page in site.pages}  # a trap may lead back sooner
    for url in key.expected_success():
        row, page = rows[url], key.by_url[url]
        assert (row["outcome"], row["status"]) == ("success", "fetched")
        assert (url, row["depth"]) == (url, page.depth) or (url in shortcuts and row["depth"] <= page.depth)
        assert (url, row["title"]) == (url, page.title)
        if page.language is not None and page.declared_language == page.language:
            assert (url, row["language"]) == (url, page.language)


def compare_failures(web: Web, rows: dict[str, Any]) -> None:
    key = web.key
    failures = key.expected_failures()
    assert {url: row["status_code"] for url, row in rows.items() if (row["status_code"] or 0) >= 400} == failures
    for url, status in failures.items():
        assert rows[url]["outcome"] == OUTCOMES[status]
    refused = {url for url, row in rows.items() if row["outcome"] == "blocked_robots"}
    assert refused == key.forbidden()
    assert {rows[url]["error_code"] for url in refused} == {"robots_denied"}
    assert set(rows) - {url for url in rows if key.is_trap(url)} == key.expected_visits() | key.forbidden()


def compare_redirects(web: Web, rows: dict[str, Any], forager: Forager) -> None:
    ended = forager.run("export", "links", "--format", "jsonl", "-o", "links.jsonl")
    assert ended.returncode == 0, ended.stderr
    redirects = web.key.expected_redirects()
    led = {link["from_url"]: link["to_url"] for link in forager.rows("links.jsonl") if link["rel"] == "redirect"}
    assert led == redirects
    assert {url for url, row in rows.items() if 300 <= (row["status_code"] or 0) < 400} == set(redirects)


def compare_requests(web: Web) -> None:
    """Each page once; what fails at first once more for each failure; what stays broken until we give up."""
    key, visits = web.key, web.visits()
    assert forbidden_hits(visits, key) == []
    assert {visit.url for visit in visits} & key.must_not_fetch() == set()
    owed = {url: 1 + len(key.by_url[url].early_statuses) for url in key.expected_visits()}
    owed |= {url: 1 + QUICK_TRIES for url, status in key.expected_failures().items() if status >= 500}
    asked = web.requests()
    assert {url: number for url, number in asked.items() if not key.is_trap(url)} == owed
    assert {number for url, number in asked.items() if key.is_trap(url)} == {1}


def compare_trap(web: Web, rows: dict[str, Any], forager: Forager) -> None:
    """It has no end, but the crawl has: what is left there is deeper than the limit."""
    trap = next(site for site in web.key.sites if site.name == "trap")
    assert {page.url for page in trap.pages} <= set(rows)
    left = forager.ask("SELECT url, depth FROM pages WHERE status = 'discovered'")
    assert left
    assert all(trap.is_trap(row["url"]) and row["depth"] > 10 for row in left)
