"""The pace: whatever happens, two requests never leave closer together than the delay that was in force."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.politeness.throttle import LONGEST_RETRY_AFTER_S, MOST_EXTRA_S, LatencyTracker, Throttle, first_wait_s

# Whole numbers, so that sums are exact.
SECONDS = st.integers(0, 50).map(float)
SHORT = st.integers(0, 3).map(float)
KINDS = ["pass", "start", "leave", "pass", "start", "leave", "finish", "give_up_dialling", "hold", "slow_to"]
EVENTS = st.lists(st.tuples(st.sampled_from(KINDS), SHORT), min_size=30, max_size=60)


@pytest.mark.parametrize("first", range(0, 3000, 1000))
def test_requests_leave_at_their_distance(first: int) -> None:
    """However long they dial, and whether they leave or not. Plain chance: sixty events cost Hypothesis a hundred times
    what they cost Pace, and some mistakes show in one life of several hundred."""
    for number in range(first, first + 1000):
        chance = random.Random(number)
        delay_s, wait_s = float(chance.randint(0, 3)), float(chance.randint(0, 3))
        events = [(chance.choice(KINDS), float(chance.randint(0, 3))) for _ in range(60)]
        live_through(delay_s, wait_s, chance.randint(1, 3), events)


def live_through(delay_s: float, wait_s: float, most: int, events: list[tuple[str, float]]) -> None:
    now = 1000.0
    pace = Throttle(delay_s=delay_s, max_in_flight=most, now=now, wait_s=wait_s)
    silent_until, last_at = now + wait_s, None
    dialling: list[float] = []
    """The distance that was asked for when each of them was started."""
    for event, seconds in events:
        match event:
            case "pass":
                now += seconds
            case "hold":
                pace.hold(now, seconds)
                silent_until = max(silent_until, now + seconds)
            case "slow_to":
                pace.increase_delay(seconds)
                delay_s = max(delay_s, seconds)
            case "finish" if pace.in_flight > len(dialling):
                pace.finish()
            case "leave" if dialling:
                asked_s = dialling.pop(0)
                assert last_at is None or now - last_at >= asked_s
                pace.leave(now)
                last_at = now
            case "give_up_dialling" if dialling:
                pace.finish(has_left=False)
                dialling.pop(0)
            case "start" if pace.can_start(now):
                assert pace.in_flight < most
                assert now >= silent_until
                assert last_at is None or now - last_at >= delay_s
                assert not (dialling and pace.delay_s)
                pace.start(now)
                dialling.append(delay_s)


@given(delay_s=SECONDS, events=EVENTS)
def test_whoever_waits_as_told_may_start(delay_s: float, events: list[tuple[str, float]]) -> None:
    now = 0.0
    pace = Throttle(delay_s=delay_s, max_in_flight=1, now=now)
    for event, seconds in events:
        match event:
            case "hold":
                pace.hold(now, seconds)
            case "slow_to":
                pace.increase_delay(seconds)
            case "start":
                now += pace.wait_s(now)
                assert pace.can_start(now)
                pace.start(now)
                pace.leave(now)
                pace.finish()


def test_nobody_starts_while_another_dials() -> None:
    pace = Throttle(delay_s=1.0, max_in_flight=5, now=0.0)
    pace.start(0.0)
    assert not pace.can_start(3.0)
    pace.leave(3.0)
    assert not pace.can_start(3.9)
    assert pace.can_start(4.0)


def test_who_was_started_under_a_delay_is_waited_for_also_when_the_delay_is_gone() -> None:
    """Else the delay may be back when it leaves, and another beside it."""
    pace = Throttle(delay_s=0.0, max_in_flight=5, now=0.0, tempo=LatencyTracker(0.1, 0.04))
    assert pace.delay_s > 0
    pace.start(0.0)
    pace.note(0.1, is_good=True)
    assert pace.delay_s == 0.0
    assert not pace.can_start(1.0)
    pace.leave(1.0)
    assert pace.can_start(1.0)


def test_a_request_that_leaves_again_does_not_stand_for_another() -> None:
    pace = Throttle(delay_s=0.0, max_in_flight=5, now=0.0)
    pace.start(0.0)
    pace.start(0.0)
    pace.increase_delay(1.0)
    pace.leave(1.0)
    pace.leave(2.0, again=True)
    assert not pace.can_start(9.0)
    pace.leave(9.0)
    assert not pace.can_start(9.9)
    assert pace.can_start(10.0)


def test_a_request_that_never_left_counts_from_its_start() -> None:
    pace = Throttle(delay_s=5.0, max_in_flight=1, now=0.0)
    pace.start(0.0)
    pace.finish(has_left=False)
    assert not pace.can_start(4.9)
    assert pace.can_start(5.0)


def test_without_delay_only_the_cap_counts() -> None:
    pace = Throttle(delay_s=0.0, max_in_flight=2, now=0.0)
    pace.start(0.0)
    pace.start(0.0)
    assert not pace.can_start(0.0)
    assert pace.wait_s(0.0) == 0.0
    pace.finish()
    assert pace.can_start(0.0)


def test_a_delay_that_comes_late_counts_from_the_last_request() -> None:
    """robots.txt itself was asked for without delay, and says Crawl-delay."""
    pace = Throttle(delay_s=0.0, max_in_flight=5, now=0.0)
    pace.start(98.0)
    pace.leave(100.0)
    pace.increase_delay(10.0)
    assert not pace.can_start(109.0)
    assert pace.can_start(110.0)


def test_a_delay_never_becomes_shorter_than_what_was_asked_for() -> None:
    pace = Throttle(delay_s=5.0, max_in_flight=1, now=0.0)
    pace.increase_delay(1.0)
    assert pace.delay_s == 5.0


def test_nobody_can_silence_us_for_more_than_a_day_or_make_us_go_back() -> None:
    pace = Throttle(delay_s=1.0, max_in_flight=1, now=0.0)
    pace.hold(0.0, 1e9)
    assert pace.wait_s(0.0) == LONGEST_RETRY_AFTER_S
    pace.hold(0.0, -5.0)
    assert pace.wait_s(0.0) == LONGEST_RETRY_AFTER_S


# A server that slows down -------------------------------------------------------------------------------------------

ANSWERS = st.lists(st.tuples(st.floats(0.0, 120.0), st.booleans()), max_size=60)


def answered(seconds: float, times: int, tempo: LatencyTracker | None = None) -> LatencyTracker:
    tempo = tempo or LatencyTracker()
    for _ in range(times):
        tempo.note(seconds, is_good=True)
    return tempo


@given(base_s=SECONDS, answers=ANSWERS)
def test_the_delay_stays_between_what_was_asked_for_and_the_cap(
    base_s: float, answers: list[tuple[float, bool]]
) -> None:
    pace = Throttle(delay_s=base_s, max_in_flight=1, now=0.0, tempo=LatencyTracker())
    for seconds, is_good in answers:
        pace.note(seconds, is_good=is_good)
        assert base_s <= pace.delay_s <= base_s + MOST_EXTRA_S


@given(base_s=SECONDS, answers=ANSWERS)
def test_the_distance_to_the_last_request_is_never_less_than_was_in_force_when_it_left(
    base_s: float, answers: list[tuple[float, bool]]
) -> None:
    """What the history says of a request is a promise for the next one; and more slowness counts at once."""
    now = 0.0
    pace = Throttle(delay_s=base_s, max_in_flight=1, now=now, tempo=LatencyTracker())
    for seconds, is_good in answers:
        now += pace.wait_s(now)
        pace.start(now)
        pace.leave(now)
        promised_s, left_at = pace.delay_s, now
        now += seconds
        pace.finish()
        pace.note(seconds, is_good=is_good)
        assert pace.next_at - left_at >= max(promised_s, pace.delay_s) - 1e-6


def test_a_steady_server_is_asked_at_the_pace_that_was_asked_for() -> None:
    tempo = LatencyTracker()
    for number in range(200):
        tempo.note(0.2 + 0.1 * (number % 2), is_good=True)
        assert tempo.extra_s == 0.0


def test_a_server_that_slows_down_is_given_more_and_more_distance_up_to_the_cap() -> None:
    tempo = answered(0.2, 100)
    extras = [answered(5.0, 1, tempo).extra_s for _ in range(8)]
    assert extras[0] > 0
    assert all(later > earlier for earlier, later in pairwise(extras))
    assert answered(100.0, 20, tempo).extra_s == MOST_EXTRA_S


def test_when_it_recovers_so_does_the_pace() -> None:
    tempo = answered(5.0, 8, answered(0.2, 100))
    extras = [answered(0.2, 1, tempo).extra_s for _ in range(20)]
    assert all(later <= earlier for earlier, later in pairwise(extras))
    assert extras[0] > 1.0
    assert extras[-1] == 0.0


def test_a_server_that_stays_slow_is_a_slow_server() -> None:
    tempo = answered(2.0, 10, answered(0.2, 100))
    assert tempo.extra_s > 1.0
    assert answered(2.0, 200, tempo).extra_s == 0.0


def test_errors_that_come_fast_do_not_speed_us_up_and_slow_ones_count() -> None:
    tempo = answered(5.0, 8, answered(0.2, 100))
    before_s = tempo.extra_s
    for _ in range(50):
        tempo.note(0.01, is_good=False)
    assert tempo.extra_s == before_s
    tempo.note(30.0, is_good=False)
    assert tempo.extra_s > before_s


def test_a_successor_goes_on_where_its_predecessor_stopped() -> None:
    tempo = answered(5.0, 8, answered(0.2, 100))
    heir = LatencyTracker(tempo.normal_s, tempo.extra_s)
    assert abs(heir.extra_s - tempo.extra_s) < 1e-9
    assert answered(0.2, 20, heir).extra_s == 0.0


def test_without_a_tempo_slowness_changes_nothing() -> None:
    pace = Throttle(delay_s=1.0, max_in_flight=1, now=0.0)
    pace.note(0.1, is_good=True)
    pace.note(60.0, is_good=True)
    assert pace.delay_s == 1.0


def test_what_a_predecessor_counted_is_not_counted_twice() -> None:
    """A long Crawl-delay is part of the wait it wrote down; adding it at each claim would put the turn off for ever."""
    pace = Throttle(delay_s=1.0, max_in_flight=1, now=0.0, wait_s=10.0)
    pace.increase_delay(3600.0, counted_s=3600.0)
    assert (pace.wait_s(0.0), pace.delay_s) == (10.0, 3600.0)


def test_what_a_predecessor_did_not_count_is_added() -> None:
    pace = Throttle(delay_s=1.0, max_in_flight=1, now=0.0, wait_s=10.0)
    pace.increase_delay(3600.0, counted_s=60.0)
    assert pace.wait_s(0.0) == 10.0 + 3540.0


def test_the_first_request_falls_at_a_random_point_of_the_delay_among_many() -> None:
    rng = random.Random(1)
    waits = [first_wait_s(10.0, 1000, rng) for _ in range(1000)]
    assert 0 <= min(waits) < 1
    assert 9 < max(waits) <= 10
    assert 4.5 < sum(waits) / len(waits) < 5.5


def test_a_few_domains_start_at_once() -> None:
    assert {first_wait_s(10.0, opened, random.Random(1)) for opened in range(20)} == {0.0}
