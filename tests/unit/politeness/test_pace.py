"""The pace: whatever happens, two requests never leave closer together than the delay."""

from hypothesis import given
from hypothesis import strategies as st

from forager.politeness.pace import LONGEST_RETRY_AFTER_S, Pace

# Whole numbers, so that sums are exact.
SECONDS = st.integers(0, 50).map(float)
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("pass"), SECONDS),
        st.tuples(st.just("start"), st.just(0.0)),
        st.tuples(st.just("finish"), st.just(0.0)),
        st.tuples(st.just("hold"), SECONDS),
        st.tuples(st.just("slow_to"), SECONDS),
    ),
    max_size=40,
)


@given(delay_s=SECONDS, wait_s=SECONDS, most=st.integers(1, 3), events=EVENTS)
def test_starts_keep_their_distance(delay_s: float, wait_s: float, most: int, events: list[tuple[str, float]]) -> None:
    now = 1000.0
    pace = Pace(delay_s=delay_s, max_in_flight=most, now=now, wait_s=wait_s)
    silent_until, last_start = now + wait_s, None
    for event, seconds in events:
        match event:
            case "pass":
                now += seconds
            case "hold":
                pace.hold(now, seconds)
                silent_until = max(silent_until, now + seconds)
            case "slow_to":
                pace.slow_to(seconds)
                delay_s = max(delay_s, seconds)
            case "finish" if pace.in_flight:
                pace.finish()
            case "start" if pace.may_start(now):
                assert pace.in_flight < most
                assert now >= silent_until
                assert last_start is None or now - last_start >= delay_s
                pace.start(now)
                last_start = now


@given(delay_s=SECONDS, events=EVENTS)
def test_whoever_waits_as_told_may_start(delay_s: float, events: list[tuple[str, float]]) -> None:
    now = 0.0
    pace = Pace(delay_s=delay_s, max_in_flight=1, now=now)
    for event, seconds in events:
        match event:
            case "hold":
                pace.hold(now, seconds)
            case "slow_to":
                pace.slow_to(seconds)
            case "start":
                now += pace.wait_s(now)
                assert pace.may_start(now)
                pace.start(now)
                pace.finish()


def test_without_delay_only_the_cap_counts() -> None:
    pace = Pace(delay_s=0.0, max_in_flight=2, now=0.0)
    pace.start(0.0)
    pace.start(0.0)
    assert not pace.may_start(0.0)
    assert pace.wait_s(0.0) == 0.0
    pace.finish()
    assert pace.may_start(0.0)


def test_a_delay_that_comes_late_counts_from_the_last_request() -> None:
    """robots.txt itself was asked for without delay, and says Crawl-delay."""
    pace = Pace(delay_s=0.0, max_in_flight=5, now=0.0)
    pace.start(100.0)
    pace.slow_to(10.0)
    assert not pace.may_start(109.0)
    assert pace.may_start(110.0)


def test_a_delay_never_becomes_shorter() -> None:
    pace = Pace(delay_s=5.0, max_in_flight=1, now=0.0)
    pace.slow_to(1.0)
    assert pace.delay_s == 5.0


def test_nobody_can_silence_us_for_more_than_a_day_or_make_us_go_back() -> None:
    pace = Pace(delay_s=1.0, max_in_flight=1, now=0.0)
    pace.hold(0.0, 1e9)
    assert pace.wait_s(0.0) == LONGEST_RETRY_AFTER_S
    pace.hold(0.0, -5.0)
    assert pace.wait_s(0.0) == LONGEST_RETRY_AFTER_S
