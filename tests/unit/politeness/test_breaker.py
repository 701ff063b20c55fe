"""The breaker: five failures in a row open it, a minute later single requests are tried, two successes close it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.politeness.breaker import SUCCESSES_TO_CLOSE, Breaker, BreakerState

OPEN, CLOSED, HALF_OPEN = BreakerState.OPEN, BreakerState.CLOSED, BreakerState.HALF_OPEN


def a_breaker(*, failures: int = 0, now: float = 0.0) -> Breaker:
    breaker = Breaker(most_failures=5, reset_s=60.0)
    for _ in range(failures):
        breaker.fail(now)
    return breaker


def test_five_failures_in_a_row_open_it_and_four_do_not() -> None:
    assert a_breaker(failures=4).state is CLOSED
    breaker = a_breaker(failures=5, now=100.0)
    assert (breaker.state, breaker.opened_at) == (OPEN, 100.0)


def test_any_success_starts_the_count_anew() -> None:
    breaker = a_breaker(failures=4)
    breaker.succeed()
    for _ in range(4):
        breaker.fail(0.0)
    assert breaker.state is CLOSED


def test_open_means_no_request_for_a_minute() -> None:
    breaker = a_breaker(failures=5, now=100.0)
    assert not breaker.can_start(159.9, in_flight=0)
    assert (breaker.wait_s(110.0), breaker.half_opens_at) == (50.0, 160.0)
    assert breaker.can_start(160.0, in_flight=0)


def test_half_open_lets_single_requests_through() -> None:
    breaker = a_breaker(failures=5)
    breaker.start(60.0)
    assert breaker.state is HALF_OPEN
    assert not breaker.can_start(60.0, in_flight=1)
    assert breaker.can_start(60.0, in_flight=0)


def test_two_successes_close_it() -> None:
    breaker = a_breaker(failures=5)
    breaker.start(60.0)
    breaker.succeed()
    assert breaker.state is HALF_OPEN
    breaker.start(61.0)
    breaker.succeed()
    assert (breaker.state, breaker.failures) == (CLOSED, 0)
    assert breaker.can_start(61.0, in_flight=4)


@pytest.mark.parametrize("successes", range(SUCCESSES_TO_CLOSE))
def test_a_failure_while_half_open_opens_it_for_another_minute(successes: int) -> None:
    breaker = a_breaker(failures=5)
    breaker.start(60.0)
    for _ in range(successes):
        breaker.succeed()
    breaker.fail(70.0)
    assert (breaker.state, breaker.half_opens_at) == (OPEN, 130.0)
    breaker.start(130.0)
    breaker.succeed()
    assert breaker.state is HALF_OPEN  # the successes of before do not count


def test_what_left_before_it_opened_changes_nothing() -> None:
    breaker = a_breaker(failures=5, now=100.0)
    breaker.succeed()
    breaker.fail(120.0)
    assert (breaker.state, breaker.half_opens_at, breaker.failures) == (OPEN, 160.0, 5)


@pytest.mark.parametrize(
    ("state", "ago_s", "may"), [("open", 10.0, False), ("open", 60.0, True), ("half_open", 1.0, True)]
)
def test_a_successor_finds_it_as_it_was(state: str, ago_s: float, may: bool) -> None:
    breaker = a_breaker().resume(state, 5, 1000.0 - ago_s)
    assert breaker.can_start(1000.0, in_flight=0) is may
    assert not breaker.can_start(1000.0, in_flight=1)


def test_failures_before_a_hand_over_count() -> None:
    breaker = a_breaker().resume("closed", 4, 0.0)
    breaker.fail(7.0)
    assert breaker.state is OPEN


EVENTS = st.lists(st.tuples(st.sampled_from(["pass", "start", "good", "bad", "bad"]), st.integers(0, 40)), min_size=30)


@given(EVENTS)
def test_between_an_opening_and_the_next_start_lies_the_pause(events: list[tuple[str, int]]) -> None:
    now, in_flight, quiet_until = 0.0, 0, 0.0
    breaker = a_breaker()
    for event, seconds in events:
        was = breaker.state
        match event:
            case "pass":
                now += seconds
            case "start" if breaker.can_start(now, in_flight):
                assert now >= quiet_until
                breaker.start(now)
                assert breaker.state is not OPEN
                assert breaker.state is CLOSED or in_flight == 0
                in_flight += 1
            case "good" if in_flight:
                in_flight -= 1
                breaker.succeed()
            case "bad" if in_flight:
                in_flight -= 1
                breaker.fail(now)
        if breaker.state is OPEN and was is not OPEN:
            quiet_until = now + breaker.reset_s
