"""The sliding window: never more than the limit in any minute, and never a wait that is too short."""

from hypothesis import given
from hypothesis import strategies as st

from forager.accounts.request_counter import WINDOW_S, RequestCounter, share_of

gaps = st.lists(st.integers(0, 30), min_size=1, max_size=120)


def let_through(limit: int, waits: list[int]) -> list[int]:
    """The seconds in which requests passed, asked for at these distances."""
    meter, second, passed = RequestCounter(), 1_000, []
    for gap in waits:
        second += gap
        if not meter.wait_s(second, limit):
            meter.take(second)
            passed.append(second)
    return passed


@given(st.integers(1, 12), gaps)
def test_no_minute_has_more_than_the_limit(limit: int, waits: list[int]) -> None:
    passed = let_through(limit, waits)
    for at in passed:
        assert sum(at - WINDOW_S <= other <= at for other in passed) <= limit


@given(st.integers(1, 12), gaps)
def test_whoever_waits_as_told_passes_and_not_a_second_earlier(limit: int, waits: list[int]) -> None:
    meter, second = RequestCounter(), 1_000
    for gap in waits:
        second += gap
        if wait := meter.wait_s(second, limit):
            assert 0 < wait <= WINDOW_S + 1
            assert meter.wait_s(second + wait, limit) == 0
            assert meter.wait_s(second + wait - 1, limit) > 0
        else:
            meter.take(second)


def test_below_the_limit_nobody_waits() -> None:
    assert let_through(10, [0] * 30) == [1_000] * 10


def test_refused_requests_do_not_count() -> None:
    passed = let_through(2, [0, 0, *[1] * 61])
    assert passed == [1_000, 1_000, 1_061]


def test_a_process_compares_after_a_twentieth_of_the_limit_at_least_one() -> None:
    assert [share_of(limit) for limit in (1, 10, 100, 500)] == [1, 1, 5, 25]
    meter = RequestCounter()
    assert not meter.needs_sync(100)
    for _ in range(5):
        meter.take(1)
    assert meter.needs_sync(100)
    assert meter.take_pending() == {1: 5}
    assert not meter.needs_sync(100)


def test_what_others_let_through_counts_too() -> None:
    meter = RequestCounter()
    meter.take(100)
    meter.take_pending()
    meter.learn({100: 1, 99: 8})
    assert (meter.count(100), meter.wait_s(100, 10), meter.wait_s(100, 9)) == (9, 0, 60)


def test_what_could_not_be_told_is_not_forgotten_and_not_counted_twice() -> None:
    meter = RequestCounter()
    meter.take(100)
    told = meter.take_pending()
    assert meter.count(100) == 1
    meter.restore_pending(told)
    assert meter.count(100) == 1
    assert meter.take_pending() == {100: 1}


def test_a_meter_is_forgotten_only_when_its_window_is_over() -> None:
    meter = RequestCounter()
    meter.take(100)
    assert not meter.is_idle(500)
    meter.take_pending()
    assert not meter.is_idle(160)
    assert meter.is_idle(161)


def test_what_others_forgot_is_not_forgotten_here() -> None:
    meter = RequestCounter()
    meter.learn({1_000: 5, 1_001: 2})
    meter.learn({1_001: 3, 1_002: 1})
    assert meter.count(1_002) == 9
    meter.learn({1_300: 1})
    assert meter.known == {1_300: 1}
