"""A task that somebody pauses or cancels while a worker has it: where it is found, and at which step it ends."""

from collections.abc import Iterator

import pytest
from tests.builders import HOME, a_fetched, a_lane, a_reading, a_target
from tests.unit.engine.scripted import ScriptedClient, some_tools

from forager import clock
from forager.engine.pipeline import visit
from forager.engine.request_timing import RequestTiming
from forager.errors import CalledOffError
from forager.fetch.models import Fetched
from forager.parsing.models import Reading
from forager.politeness.pace import Throttle


def a_trip(answers: Iterator[bool]) -> RequestTiming:
    """Whether it may go on, asked step by step."""
    pace = Throttle(delay_s=0.0, max_in_flight=1, now=0.0)
    return RequestTiming(pace, clock.at, may_go_on=lambda: next(answers))


@pytest.mark.parametrize(("steps", "asked", "read"), [(0, 0, 0), (1, 1, 0), (2, 1, 1)])
async def test_a_visit_ends_before_its_request_after_its_answer_or_after_its_reading(
    steps: int, asked: int, read: int
) -> None:
    client = ScriptedClient({HOME: [a_fetched(200, b"<html>", content_type="text/html")]})
    readings: list[Fetched] = []

    def reader(fetched: Fetched) -> Reading:
        readings.append(fetched)
        return a_reading()

    trip = a_trip(iter([True] * steps + [False]))
    outcome = await visit(a_target(HOME), some_tools(client, read=reader), trip=trip)
    assert isinstance(outcome.error, CalledOffError)
    assert (len(client.urls), len(readings)) == (asked, read)
    assert (outcome.waited_s is not None) == bool(asked), "whether a request was made is known"


async def test_a_visit_nobody_calls_off_is_asked_at_three_steps() -> None:
    client = ScriptedClient({HOME: [a_fetched(200, b"<html>", content_type="text/html")]})
    answers = iter([True, True, True])
    outcome = await visit(a_target(HOME), some_tools(client, read=lambda _f: a_reading()), trip=a_trip(answers))
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
    queue.called_off.discard(2)
    assert queue.take([a_target(task=2)]) == []
