"""What each error means: outcome, another try now, another try later, silence for the domain."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager import errors
from forager.crawl import judge
from forager.records import OutcomeKind

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
    assert (judge.quick_retry_s(kind("trouble"), 1, RNG) is not None) == (kind in RETRIED)


@pytest.mark.parametrize("kind", CLASSES)
def test_an_error_is_tried_again_later_only_when_that_could_help(kind: type[errors.VisitError]) -> None:
    expected = RETRIED | {errors.RobotsUnreachableError}
    assert (judge.later_retry_s(kind("trouble"), 0, max_retries=3) is not None) == (kind in expected)


@pytest.mark.parametrize("status", STATUSES)
def test_a_status_is_tried_again_when_it_means_not_now(status: int) -> None:
    error = errors.StatusError(status)
    assert (judge.quick_retry_s(error, 1, RNG) is not None) == (status in RETRIED_STATUSES)
    assert (judge.later_retry_s(error, 0, max_retries=3) is not None) == (status in RETRIED_STATUSES)


@pytest.mark.parametrize("kind", CLASSES)
def test_an_error_has_the_outcome_people_read(kind: type[errors.VisitError]) -> None:
    expected = {
        errors.RobotsDeniedError: OutcomeKind.BLOCKED_ROBOTS,
        errors.VisitTimeoutError: OutcomeKind.TIMEOUT,
    }.get(kind, OutcomeKind.FAILED)
    assert judge.outcome_of(kind("trouble")) == expected


@pytest.mark.parametrize("status", STATUSES)
def test_a_status_has_the_outcome_of_its_class(status: int) -> None:
    expected = OutcomeKind.BLOCKED_4XX if status < 500 else OutcomeKind.BLOCKED_5XX
    assert judge.outcome_of(errors.StatusError(status)) == expected


@given(ERRORS, st.integers(1, 20))
def test_quick_tries_end(error: errors.VisitError, tries: int) -> None:
    wait_s = judge.quick_retry_s(error, tries, RNG)
    if tries > judge.QUICK_TRIES:
        assert wait_s is None
    elif wait_s is not None:
        assert 2 ** (tries - 1) <= wait_s <= 2 ** (tries - 1) + judge.JITTER_S


@given(ERRORS, st.integers(0, 30), st.integers(0, 20))
def test_later_tries_end(error: errors.VisitError, retry_count: int, max_retries: int) -> None:
    wait_s = judge.later_retry_s(error, retry_count, max_retries)
    if retry_count >= max_retries:
        assert wait_s is None
    elif wait_s is not None:
        assert wait_s >= 60.0


def test_later_tries_come_after_one_two_four_minutes() -> None:
    waits = [judge.later_retry_s(errors.DnsError("x"), count, 4) for count in range(5)]
    assert waits == [60.0, 120.0, 240.0, 480.0, None]


def test_the_site_says_how_long_it_wants_silence() -> None:
    assert judge.hold_s(errors.StatusError(429, 17.0), tries=3) == 17.0
    assert judge.hold_s(errors.StatusError(503, 17.0), tries=1) == 17.0
    assert judge.hold_s(errors.StatusError(429, 0.0), tries=1) == 0.0
    assert judge.later_retry_s(errors.StatusError(429, 7200.0), 0, 3) == 7200.0


def test_without_a_time_silence_doubles_with_every_try() -> None:
    holds = [judge.hold_s(errors.StatusError(429), tries) for tries in (1, 2, 3)]
    assert holds == [5.0, 10.0, 20.0]


@pytest.mark.parametrize("error", [errors.StatusError(503), errors.StatusError(404), errors.ConnectError("x")])
def test_other_trouble_does_not_silence_the_domain(error: errors.VisitError) -> None:
    assert judge.hold_s(error, tries=1) == 0.0


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
    assert judge.page_status(kind, status_code, has_retry=False) == expected
    assert judge.page_status(kind, status_code, has_retry=True) == "queued"
