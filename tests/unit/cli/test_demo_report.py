"""The demo's report compares; it does not flatter."""

from dataclasses import replace
from typing import Any

import pytest

from forager.cli.demo_report import STORIES, DemoReport, as_document, compare, describe_site
from forager_playground import DEMO_SITES, AnswerKey, Visit, make_answer_key


@pytest.fixture(scope="module")
def key() -> AnswerKey:
    return make_answer_key(port=8000, scale=0.3)


def perfect_pages(key: AnswerKey) -> list[dict[str, Any]]:
    return [
        {"url": url, "outcome": "success", "language": key.by_url[url].language}
        for url in sorted(key.expected_success())
    ]


def a_visit(url: str, started_s: float = 0.0) -> Visit:
    host, _, path = url.removeprefix("http://").partition("/")
    return Visit("site", host, f"/{path}", "GET", 200, started_s, started_s, 1, "Forager")


def of_site(report: DemoReport, name: str) -> Any:
    return next(site for site in report.sites if site.name == name)


def test_a_right_crawl_is_perfect(key: AnswerKey) -> None:
    log = [a_visit(url, float(number)) for number, url in enumerate(sorted(key.expected_visits()))]
    report = compare(key, perfect_pages(key), log, broken_promises=0)
    assert report.is_success
    assert report.found == report.expected == len(key.expected_success())
    assert report.requests == len(log)
    assert len(of_site(report, "blog").languages) == 10
    assert of_site(report, "flaky").came_back > 0
    assert of_site(report, "strict").forbidden > 0
    assert of_site(report, "strict").crawl_delay_s is not None
    assert "asked for never" in describe_site(of_site(report, "strict"))
    assert "came back" in describe_site(of_site(report, "flaky"))


def test_a_missing_page_is_named(key: AnswerKey) -> None:
    report = compare(key, perfect_pages(key)[1:], [], broken_promises=0)
    assert not report.is_success
    assert report.found == report.expected - 1
    assert "missed 1, such as /" in " ".join(describe_site(site) for site in report.sites)


def test_a_failed_page_is_not_found(key: AnswerKey) -> None:
    pages = perfect_pages(key)
    pages[0] |= {"outcome": "failed"}
    assert compare(key, pages, [], broken_promises=0).found == len(pages) - 1


def test_a_forbidden_request_is_seen(key: AnswerKey) -> None:
    report = compare(key, perfect_pages(key), [a_visit(sorted(key.forbidden())[0])], broken_promises=0)
    assert report.forbidden_requests == 1
    assert not report.is_success
    assert "asked for once" in " ".join(describe_site(site) for site in report.sites)


def test_a_broken_promise_spoils_it(key: AnswerKey) -> None:
    assert not compare(key, perfect_pages(key), [], broken_promises=1).is_success


def test_the_report_is_a_document(key: AnswerKey) -> None:
    document = as_document(compare(key, perfect_pages(key), [], broken_promises=0))
    assert document["is_perfect"] is True
    assert {site["name"] for site in document["sites"]} == set(DEMO_SITES)


def test_every_site_has_its_story() -> None:
    assert set(STORIES) == set(DEMO_SITES)


def test_a_site_without_stories_says_that_all_is_there(key: AnswerKey) -> None:
    site = compare(key, perfect_pages(key), [], broken_promises=0).sites[0]
    plain = replace(site, forbidden=0, came_back=0, trap_visits=0, languages=("en",), crawl_delay_s=None)
    assert describe_site(plain) == "all there"
