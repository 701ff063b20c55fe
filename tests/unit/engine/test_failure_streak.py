"""Trouble in a row: what counts, what ends it, what says nothing."""

import pytest
from tests.builders import a_success, a_target

from forager import errors
from forager.engine.failure_streak import FailureStreak, build_streak
from forager.engine.retry_policy import find_problem, outcome_of
from forager.frontier.models import DomainFailure, Outcome


def a_failure(error: errors.VisitError) -> Outcome:
    return Outcome(a_target(), outcome_of(error), error=error, trouble=find_problem(error))


FORBIDDEN, MISSING = a_failure(errors.StatusError(403)), a_failure(errors.StatusError(404))
SLOW_DOWN, NOBODY = a_failure(errors.StatusError(429)), a_failure(errors.ConnectError("nobody is there"))
DENIED, BROKEN = a_failure(errors.RobotsDeniedError("no")), a_failure(errors.BrokenError("ours"))
GOOD = a_success(a_target())


@pytest.mark.parametrize(
    ("outcomes", "code", "count", "is_new"),
    [
        ([], None, 0, False),
        ([FORBIDDEN] * 3, "forbidden", 3, False),
        ([GOOD, FORBIDDEN, FORBIDDEN], "forbidden", 2, True),
        ([FORBIDDEN, GOOD], None, 0, True),
        ([FORBIDDEN, MISSING], None, 0, True),
        ([FORBIDDEN, DENIED, BROKEN, FORBIDDEN], "forbidden", 2, False),
        ([DENIED, BROKEN], None, 0, False),
        ([FORBIDDEN, SLOW_DOWN], "rate_limited", 1, True),
        ([NOBODY], "unreachable", 1, False),
        ([a_success(a_target(), trouble=DomainFailure.LOGIN_REQUIRED)] * 2, "login_required", 2, False),
    ],
)
def test_a_row_is_of_one_kind(outcomes: list[Outcome], code: str | None, count: int, is_new: bool) -> None:
    streak = build_streak(outcomes)
    assert (streak.code, streak.count, streak.is_new) == (code, count, is_new)


def test_a_row_goes_on_where_an_earlier_lease_left_it() -> None:
    streak = FailureStreak("forbidden", 8)
    streak.note(FORBIDDEN)
    assert (streak.count, streak.reason) == (9, "it answered 403 9 times in a row")


def test_who_does_not_answer_is_told_apart_by_how() -> None:
    streak = build_streak([NOBODY])
    assert (streak.reason_code, streak.reason) == ("connect_error", "it did not answer once: nobody is there")
    assert FailureStreak("unreachable", 4).reason_code == "unreachable"
    assert build_streak([FORBIDDEN]).reason_code == "forbidden"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (errors.StatusError(401), DomainFailure.LOGIN_REQUIRED),
        (errors.StatusError(407), DomainFailure.LOGIN_REQUIRED),
        (errors.StatusError(403), DomainFailure.FORBIDDEN),
        (errors.StatusError(451), DomainFailure.FORBIDDEN),
        (errors.StatusError(429), DomainFailure.RATE_LIMITED),
        (errors.StatusError(500), DomainFailure.SERVER_ERROR),
        (errors.StatusError(503, 9.0), DomainFailure.SERVER_ERROR),
        (errors.StatusError(404), None),
        (errors.StatusError(410), None),
        (errors.DnsError("no such name"), DomainFailure.UNREACHABLE),
        (errors.VisitTimeoutError("too slow"), DomainFailure.UNREACHABLE),
        (errors.ConnectionLostError("cut"), None),
        (errors.BadResponseError("what?"), None),
        (errors.AddressBlockedError("private"), None),
    ],
)
def test_what_an_error_says_about_its_domain(error: errors.VisitError, expected: DomainFailure | None) -> None:
    assert find_problem(error) == expected
