"""A limit that is nearly used up is spread evenly over the domains."""

from hypothesis import given
from hypothesis import strategies as st
from tests.builders import a_lease

from forager.engine.claims import split_grant

WANTS = st.lists(st.integers(0, 12), max_size=8)


@given(WANTS, st.integers(0, 60))
def test_nobody_gets_more_than_wanted_and_everybody_nearly_the_same(wants: list[int], granted: int) -> None:
    asked = [(a_lease(number), want) for number, want in enumerate(wants)]
    shared = split_grant(asked, granted)
    shares = [share for _, share in shared]
    assert [lease for lease, _ in shared] == [lease for lease, _ in asked]
    assert sum(shares) == min(granted, sum(wants))
    assert all(share <= want for share, want in zip(shares, wants, strict=True))
    unsated = [share for share, want in zip(shares, wants, strict=True) if share < want]
    assert max(unsated, default=0) - min(unsated, default=0) <= 1
    assert all(share <= min(unsated, default=share) + 1 for share in shares)
