"""Texts that are nearly the same share a quarter of their hash, and come together."""

from hypothesis import given
from hypothesis import strategies as st

from forager.search.near_duplicates import NEAR_BITS, distance, group, split_simhash

HASHES = st.integers(-(1 << 63), (1 << 63) - 1)


def flip(simhash: int, *bits: int) -> int:
    value = simhash & (1 << 64) - 1
    for bit in bits:
        value ^= 1 << bit
    return value - (1 << 64) if value >> 63 else value


@given(HASHES, st.sets(st.integers(0, 63), max_size=NEAR_BITS))
def test_whatever_is_near_shares_a_band(simhash: int, bits: set[int]) -> None:
    other = flip(simhash, *bits)
    assert distance(simhash, other) == len(bits)
    assert set(split_simhash(simhash)) & set(split_simhash(other))
    assert group({1: simhash, 2: other}) == {1: 1, 2: 1}


@given(HASHES)
def test_bands_fit_the_database_and_tell_their_place(simhash: int) -> None:
    assert [band >> 16 for band in split_simhash(simhash)] == [0, 1, 2, 3]
    assert all(0 <= band < 1 << 18 for band in split_simhash(simhash))


def test_the_first_leads_and_the_nearest_leader_is_followed() -> None:
    far = flip(0, *range(32))
    found = group({10: 0, 11: flip(0, 1), 12: far, 13: flip(far, 60), 14: flip(0, 1, 2, 3)})
    assert found == {10: 10, 11: 10, 12: 12, 13: 12, 14: 10}


def test_four_bits_are_too_far() -> None:
    assert group({1: 0, 2: flip(0, 0, 20, 40, 60)}) == {1: 1, 2: 2}
