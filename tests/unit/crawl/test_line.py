"""The line for one page: one target in, exactly one outcome out, whatever happens."""

import pytest
from tests.builders import HOME, a_fetched, a_reading, a_target
from tests.unit.crawl.scripted import Answer, ScriptedClient, some_tools

from forager import errors
from forager.crawl.line import admit, visit
from forager.politeness import robots
from forager.records import Fetched, OutcomeKind, Reading


def client_that(*answers: Answer) -> ScriptedClient:
    return ScriptedClient({HOME: list(answers)})


async def test_a_page_is_read_and_its_links_selected() -> None:
    tools = some_tools(
        client_that(a_fetched(200, b"<html>", content_type="text/html", etag='"1"', last_modified="today")),
        read=lambda _fetched: a_reading("/x", "ftp://x"),
    )
    outcome = await visit(a_target(HOME, depth=2), tools)
    assert (outcome.kind, outcome.status_code, outcome.error) == (OutcomeKind.SUCCESS, 200, None)
    assert [(link.url, link.depth) for link in outcome.selection.links] == [("http://a.example/x", 3)]
    assert outcome.selection.dropped == {"bad_url": 1}
    assert (outcome.content_type, outcome.etag, outcome.last_modified) == ("text/html", '"1"', "today")
    assert outcome.requested_at is not None
    assert outcome.wire_bytes == len(b"<html>")


async def test_an_answer_without_a_body_is_a_success_without_a_reading() -> None:
    outcome = await visit(a_target(), some_tools(client_that(a_fetched(200, b"", content_type="image/png"))))
    assert (outcome.kind, outcome.reading, list(outcome.selection.links)) == (OutcomeKind.SUCCESS, None, [])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_a_link_of_the_same_depth(status: int) -> None:
    outcome = await visit(a_target(depth=3, redirects=2), some_tools(client_that(a_fetched(status, location="/new"))))
    assert (outcome.kind, outcome.status_code, outcome.reading) == (OutcomeKind.SUCCESS, status, None)
    (link,) = outcome.selection.links
    assert (link.url, link.depth, link.redirects, link.rel) == ("http://a.example/new", 3, 3, "redirect")


async def test_a_chain_of_redirects_ends() -> None:
    tools = some_tools(client_that(a_fetched(302, location="/new")), max_redirects=4)
    assert (await visit(a_target(redirects=3), tools)).error is None
    assert isinstance((await visit(a_target(redirects=4), tools)).error, errors.TooManyRedirectsError)


async def test_a_redirect_to_nowhere_is_a_bad_response() -> None:
    outcome = await visit(a_target(), some_tools(client_that(a_fetched(302))))
    assert (outcome.kind, outcome.status_code) == (OutcomeKind.FAILED, 302)
    assert isinstance(outcome.error, errors.BadResponseError)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(404, OutcomeKind.BLOCKED_4XX), (429, OutcomeKind.BLOCKED_4XX), (503, OutcomeKind.BLOCKED_5XX)],
)
async def test_a_status_that_brings_no_page_is_an_error_with_its_retry_after(status: int, kind: OutcomeKind) -> None:
    outcome = await visit(a_target(), some_tools(client_that(a_fetched(status, b"sorry", retry_after="7"))))
    assert (outcome.kind, outcome.status_code) == (kind, status)
    assert isinstance(outcome.error, errors.StatusError)
    assert outcome.error.retry_after_s == 7.0


@pytest.mark.parametrize("status", [304, 600, 999])
async def test_a_status_that_means_nothing_to_us_is_a_bad_response(status: int) -> None:
    outcome = await visit(a_target(), some_tools(client_that(a_fetched(status))))
    assert (outcome.kind, outcome.status_code, outcome.retry_in_s) == (OutcomeKind.FAILED, status, None)
    assert isinstance(outcome.error, errors.BadResponseError)


@pytest.mark.parametrize("kind", [errors.DnsError, errors.VisitTimeoutError, errors.TooLargeError])
async def test_a_typed_error_becomes_an_outcome(kind: type[errors.VisitError]) -> None:
    outcome = await visit(a_target(), some_tools(client_that(kind("trouble"))))
    assert isinstance(outcome.error, kind)
    assert (outcome.status_code, outcome.stack) == (None, None)
    assert outcome.requested_at is not None


async def test_a_bug_is_an_outcome_too_and_blamed_on_us() -> None:
    def broken(_fetched: Fetched) -> Reading:
        raise ZeroDivisionError("oops")

    outcome = await visit(a_target(), some_tools(client_that(a_fetched(200, b"x")), read=broken))
    assert (outcome.kind, outcome.status_code) == (OutcomeKind.FAILED, 200)
    assert isinstance(outcome.error, errors.BrokenError)
    assert outcome.error.blame is errors.Blame.US
    assert "ZeroDivisionError: oops" in str(outcome.error)
    assert "in broken" in (outcome.stack or "")


def test_robots_txt_is_asked_before_the_site() -> None:
    rules = robots.parse("User-agent: *\nDisallow: /private").rules_for("Forager")
    assert admit(a_target("http://a.example/open"), rules) is None
    refused = admit(a_target("http://a.example/private/x"), rules)
    assert refused is not None
    assert refused.kind is OutcomeKind.BLOCKED_ROBOTS
    assert "Disallow: /private" in str(refused.error)
    assert refused.requested_at is None


async def test_a_policy_that_does_not_exist_yet_is_our_fault_and_not_the_sites() -> None:
    outcome = await visit(a_target(), some_tools(client_that(a_fetched(200, b"<title>t</title>"))), "snapshot")
    assert isinstance(outcome.error, errors.BrokenError)
    assert "snapshot" in str(outcome.error)
