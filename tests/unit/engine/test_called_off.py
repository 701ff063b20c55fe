"""A task that somebody pauses or cancels while a worker has it: where it is found, and at which step it ends."""

from collections.abc import Iterator

import pytest
from tests.builders import HOME, a_fetched, a_lane, a_reading, a_target
from tests.unit.engine.scripted import ScriptedClient, a_pipeline, visit

from forager.engine.database_clock import DatabaseClock
from forager.engine.request_timing import RequestTiming
from forager.errors import CalledOffError
from forager.fetch.models import Fetched
from forager.parsing.models import Reading
from forager.politeness.throttle import Throttle


class StepByStep(RequestTiming):
    """Is told at each step whether it is still wanted."""

    def __init__(self, answers: Iterator[bool]) -> None:
        super().__init__(Throttle(delay_s=0.0, max_in_flight=1, now=0.0), DatabaseClock())
        self.answers = answers

    def check_wanted(self) -> None:
        if not next(self.answers):
            raise CalledOffError("somebody paused or cancelled it")


@pytest.mark.parametrize(("steps", "asked", "read"), [(0, 0, 0), (1, 1, 0), (2, 1, 1)])
async def test_a_visit_ends_before_its_request_after_its_answer_or_after_its_reading(
    steps: int, asked: int, read: int
) -> None:
    client = ScriptedClient({HOME: [a_fetched(200, b"<html>", content_type="text/html")]})
    readings: list[Fetched] = []

    def reader(fetched: Fetched) -> Reading:
        readings.append(fetched)
        return a_reading()

    request = StepByStep(iter([True] * steps + [False]))
    outcome = await visit(a_target(HOME), a_pipeline(client, read=reader), request=request)
    assert isinstance(outcome.error, CalledOffError)
    assert (len(client.urls), len(readings)) == (asked, read)
    assert (outcome.waited_s is not None) == bool(asked), "whether a request was made is known"


async def test_a_visit_nobody_calls_off_is_asked_at_three_steps() -> None:
    client = ScriptedClient({HOME: [a_fetched(200, b"<html>", content_type="text/html")]})
    answers = iter([True, True, True])
    outcome = await visit(a_target(HOME), a_pipeline(client, read=lambda _f: a_reading()), request=StepByStep(answers))
    assert outcome.error is None
    assert list(answers) == []


def test_what_waits_in_a_lane_does_not_leave_any_more() -> None:
    queue = a_lane()
    queue.take([a_target(task=1), a_target(task=2), a_target(task=3)])
    assert queue.cancel_target(2)
    assert [target.task_id for target in queue.targets] == [1, 3]


def test_what_waits_for_another_try_does_not_leave_any_more() -> None:
    queue = a_lane()
    for task in (1, 2, 3):
        queue.delay(a_target(task=task), until=float(task))
    assert queue.cancel_target(1)
    assert queue.next_target(10.0) == a_target(task=2)
    assert queue.next_target(10.0) == a_target(task=3)
    assert queue.next_target(10.0) is None
    assert queue.is_quiet


def test_what_is_not_there_may_still_come_with_a_claim() -> None:
    queue = a_lane(budget=10)
    assert not queue.cancel_target(2)
    assert queue.take([a_target(task=1), a_target(task=2)]) == [2]
    assert [target.task_id for target in queue.targets] == [1]
    queue.remove_cancelled(2)
    assert queue.take([a_target(task=2)]) == []
