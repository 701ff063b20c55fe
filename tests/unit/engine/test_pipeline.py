"""The line for one page: one target in, exactly one outcome out, whatever happens."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.builders import HOME, a_fetched, a_reading, a_target
from tests.unit.engine.scripted import Answer, ScriptedClient, a_pipeline, visit

from forager import errors
from forager.engine.page_parser import InlineParser
from forager.engine.pipeline import admit
from forager.fetch.models import Fetched
from forager.frontier.models import DomainFailure, OutcomeKind, Past
from forager.parsing.models import ParseOptions, Reading
from forager.robots import rules as robots
from forager.storage.body_store import open_store


def client_that(*answers: Answer) -> ScriptedClient:
    return ScriptedClient({HOME: list(answers)})


async def test_a_page_is_read_and_its_links_selected() -> None:
    tools = a_pipeline(
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
    outcome = await visit(a_target(), a_pipeline(client_that(a_fetched(200, b"", content_type="image/png"))))
    assert (outcome.kind, outcome.reading, list(outcome.selection.links)) == (OutcomeKind.SUCCESS, None, [])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_a_link_of_the_same_depth(status: int) -> None:
    outcome = await visit(a_target(depth=3, redirects=2), a_pipeline(client_that(a_fetched(status, location="/new"))))
    assert (outcome.kind, outcome.status_code, outcome.reading) == (OutcomeKind.SUCCESS, status, None)
    (link,) = outcome.selection.links
    assert (link.url, link.depth, link.redirects, link.rel) == ("http://a.example/new", 3, 3, "redirect")


async def test_a_chain_of_redirects_ends() -> None:
    tools = a_pipeline(client_that(a_fetched(302, location="/new")), max_redirects=4)
    assert (await visit(a_target(redirects=3), tools)).error is None
    assert isinstance((await visit(a_target(redirects=4), tools)).error, errors.TooManyRedirectsError)


async def test_a_redirect_to_nowhere_is_a_bad_response() -> None:
    outcome = await visit(a_target(), a_pipeline(client_that(a_fetched(302))))
    assert (outcome.kind, outcome.status_code) == (OutcomeKind.FAILED, 302)
    assert isinstance(outcome.error, errors.BadResponseError)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(404, OutcomeKind.BLOCKED_4XX), (429, OutcomeKind.BLOCKED_4XX), (503, OutcomeKind.BLOCKED_5XX)],
)
async def test_a_status_that_brings_no_page_is_an_error_with_its_retry_after(status: int, kind: OutcomeKind) -> None:
    outcome = await visit(a_target(), a_pipeline(client_that(a_fetched(status, b"sorry", retry_after="7"))))
    assert (outcome.kind, outcome.status_code) == (kind, status)
    assert isinstance(outcome.error, errors.StatusError)
    assert outcome.error.retry_after_s == 7.0


@pytest.mark.parametrize("status", [206, 304, 600, 999])
async def test_a_status_that_means_nothing_to_us_is_a_bad_response(status: int) -> None:
    outcome = await visit(a_target(), a_pipeline(client_that(a_fetched(status))))
    assert (outcome.kind, outcome.status_code, outcome.retry_in_s) == (OutcomeKind.FAILED, status, None)
    assert isinstance(outcome.error, errors.BadResponseError)


@pytest.mark.parametrize("kind", [errors.DnsError, errors.VisitTimeoutError, errors.TooLargeError])
async def test_a_typed_error_becomes_an_outcome(kind: type[errors.VisitError]) -> None:
    outcome = await visit(a_target(), a_pipeline(client_that(kind("trouble"))))
    assert isinstance(outcome.error, kind)
    assert (outcome.status_code, outcome.stack) == (None, None)
    assert outcome.requested_at is not None


async def test_a_bug_is_an_outcome_too_and_blamed_on_us() -> None:
    def broken(_fetched: Fetched) -> Reading:
        raise ZeroDivisionError("oops")

    outcome = await visit(a_target(), a_pipeline(client_that(a_fetched(200, b"x")), read=broken))
    assert (outcome.kind, outcome.status_code) == (OutcomeKind.FAILED, 200)
    assert isinstance(outcome.error, errors.BrokenError)
    assert outcome.error.blame is errors.ErrorSource.US
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


@pytest.mark.parametrize(("policy", "kind"), [("signals", None), ("snapshot", "snapshot"), ("archive", "archive")])
async def test_a_body_is_packed_where_its_policy_keeps_it(tmp_path: Path, policy: str, kind: str | None) -> None:
    with open_store(tmp_path) as body_store:
        tools = replace(a_pipeline(client_that(a_fetched(200, b"<title>t</title>"))), body_store=body_store)
        outcome = await visit(a_target(), tools, content_policy=policy)
    assert outcome.kind is OutcomeKind.SUCCESS
    assert (outcome.stored.kind if outcome.stored else None) == kind
    assert outcome.body_ref is None, "it refers to nothing before it is stored"


async def test_a_policy_nobody_knows_is_our_fault_and_not_the_sites(tmp_path: Path) -> None:
    with open_store(tmp_path) as body_store:
        tools = replace(a_pipeline(client_that(a_fetched(200, b"<title>t</title>"))), body_store=body_store)
        outcome = await visit(a_target(), tools, content_policy="forever")
    assert isinstance(outcome.error, errors.BrokenError)
    assert "forever" in str(outcome.error)


# Visited again ------------------------------------------------------------------------------------------------------

BEFORE = Past('"1"', "yesterday", b"h" * 16, comparisons=3, changes=1, watched_s=60.0)


async def test_a_revisit_asks_whether_the_page_changed() -> None:
    client = client_that(a_fetched(304))
    outcome = await visit(a_target(past=BEFORE), a_pipeline(client))
    assert client.validators == [('"1"', "yesterday")]
    assert (outcome.kind, outcome.status_code, outcome.is_changed) == (OutcomeKind.SUCCESS, 304, False)
    assert (outcome.reading, list(outcome.selection.links)) == (None, [])


async def test_a_first_visit_asks_for_the_page() -> None:
    client = client_that(a_fetched(200, b"<html>"))
    outcome = await visit(a_target(), a_pipeline(client))
    assert client.validators == [(None, None)]
    assert outcome.is_changed is None


@pytest.mark.parametrize("past", [None, Past(None, None, b"h" * 16, 0, 0, 0.0)])
async def test_a_304_nobody_asked_for_is_a_bad_response(past: Past | None) -> None:
    outcome = await visit(a_target(past=past), a_pipeline(client_that(a_fetched(304))))
    assert isinstance(outcome.error, errors.BadResponseError)


@pytest.mark.parametrize(
    ("past", "content_hash", "expected"),
    [
        (BEFORE, b"h" * 16, False),
        (BEFORE, b"x" * 16, True),
        (BEFORE._replace(content_hash=None), b"x" * 16, None),
        (None, b"x" * 16, None),
    ],
)
async def test_changed_means_other_content(past: Past | None, content_hash: bytes, expected: bool | None) -> None:
    tools = a_pipeline(
        client_that(a_fetched(200, b"<html>")), read=lambda _fetched: a_reading(content_hash=content_hash)
    )
    assert (await visit(a_target(past=past), tools)).is_changed is expected


async def test_a_revisit_that_is_sent_elsewhere_compares_nothing() -> None:
    outcome = await visit(a_target(past=BEFORE), a_pipeline(client_that(a_fetched(302, location="/new"))))
    assert (outcome.kind, outcome.is_changed) == (OutcomeKind.SUCCESS, None)


# Walls --------------------------------------------------------------------------------------------------------------


async def test_a_redirect_to_a_login_is_trouble_and_one_elsewhere_is_not() -> None:
    for location, expected in (("/login?next=/", DomainFailure.LOGIN_REQUIRED), ("/new", None)):
        outcome = await visit(a_target(), a_pipeline(client_that(a_fetched(302, location=location))))
        assert (outcome.kind, outcome.trouble) == (OutcomeKind.SUCCESS, expected)


@pytest.mark.parametrize(("redirects", "expected"), [(1, DomainFailure.LOGIN_REQUIRED), (0, None)])
async def test_a_login_form_after_a_redirect_is_a_wall(redirects: int, expected: DomainFailure | None) -> None:
    """Where nobody sent us, a page that is long and has a login box is a page."""
    text = "Sign in to continue" if redirects else "word " * 400
    page = a_reading("/a", "/b", title="Sign in", text=text, has_password_form=True)
    tools = a_pipeline(client_that(a_fetched(200, b"<html>")), read=lambda _fetched: page)
    assert (await visit(a_target(redirects=redirects), tools)).trouble is expected


@pytest.mark.parametrize("location", ["file:///etc/passwd", "javascript:1", "http://[", "http://a.example:99999/"])
async def test_a_redirect_off_the_web_is_a_bad_response(location: str) -> None:
    outcome = await visit(a_target(), a_pipeline(client_that(a_fetched(302, location=location))))
    assert outcome.error is not None
    assert (outcome.error.code, outcome.status_code, len(outcome.selection.links)) == ("bad_response", 302, 0)


@pytest.mark.parametrize("location", ["", "/", "http://A.example:80/#top", "//a.example/?utm_source=x"])
async def test_a_redirect_to_itself_ends_at_once(location: str) -> None:
    outcome = await visit(a_target(), a_pipeline(client_that(a_fetched(302, location=location))))
    assert outcome.error is not None
    assert outcome.error.code == ("too_many_redirects" if location else "bad_response")


async def test_a_page_that_killed_a_worker_is_read_apart() -> None:
    apart: list[str] = []

    async def read_isolated(fetched: Fetched, _options: ParseOptions) -> Reading:
        apart.append(fetched.url)
        return a_reading("/next", title="Read apart")

    def never(_fetched: Fetched, _options: ParseOptions) -> Reading:
        raise AssertionError("not in this process")

    tools = replace(a_pipeline(client_that(a_fetched(200, b"x"))), parser=InlineParser(never, read_isolated))
    outcome = await visit(a_target(crashes=1), tools)
    assert outcome.reading is not None
    assert (outcome.reading.title, len(outcome.selection.links), apart) == ("Read apart", 1, [HOME])


async def test_a_page_that_kills_its_reader_again_is_quarantined() -> None:
    async def die(_fetched: Fetched, _options: ParseOptions) -> Reading:
        raise errors.ParserCrashError("the page killed its reader again")

    parser = InlineParser(lambda _fetched, _options: a_reading(), die)
    outcome = await visit(a_target(crashes=1), replace(a_pipeline(client_that(a_fetched(200, b"x"))), parser=parser))
    assert outcome.error is not None
    assert (outcome.kind, outcome.error.code, outcome.error.blame) == (OutcomeKind.FAILED, "parser_crash", "parser")
