"""The tree of errors: every one that can end a visit says what it is and who is to blame, and the drawing is true."""

import pytest

from forager import errors
from forager.engine.retry_policy import find_problem, is_failure, outcome_of
from forager.errors import ErrorSource, ForagerError, UserError, VisitError
from forager.frontier.models import OutcomeKind


def descendants(kind: type[ForagerError]) -> list[type[ForagerError]]:
    return [kind, *(found for child in kind.__subclasses__() for found in descendants(child))]


ALL = [kind for kind in descendants(ForagerError) if kind.__module__ == errors.__name__]
VISITS = [kind for kind in ALL if issubclass(kind, VisitError)]


def one_of(kind: type[ForagerError]) -> VisitError:
    error = errors.StatusError(500) if kind is errors.StatusError else kind("trouble")
    assert isinstance(error, VisitError)
    return error


def test_every_error_of_a_visit_is_in_this_one_tree() -> None:
    assert set(descendants(VisitError)) == set(VISITS)
    assert len(VISITS) > 15


@pytest.mark.parametrize("kind", ALL)
def test_every_error_is_in_the_drawing(kind: type[ForagerError]) -> None:
    assert errors.__doc__ is not None
    assert kind.__name__ in errors.__doc__


@pytest.mark.parametrize("kind", VISITS)
def test_every_error_of_a_visit_has_a_code_of_its_own_and_somebody_to_blame(kind: type[VisitError]) -> None:
    assert "code" in vars(kind), "an inherited code would hide what happened"
    assert kind.code.replace("_", "").isalpha()
    assert kind.code.islower()
    assert isinstance(kind.blame, ErrorSource)


def test_one_code_has_one_blame() -> None:
    blames: dict[str, set[ErrorSource]] = {}
    for kind in VISITS:
        assert issubclass(kind, VisitError)
        blames.setdefault(kind.code, set()).add(kind.blame)
    assert {code for code, found in blames.items() if len(found) > 1} == set()


@pytest.mark.parametrize("kind", VISITS)
def test_what_is_our_fault_or_nobodys_never_counts_against_a_domain(kind: type[VisitError]) -> None:
    error = one_of(kind)
    if error.blame in {ErrorSource.US, ErrorSource.NOBODY, ErrorSource.PARSER}:
        assert find_problem(error) is None
        assert is_failure(error) is None


@pytest.mark.parametrize("kind", VISITS)
def test_every_error_ends_a_visit_as_something_else_than_a_success(kind: type[VisitError]) -> None:
    assert outcome_of(one_of(kind)) not in {OutcomeKind.SUCCESS, OutcomeKind.CANCELLED}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (errors.DnsError, True),
        (errors.ConnectError, True),
        (errors.ConnectionLostError, True),
        (errors.VisitTimeoutError, True),
        (errors.TooLargeError, False),
        (errors.BadResponseError, False),
        (errors.RobotsDeniedError, None),
        (errors.AddressBlockedError, None),
        (errors.LeaseLostError, None),
        (errors.ProxyError, None),
        (errors.BrokenError, None),
    ],
)
def test_what_the_breaker_counts(kind: type[VisitError], expected: bool | None) -> None:
    assert is_failure(one_of(kind)) is expected


@pytest.mark.parametrize("status", [400, 403, 404, 410, 429, 500, 502, 503, 599])
def test_to_the_breaker_an_answer_below_500_is_an_answer(status: int) -> None:
    assert is_failure(errors.StatusError(status)) is (status >= 500)


def test_every_error_a_person_meets_has_its_exit_code() -> None:
    """Kinds of one error share its code: a body that is gone is not found."""
    codes = [kind.exit_code for kind in ALL if issubclass(kind, UserError) and "exit_code" in vars(kind)]
    assert min(codes) >= 1
    assert len(codes) == len(set(codes))
