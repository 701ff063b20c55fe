"""What each error means: outcome, another try now, another try later, silence for the domain."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import a_lease, a_success, a_target

from forager import errors
from forager.engine import retry_policy
from forager.engine.retry_policy import outcome_of, revisit_in_s
from forager.frontier.models import DomainFailure, Outcome, OutcomeKind, Past

RNG = random.Random(1)
CLASSES = [
    value
    for value in vars(errors).values()
    if isinstance(value, type) and issubclass(value, errors.VisitError) and value is not errors.StatusError
]
RETRIED = {
    errors.NetworkError,
    errors.DnsError,
    errors.ConnectError,
    errors.ConnectionLostError,
    errors.VisitTimeoutError,
    errors.ProxyError,
    errors.ExhaustedError,
}
STATUSES = [400, 401, 403, 404, 408, 410, 418, 425, 429, 451, 500, 502, 503, 504, 599]
RETRIED_STATUSES = {408, 425, 429, 500, 502, 503, 504, 599}
ERRORS = st.one_of(
    st.sampled_from(CLASSES).map(lambda kind: kind("trouble")),
    st.builds(errors.StatusError, st.integers(300, 599), st.none() | st.floats(0, 86400)),
)


@pytest.mark.parametrize("kind", CLASSES)
def test_an_error_is_tried_again_at_once_only_when_the_network_may_be_better_soon(
    kind: type[errors.VisitError],
) -> None:
    assert (retry_policy.quick_retry_s(kind("trouble"), 1, RNG) is not None) == (kind in RETRIED)


@pytest.mark.parametrize("kind", CLASSES)
def test_an_error_is_tried_again_later_only_when_that_could_help(kind: type[errors.VisitError]) -> None:
    expected = kind in RETRIED | {errors.RobotsUnreachableError} or kind.blame is errors.ErrorSource.US
    assert (retry_policy.later_retry_s(kind("trouble"), 0, max_retries=3) is not None) == expected


@pytest.mark.parametrize("kind", [kind for kind in CLASSES if kind.blame is errors.ErrorSource.US])
def test_our_own_fault_is_never_final(kind: type[errors.VisitError]) -> None:
    waits = [retry_policy.later_retry_s(kind("trouble"), tries, max_retries=0) for tries in range(100)]
    assert all(wait_s is not None and 60 <= wait_s < 86_400 for wait_s in waits)


@pytest.mark.parametrize("status", STATUSES)
def test_a_status_is_tried_again_when_it_means_not_now(status: int) -> None:
    error = errors.StatusError(status)
    assert (retry_policy.quick_retry_s(error, 1, RNG) is not None) == (status in RETRIED_STATUSES)
    assert (retry_policy.later_retry_s(error, 0, max_retries=3) is not None) == (status in RETRIED_STATUSES)


@pytest.mark.parametrize("kind", CLASSES)
def test_an_error_has_the_outcome_people_read(kind: type[errors.VisitError]) -> None:
    expected = {
        errors.RobotsDeniedError: OutcomeKind.BLOCKED_ROBOTS,
        errors.VisitTimeoutError: OutcomeKind.TIMEOUT,
        errors.ChallengeError: OutcomeKind.BLOCKED_4XX,
        errors.CaptchaError: OutcomeKind.BLOCKED_4XX,
        errors.ConsentWallError: OutcomeKind.BLOCKED_4XX,
    }.get(kind, OutcomeKind.FAILED)
    assert retry_policy.outcome_of(kind("trouble")) == expected


@pytest.mark.parametrize("status", STATUSES)
def test_a_status_has_the_outcome_of_its_class(status: int) -> None:
    expected = OutcomeKind.BLOCKED_4XX if status < 500 else OutcomeKind.BLOCKED_5XX
    assert retry_policy.outcome_of(errors.StatusError(status)) == expected


def test_a_challenge_has_a_failure_of_its_own() -> None:
    error = errors.ChallengeError("challenge: cloudflare", 503)
    assert retry_policy.outcome_of(error) == OutcomeKind.BLOCKED_5XX
    assert retry_policy.find_problem(error) == DomainFailure.CHALLENGE
    assert retry_policy.find_problem(error, is_file=True) is None
    assert retry_policy.quick_retry_s(error, 1, RNG) is None
    assert retry_policy.later_retry_s(error, 0, max_retries=3) is not None


@given(ERRORS, st.integers(1, 20), st.integers(1, 5))
def test_a_later_try_asks_once(error: errors.VisitError, tries: int, retry_count: int) -> None:
    if not isinstance(error, errors.TooManyRedirectsError):
        assert retry_policy.quick_retry_s(error, tries, RNG, retry_count=retry_count) is None


def test_a_site_that_asks_us_to_wait_is_asked_once_more() -> None:
    error = errors.StatusError(429, 10.0)
    assert retry_policy.quick_retry_s(error, 1, RNG) is not None
    assert retry_policy.quick_retry_s(error, 2, RNG) is None


@given(ERRORS, st.integers(1, 20))
def test_quick_tries_end(error: errors.VisitError, tries: int) -> None:
    wait_s = retry_policy.quick_retry_s(error, tries, RNG)
    if tries > retry_policy.QUICK_TRIES:
        assert wait_s is None
    elif wait_s is not None:
        assert 2 ** (tries - 1) <= wait_s <= 2 ** (tries - 1) + retry_policy.JITTER_S


@given(ERRORS, st.integers(0, 30), st.integers(0, 20))
def test_later_tries_end(error: errors.VisitError, retry_count: int, max_retries: int) -> None:
    wait_s = retry_policy.later_retry_s(error, retry_count, max_retries)
    if retry_count >= max_retries and error.blame is not errors.ErrorSource.US:
        assert wait_s is None
    elif wait_s is not None:
        assert wait_s >= 60.0


def test_later_tries_come_after_one_two_four_minutes() -> None:
    waits = [retry_policy.later_retry_s(errors.DnsError("x"), count, 4) for count in range(5)]
    assert waits == [60.0, 120.0, 240.0, 480.0, None]


@given(st.integers(0, 32_000))
def test_a_page_is_never_given_up_for_a_broken_proxy(retry_count: int) -> None:
    wait_s = retry_policy.later_retry_s(errors.ProxyError("x"), retry_count, max_retries=0)
    assert wait_s is not None
    assert 60.0 <= wait_s <= 3840.0


def test_a_broken_proxy_says_nothing_about_the_site() -> None:
    error = errors.ProxyError("x")
    assert (retry_policy.find_problem(error), retry_policy.is_failure(error), retry_policy.hold_s(error, 1)) == (
        None,
        None,
        0.0,
    )


def test_the_site_says_how_long_it_wants_silence() -> None:
    assert retry_policy.hold_s(errors.StatusError(429, 17.0), tries=3) == 17.0
    assert retry_policy.hold_s(errors.StatusError(503, 17.0), tries=1) == 17.0
    assert retry_policy.hold_s(errors.StatusError(429, 0.0), tries=1) == 0.0
    assert retry_policy.later_retry_s(errors.StatusError(429, 7200.0), 0, 3) == 7200.0


def test_without_a_time_silence_doubles_with_every_try() -> None:
    holds = [retry_policy.hold_s(errors.StatusError(429), tries) for tries in (1, 2, 3)]
    assert holds == [5.0, 10.0, 20.0]


@pytest.mark.parametrize("error", [errors.StatusError(503), errors.StatusError(404), errors.ConnectError("x")])
def test_other_trouble_does_not_silence_the_domain(error: errors.VisitError) -> None:
    assert retry_policy.hold_s(error, tries=1) == 0.0


@pytest.mark.parametrize(
    ("kind", "status_code", "expected"),
    [
        (OutcomeKind.SUCCESS, 301, "fetched"),
        (OutcomeKind.BLOCKED_4XX, 404, "gone"),
        (OutcomeKind.BLOCKED_4XX, 410, "gone"),
        (OutcomeKind.BLOCKED_4XX, 403, "blocked"),
        (OutcomeKind.BLOCKED_ROBOTS, None, "blocked"),
        (OutcomeKind.BLOCKED_5XX, 500, "failed"),
        (OutcomeKind.TIMEOUT, None, "failed"),
        (OutcomeKind.FAILED, None, "failed"),
        (OutcomeKind.CANCELLED, None, "discovered"),
    ],
)
def test_where_a_page_stands_after_a_visit(kind: OutcomeKind, status_code: int | None, expected: str) -> None:
    assert retry_policy.page_status(kind, status_code, has_retry=False) == expected
    assert retry_policy.page_status(kind, status_code, has_retry=True) == "queued"


# Visited again ------------------------------------------------------------------------------------------------------

DAY_S = 86400.0
DAILY = a_lease(revisit_every_s=DAY_S)


def test_a_page_recurs_as_its_domain_does_or_as_it_was_told_itself() -> None:
    assert revisit_in_s(a_success(a_target()), a_lease()) is None
    assert revisit_in_s(a_success(a_target()), DAILY) == DAY_S
    assert revisit_in_s(a_success(a_target(revisit_every_s=60.0)), DAILY) == 60.0
    assert revisit_in_s(a_success(a_target(revisit_every_s=60.0)), a_lease()) == 60.0


@pytest.mark.parametrize(("status", "expected"), [(404, None), (410, None), (403, DAY_S), (500, DAY_S)])
def test_a_page_that_is_gone_recurs_no_more(status: int, expected: float | None) -> None:
    error = errors.StatusError(status)
    assert revisit_in_s(Outcome(a_target(), outcome_of(error), status, error), DAILY) == expected


def test_a_retry_comes_before_the_next_visit() -> None:
    error = errors.StatusError(500)
    assert revisit_in_s(Outcome(a_target(), outcome_of(error), 500, error, retry_in_s=60.0), DAILY) is None


@pytest.mark.parametrize("kind", [errors.RobotsDeniedError, errors.NoHttpsError])
def test_what_robots_txt_forbids_or_only_http_serves_does_not_recur(kind: type[errors.VisitError]) -> None:
    error = kind("no")
    assert revisit_in_s(Outcome(a_target(), outcome_of(error), error=error), DAILY) is None


def test_an_adaptive_domain_looks_more_often_where_more_changes() -> None:
    lease = a_lease(revisit_every_s=DAY_S, revisit_price=3600.0)
    busy = a_target(past=Past(None, None, b"", comparisons=20, changes=18, watched_s=20 * DAY_S))
    idle = a_target(past=Past(None, None, b"", comparisons=20, changes=0, watched_s=20 * DAY_S))
    often = revisit_in_s(a_success(busy, is_changed=True), lease)
    seldom = revisit_in_s(a_success(idle, is_changed=False), lease)
    assert often is not None
    assert seldom is not None
    assert often < seldom
    assert revisit_in_s(a_success(a_target(revisit_every_s=60.0), is_changed=True), lease) == 60.0


def test_a_redirect_to_itself_with_a_new_cookie_is_tried_once_more() -> None:
    wall = errors.TooManyRedirectsError("it redirects to itself", has_new_cookie=True)
    assert retry_policy.quick_retry_s(wall, 1, RNG) == 0.0
    assert retry_policy.quick_retry_s(wall, 2, RNG) is None
    assert retry_policy.later_retry_s(wall, 0, 3) is None
