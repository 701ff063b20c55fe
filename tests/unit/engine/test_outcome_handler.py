"""What follows from a visit that came back, without any request: another try, the end of its task, or a task given
back with the requests that were made for it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.builders import a_lane, a_success, a_target, an_order

from forager.engine.abandoned_tasks import AbandonedTasks
from forager.engine.outcome_handler import OutcomeHandler
from forager.engine.stop import StopRequest
from forager.engine.write_buffer import WriteBuffer
from forager.errors import ConnectionLostError, LeaseLostError, ProxyError, StoreUnavailableError, VisitError
from forager.records import Outcome, OutcomeKind

AT = datetime(2026, 1, 2, tzinfo=UTC)
LATER = AT + timedelta(seconds=5)


class Handled:
    def __init__(self, **config: Any) -> None:
        made = an_order(**config)
        self.buffer, self.abandoned, self.stop = WriteBuffer(made.buffer), AbandonedTasks(), StopRequest()
        longest_wait_s = made.pacing.longest_wait_s
        self.handler = OutcomeHandler(made.failures, longest_wait_s, self.buffer, self.abandoned, self.stop)
        self.queue = a_lane()

    def written(self) -> list[Outcome]:
        return self.buffer.take()[0]


def failed(error: VisitError, at: datetime = AT, **more: Any) -> Outcome:
    given: dict[str, Any] = {"requested_at": at, "pace_ms": 50, "waited_s": 0.1} | more
    return Outcome(a_target(), OutcomeKind.FAILED, error=error, **given)


def test_a_page_ends_its_task_and_is_to_be_recorded() -> None:
    handled = Handled()
    assert handled.handler.handle(handled.queue, a_success(a_target()))
    assert not handled.queue.is_quiet
    (outcome,) = handled.written()
    assert (outcome.kind, outcome.retry_in_s) == (OutcomeKind.SUCCESS, None)


def test_a_quick_retry_keeps_what_was_requested_and_the_smallest_delay() -> None:
    handled = Handled()
    assert not handled.handler.handle(handled.queue, failed(ConnectionLostError("gone")))
    assert not handled.handler.handle(handled.queue, failed(ConnectionLostError("gone"), LATER, pace_ms=20))
    assert handled.written() == []
    assert handled.handler.handle(handled.queue, a_success(a_target(), requested_at=LATER, pace_ms=30))
    (outcome,) = handled.written()
    assert (outcome.earlier_requests, outcome.pace_ms) == ((AT, LATER), 20)


def test_at_a_stop_nothing_is_retried_soon() -> None:
    handled = Handled()
    handled.stop.ask()
    assert handled.handler.handle(handled.queue, failed(ConnectionLostError("gone")))
    (outcome,) = handled.written()
    assert outcome.retry_in_s is not None


@pytest.mark.parametrize("error", [StoreUnavailableError("full"), ConnectionLostError("gone")])
def test_a_task_that_is_given_back_keeps_its_request(error: VisitError) -> None:
    """Something of ours was missing, or an operator called it off."""
    handled = Handled()
    handled.queue.cancel_target(1)
    assert not handled.handler.handle(handled.queue, failed(error))
    assert handled.written() == []
    ((queue, task),) = handled.abandoned.take()
    assert queue is handled.queue
    assert (task.task_id, tuple(task.requests)) == (1, (AT,))


def test_a_request_that_did_not_leave_for_its_lease_waits_in_the_queue() -> None:
    handled = Handled()
    assert not handled.handler.handle(handled.queue, failed(LeaseLostError("over")))
    assert [target.task_id for target in handled.queue.targets] == [1]


def test_a_visit_that_cannot_begin_again_ends_with_the_requests_made_for_it() -> None:
    handled = Handled()
    handled.handler.put_back(handled.queue, failed(ConnectionLostError("our network")))
    target = handled.queue.pop_target()
    handled.handler.fail(handled.queue, target, ProxyError("no proxy works"))
    (outcome,) = handled.written()
    assert (outcome.requested_at, outcome.earlier_requests, outcome.pace_ms) == (AT, (), 50)


def test_what_comes_back_for_a_lost_lease_is_dropped() -> None:
    handled = Handled()
    handled.queue.lose()
    handled.handler.handle(handled.queue, a_success(a_target()))
    handled.handler.requeue(handled.queue, failed(StoreUnavailableError("full")))
    assert (handled.written(), handled.abandoned.take()) == ([], [])
