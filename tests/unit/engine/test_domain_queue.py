"""One leased domain in memory: what leaves next, when it is hungry, when it is over."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.builders import a_lane, a_target

from forager.domains.store import Release
from forager.engine.domain_queue import MOST_AHEAD, URGENT_AHEAD, DomainQueue
from forager.frontier.models import Outcome, OutcomeKind, Target


def targets(count: int) -> list[Target]:
    return [a_target(f"http://a.example/{number}", task=number) for number in range(1, count + 1)]


def a_release(queue: DomainQueue) -> Release:
    return Release(queue.lease, wait_s=0.0)


def test_targets_leave_in_the_order_they_came() -> None:
    queue = a_lane()
    queue.take(targets(3))
    assert [queue.next_target(0.0) for _ in range(4)] == [*targets(3), None]


def test_a_target_that_was_put_back_leaves_first() -> None:
    queue = a_lane()
    one, two = targets(2)
    queue.take([one, two])
    queue.put_back(queue.next_target(0.0) or two)
    assert queue.next_target(0.0) == one


def test_retries_leave_when_they_are_due_earliest_first_and_before_others() -> None:
    queue = a_lane()
    one, two, three, four = targets(4)
    queue.take([four])
    queue.delay(one, until=30.0)
    queue.delay(two, until=10.0)
    queue.delay(three, until=20.0)
    assert queue.next_target(5.0) == four
    assert queue.next_target(5.0) is None
    assert [queue.next_target(25.0), queue.next_target(25.0), queue.next_target(25.0)] == [two, three, None]
    assert queue.next_target(30.0) == one


def test_two_retries_of_the_same_moment_are_no_trouble() -> None:
    queue = a_lane()
    for target in targets(2):
        queue.delay(target, until=1.0)
    assert [queue.next_target(1.0), queue.next_target(1.0)] == targets(2)


def test_a_slow_lane_holds_few_targets_and_a_fast_one_many() -> None:
    assert a_lane(delay_s=60.0).wanted == 2
    assert a_lane(delay_s=1.0).wanted == 11
    assert a_lane(delay_s=0.001).wanted == MOST_AHEAD


def test_a_fast_lane_that_has_nothing_asks_for_little_first() -> None:
    """What it can visit twice over: the claim takes no longer than that, and more come while those are visited."""
    queue = a_lane(delay_s=0.0)
    few = queue.wanted
    assert few == 2 * queue.pace.max_in_flight
    queue.take(targets(few))
    assert queue.wanted == MOST_AHEAD
    assert queue.needs_refill


@pytest.mark.parametrize(("held", "needs_refill"), [(0, True), (5, True), (6, False)])
def test_a_lane_needs_refill_when_half_of_what_it_wants_is_gone(held: int, needs_refill: bool) -> None:
    queue = a_lane(delay_s=1.0)
    queue.take(targets(held))
    assert queue.needs_refill == needs_refill


def test_a_lane_does_not_ask_for_more_while_it_is_asking_or_when_nothing_is_left() -> None:
    queue = a_lane()
    queue.begin_refill()
    assert not queue.needs_refill
    assert not a_dry_lane().needs_refill
    queue = a_lane()
    queue.close(a_release(queue))
    assert not queue.needs_refill


def test_a_dry_lane_is_over_when_nothing_is_under_way() -> None:
    assert not a_lane().is_over
    assert a_dry_lane().is_over


@pytest.mark.parametrize(
    "under_way",
    [
        lambda queue: queue.add_unrecorded(),
        lambda queue: queue.begin_robots_fetch(),
        lambda queue: queue.begin_refill(),
        lambda queue: queue.start_visit(0.0),
        lambda queue: queue.take(targets(1)),
        lambda queue: queue.delay(targets(1)[0], until=9.0),
    ],
)
def test_a_dry_lane_is_not_over_while_something_is_under_way(under_way: Callable[[DomainQueue], None]) -> None:
    queue = a_dry_lane()
    under_way(queue)
    assert not queue.is_over


def a_dry_lane() -> DomainQueue:
    queue = a_lane()
    queue.begin_refill()
    queue.end_refill([], is_short=True)
    return queue


def test_a_closing_lane_starts_nothing_and_is_over_when_all_is_recorded() -> None:
    queue = a_lane()
    queue.take(targets(2))
    queue.delay(targets(3)[2], until=0.0)
    queue.add_unrecorded()
    queue.close(a_release(queue))
    assert queue.next_target(1.0) is None
    assert queue.next_wake_at() is None
    assert not queue.is_over
    queue.remove_unrecorded(1)
    assert queue.is_over


def test_a_lost_lane_starts_nothing() -> None:
    queue = a_lane()
    queue.take(targets(2))
    queue.delay(targets(3)[2], until=0.0)
    queue.lose()
    assert queue.next_target(1.0) is None
    assert not queue.needs_refill


def test_a_lane_wakes_for_its_pace_or_for_its_next_retry() -> None:
    queue = a_lane(delay_s=5.0, max_in_flight=1)
    assert queue.next_wake_at() is None
    queue.delay(targets(1)[0], until=3.0)
    assert queue.next_wake_at() == 3.0
    queue.pace.start(0.0)
    assert queue.next_wake_at() is None
    queue.pace.leave(0.0)
    assert queue.next_wake_at() is None
    queue.pace.finish()
    assert queue.next_wake_at() == 5.0
    queue.take(targets(2))
    assert queue.next_wake_at() == 5.0


# Budget -------------------------------------------------------------------------------------------------------------


def test_a_lane_takes_no_more_than_its_budget_and_is_then_over() -> None:
    queue = a_lane(budget=3)
    assert (queue.wanted, queue.needs_refill, queue.is_budget_exhausted) == (3, True, False)
    queue.take([a_target(task=1), a_target(task=2)])
    assert queue.wanted - len(queue.targets) == 1
    queue.take([a_target(task=3)])
    assert (queue.is_budget_exhausted, queue.needs_refill, queue.is_over) == (True, False, False)
    while queue.next_target(0.0):
        pass
    assert queue.is_over


def test_a_lane_without_a_budget_goes_on() -> None:
    queue = a_lane()
    queue.take([a_target(task=number) for number in range(500)])
    assert not queue.is_budget_exhausted


def test_urgent_targets_leave_before_those_that_wait() -> None:
    queue = a_lane()
    one, two, three, four = targets(4)
    queue.take([one])
    queue.take([urgent(two), urgent(three), four])
    assert queue.has_urgent
    assert [queue.next_target(0.0) for _ in range(4)] == [urgent(two), urgent(three), one, four]


def test_urgent_tasks_are_claimed_although_enough_waits_and_once_only() -> None:
    queue = a_lane(delay_s=1.0)
    queue.take(targets(20))
    due_at = datetime(2026, 1, 1, tzinfo=UTC)
    asked = [(queue.needs_refill, queue.expect_urgent(due_at)), (queue.needs_refill, queue.begin_refill())]
    assert asked == [(False, True), (True, URGENT_AHEAD)]
    queue.end_refill([], is_short=True)
    assert not queue.expect_urgent(due_at), "one that cannot be claimed is not asked for again and again"
    assert queue.expect_urgent(due_at + timedelta(seconds=1))


def test_what_was_urgent_is_so_until_its_outcome() -> None:
    queue = a_lane()
    target = urgent(targets(1)[0])
    queue.take([target])
    queue.next_target(0.0)
    assert queue.has_urgent
    queue.end_task(Outcome(target, OutcomeKind.SUCCESS))
    assert not queue.has_urgent


def urgent(target: Target) -> Target:
    return replace(target, is_urgent=True)
