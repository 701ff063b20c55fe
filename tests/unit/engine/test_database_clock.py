"""The database's time between two looks."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager import clock
from forager.engine.database_clock import DatabaseClock

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> DatabaseClock:
    """It was noon when the monotonic clock showed 100."""
    monkeypatch.setattr(clock, "monotonic", lambda: 100.0)
    known = DatabaseClock()
    known.update(NOON, asked_at=100.0, answered_at=100.0)
    return known


def test_what_the_database_says_counts_not_this_machine(heard: DatabaseClock) -> None:
    assert heard.at(100.0) == NOON


def test_a_slow_answer_that_fits_changes_nothing(heard: DatabaseClock) -> None:
    heard.update(NOON + timedelta(seconds=10), asked_at=109.9, answered_at=110.3)
    assert heard.at(100.0) == NOON


def test_an_answer_that_does_not_fit_moves_it_as_little_as_it_must(heard: DatabaseClock) -> None:
    heard.update(NOON + timedelta(seconds=15), asked_at=110.0, answered_at=111.0)
    assert heard.at(100.0) == NOON + timedelta(seconds=4)
    heard.update(NOON + timedelta(seconds=20), asked_at=119.0, answered_at=121.0)
    assert heard.at(100.0) == NOON + timedelta(seconds=1)


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0, 5)), min_size=1, max_size=20))
def test_while_the_clocks_run_alike_it_never_goes_back(delays: list[tuple[float, float]]) -> None:
    """However slow the way there and the way back: two requests never seem nearer to each other than they were."""
    known, before = DatabaseClock(), None
    for index, (there_s, back_s) in enumerate(delays):
        said = NOON + timedelta(seconds=10 * index)
        known.update(said, asked_at=10.0 * index - there_s, answered_at=10.0 * index + back_s)
        ahead_s = known.at(0.0).timestamp()
        assert before is None or ahead_s >= before - 1e-3
        before = ahead_s
