"""How a run ended, in one word."""

import pytest

from forager.runs.models import RunEnd
from forager.runs.report import end_of


@pytest.mark.parametrize(
    ("waiting", "was_stopped", "has_failed", "end"),
    [
        ({}, False, False, RunEnd.FINISHED),
        ({"retry_later": 1}, False, False, RunEnd.FINISHED),
        ({"too_deep": 2, "retry_later": 1}, False, False, RunEnd.LIMIT),
        ({"over_limit": 3}, False, False, RunEnd.LIMIT),
        ({"stopped": 3}, False, False, RunEnd.STOPPED),
        ({"stopped": 3}, True, False, RunEnd.STOPPED),
        ({}, True, True, RunEnd.STOPPED),
        ({"over_limit": 3}, False, True, RunEnd.FAILED),
    ],
)
def test_the_end_of_a_run(waiting: dict[str, int], was_stopped: bool, has_failed: bool, end: RunEnd) -> None:
    assert end_of(waiting, was_stopped=was_stopped, has_failed=has_failed) is end
