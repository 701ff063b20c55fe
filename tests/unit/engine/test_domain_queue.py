"""One leased domain in memory: what leaves next, when it is hungry, when it is over."""

from collections.abc import Callable

import pytest
from tests.builders import a_lane, a_target

from forager.domains.store import Release
from forager.engine.domain_queue import MOST_AHEAD, Lane
from forager.records import Target


def targets(count: int) -> list[Target]:
    return [a_target(f"http://a.example/{number}", task=number) for number in range(1, count + 1)]


def a_release(lane: Lane) -> Release:
    return Release(lane.lease, wait_s=0.0)


def test_targets_leave_in_the_order_they_came() -> None:
    lane = a_lane()
    lane.take(targets(3))
    assert [lane.next_target(0.0) for _ in range(4)] == [*targets(3), None]


def test_a_target_that_was_put_back_leaves_first() -> None:
    lane = a_lane()
    one, two = targets(2)
    lane.take([one, two])
    lane.put_back(lane.next_target(0.0) or two)
    assert lane.next_target(0.0) == one


def test_retries_leave_when_they_are_due_earliest_first_and_before_others() -> None:
    lane = a_lane()
    one, two, three, four = targets(4)
    lane.take([four])
    lane.delay(one, until=30.0)
    lane.delay(two, until=10.0)
    lane.delay(three, until=20.0)
    assert lane.next_target(5.0) == four
    assert lane.next_target(5.0) is None
    assert [lane.next_target(25.0), lane.next_target(25.0), lane.next_target(25.0)] == [two, three, None]
    assert lane.next_target(30.0) == one


def test_two_retries_of_the_same_moment_are_no_trouble() -> None:
    lane = a_lane()
    for target in targets(2):
        lane.delay(target, until=1.0)
    assert [lane.next_target(1.0), lane.next_target(1.0)] == targets(2)


def test_a_slow_lane_holds_few_targets_and_a_fast_one_many() -> None:
    assert a_lane(delay_s=60.0).wanted == 2
    assert a_lane(delay_s=1.0).wanted == 11
    assert a_lane(delay_s=0.001).wanted == MOST_AHEAD


def test_a_fast_lane_that_has_nothing_asks_for_little_first() -> None:
    """What it can visit twice over: the claim takes no longer than that, and more come while those are visited."""
    lane = a_lane(delay_s=0.0)
    few = lane.wanted
    assert few == 2 * lane.pace.max_in_flight
    lane.take(targets(few))
    assert lane.wanted == MOST_AHEAD
    assert lane.is_hungry


@pytest.mark.parametrize(("held", "is_hungry"), [(0, True), (5, True), (6, False)])
def test_a_lane_is_hungry_when_half_of_what_it_wants_is_gone(held: int, is_hungry: bool) -> None:
    lane = a_lane(delay_s=1.0)
    lane.take(targets(held))
    assert lane.is_hungry == is_hungry


def test_a_lane_does_not_ask_for_more_while_it_is_asking_or_when_nothing_is_left() -> None:
    for state in ("is_refilling", "is_dry", "is_lost"):
        lane = a_lane()
        setattr(lane, state, True)
        assert not lane.is_hungry
    lane = a_lane()
    lane.close(a_release(lane))
    assert not lane.is_hungry


def test_a_dry_lane_is_over_when_nothing_is_under_way() -> None:
    assert not a_lane().is_over
    assert a_dry_lane().is_over


@pytest.mark.parametrize(
    "under_way",
    [
        lambda lane: setattr(lane, "unrecorded", 1),
        lambda lane: setattr(lane, "is_asking_robots", True),
        lambda lane: setattr(lane, "is_refilling", True),
        lambda lane: lane.pace.start(0.0),
        lambda lane: lane.take(targets(1)),
        lambda lane: lane.delay(targets(1)[0], until=9.0),
    ],
)
def test_a_dry_lane_is_not_over_while_something_is_under_way(under_way: Callable[[Lane], None]) -> None:
    lane = a_dry_lane()
    under_way(lane)
    assert not lane.is_over


def a_dry_lane() -> Lane:
    lane = a_lane()
    lane.is_dry = True
    return lane


def test_a_closing_lane_starts_nothing_and_is_over_when_all_is_recorded() -> None:
    lane = a_lane()
    lane.take(targets(2))
    lane.delay(targets(3)[2], until=0.0)
    lane.unrecorded = 1
    lane.close(a_release(lane))
    assert lane.next_target(1.0) is None
    assert lane.wakes_at() is None
    assert not lane.is_over
    lane.unrecorded = 0
    assert lane.is_over


def test_a_lost_lane_starts_nothing() -> None:
    lane = a_lane()
    lane.take(targets(2))
    lane.delay(targets(3)[2], until=0.0)
    lane.lose()
    assert lane.next_target(1.0) is None
    assert not lane.is_hungry


def test_a_lane_wakes_for_its_pace_or_for_its_next_retry() -> None:
    lane = a_lane(delay_s=5.0, max_in_flight=1)
    assert lane.wakes_at() is None
    lane.delay(targets(1)[0], until=3.0)
    assert lane.wakes_at() == 3.0
    lane.pace.start(0.0)
    assert lane.wakes_at() is None
    lane.pace.leave(0.0)
    assert lane.wakes_at() is None
    lane.pace.finish()
    assert lane.wakes_at() == 5.0
    lane.take(targets(2))
    assert lane.wakes_at() == 5.0


# Budget -------------------------------------------------------------------------------------------------------------


def test_a_lane_takes_no_more_than_its_budget_and_is_then_over() -> None:
    lane = a_lane(budget=3)
    assert (lane.wanted, lane.is_hungry, lane.is_spent) == (3, True, False)
    lane.take([a_target(task=1), a_target(task=2)])
    assert lane.wanted - len(lane.targets) == 1
    lane.take([a_target(task=3)])
    assert (lane.is_spent, lane.is_hungry, lane.is_over) == (True, False, False)
    while lane.next_target(0.0):
        pass
    assert lane.is_over


def test_a_lane_without_a_budget_goes_on() -> None:
    lane = a_lane()
    lane.take([a_target(task=number) for number in range(500)])
    assert not lane.is_spent
