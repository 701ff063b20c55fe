"""How many leases a worker releases for urgent domains."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.engine.urgency import count_to_release


@pytest.mark.parametrize(
    ("waiting", "held", "leaving", "most", "released"),
    [(1, 1, 0, 1, 1), (1, 1, 1, 1, 0), (3, 8, 0, 10, 1), (3, 7, 0, 10, 0), (5, 2, 0, 2, 2), (0, 2, 0, 2, 0)],
)
def test_as_many_as_have_no_place(waiting: int, held: int, leaving: int, most: int, released: int) -> None:
    assert count_to_release(waiting, held=held, leaving=leaving, most=most) == released


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 200), st.integers(1, 200))
def test_never_more_than_wait_or_are_held(waiting: int, held: int, leaving: int, most: int) -> None:
    held, leaving = min(held, most), min(leaving, held, most)
    released = count_to_release(waiting, held=held, leaving=leaving, most=most)
    assert 0 <= released <= min(waiting, held)
