"""What a visit to an image means: for the image, and hardly ever for its domain."""

import pytest
from tests.builders import a_target

from forager.engine.failure_streak import build_streak
from forager.engine.retry_policy import find_problem, image_status, outcome_of
from forager.errors import (
    AddressBlockedError,
    ConnectError,
    RobotsDeniedError,
    StatusError,
    TooLargeError,
    VisitError,
)
from forager.frontier.models import DomainFailure, Outcome, OutcomeKind
from forager.images.models import ImageFile, ImageStatus
from forager.links.images import get_redirect_image
from forager.links.models import Selection

IMAGE = a_target("http://a.example/i.png", is_image=True)


def failed(error: VisitError, **more: float | None) -> Outcome:
    code = error.status_code if isinstance(error, StatusError) else None
    trouble = find_problem(error, is_file=True)
    return Outcome(IMAGE, outcome_of(error), code, error, trouble=trouble, retry_in_s=more.get("retry_in_s"))


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (StatusError(404), ImageStatus.GONE),
        (StatusError(410), ImageStatus.GONE),
        (StatusError(403), ImageStatus.BLOCKED),
        (RobotsDeniedError("no"), ImageStatus.BLOCKED),
        (AddressBlockedError("no"), ImageStatus.BLOCKED),
        (TooLargeError("10 GB"), ImageStatus.TOO_BIG),
        (ConnectError("nobody"), ImageStatus.FAILED),
        (StatusError(500), ImageStatus.FAILED),
    ],
)
def test_images_that_were_not_had(error: VisitError, status: ImageStatus) -> None:
    assert image_status(failed(error)) is status


def test_another_try_decides_nothing() -> None:
    assert image_status(failed(ConnectError("nobody"), retry_in_s=60.0)) is None


def test_an_answer_says_what_it_is() -> None:
    file = ImageFile(ImageStatus.NOT_AN_IMAGE, bytes(32), 10)
    assert image_status(Outcome(IMAGE, OutcomeKind.SUCCESS, 200, image=file)) is ImageStatus.NOT_AN_IMAGE
    assert image_status(Outcome(IMAGE, OutcomeKind.SUCCESS, 304)) is None
    moved = Selection(images=get_redirect_image("http://b.example/i.png"))
    assert image_status(Outcome(IMAGE, OutcomeKind.SUCCESS, 302, selection=moved)) is ImageStatus.MOVED


def test_refused_images_are_no_trouble_of_the_domain() -> None:
    assert [find_problem(StatusError(code), is_file=True) for code in (401, 403, 404, 451)] == [None] * 4
    assert find_problem(StatusError(403)) is DomainFailure.FORBIDDEN
    assert find_problem(StatusError(429), is_file=True) is DomainFailure.RATE_LIMITED
    assert find_problem(ConnectError("nobody"), is_file=True) is DomainFailure.UNREACHABLE


def test_images_neither_begin_nor_end_a_row_of_refusals() -> None:
    page = Outcome(a_target(), OutcomeKind.BLOCKED_4XX, 403, StatusError(403), trouble=DomainFailure.FORBIDDEN)
    good = Outcome(IMAGE, OutcomeKind.SUCCESS, 200)
    streak = build_streak([page, good, failed(StatusError(403)), page])
    assert (streak.code, streak.count, streak.is_new) == ("forbidden", 2, False)
