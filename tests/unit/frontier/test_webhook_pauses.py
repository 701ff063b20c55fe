"""When a call that nobody took is tried again."""

from hypothesis import given
from hypothesis import strategies as st

from forager.webhooks.store import FIRST_PAUSE_S, GIVEN_UP_AFTER_S, LONGEST_PAUSE_S, next_pause_s


def test_pauses_double_up_to_an_hour() -> None:
    assert [next_pause_s(tries, 0) for tries in (1, 2, 3, 9, 10, 1000)] == [10, 20, 40, 2560, 3600, 3600]


@given(st.integers(1, 10**6), st.floats(0, 10**6))
def test_a_call_is_given_up_when_it_is_a_day_old_and_not_before_its_last_hour(tries: int, age_s: float) -> None:
    pause_s = next_pause_s(tries, age_s)
    if pause_s is None:
        assert age_s > GIVEN_UP_AFTER_S - LONGEST_PAUSE_S
    else:
        assert FIRST_PAUSE_S <= pause_s <= LONGEST_PAUSE_S
        assert age_s + pause_s <= GIVEN_UP_AFTER_S


def test_a_call_that_is_never_taken_is_tried_some_thirty_times() -> None:
    age_s, tries = 0.0, 1
    while (pause_s := next_pause_s(tries, age_s)) is not None:
        age_s, tries = age_s + pause_s, tries + 1
    assert 25 < tries < 40
    assert GIVEN_UP_AFTER_S - LONGEST_PAUSE_S < age_s <= GIVEN_UP_AFTER_S
