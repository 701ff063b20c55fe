"""The memory of known pages: it may forget, but never lies and never grows beyond its bound."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.frontier.url_cache import UrlCache, depth_of, page_id
from forager.frontier.url_set import DEEPEST, SEGMENTS, WAYS
from forager.urls.normalize import url_key

KEYS = st.integers(0, 20).map(lambda number: number.to_bytes(16, "big"))
ASKS = st.lists(
    st.tuples(st.sampled_from(["add", "get"]), KEYS, st.integers(1, 2**40), st.integers(0, 50)), max_size=80
)


def key(number: int) -> bytes:
    return number.to_bytes(16, "big")


def test_what_was_added_is_known() -> None:
    known = UrlCache(10)
    known.add(key(1), page=7, depth=3)
    packed = known.get(key(1))
    assert packed is not None
    assert (page_id(packed), depth_of(packed)) == (7, 3)
    assert known.get(key(2)) is None


def test_what_is_asked_for_outlives_what_is_not() -> None:
    known = UrlCache(3)
    known.add(key(1), 1, 0)
    for number in range(2, 20):
        known.add(key(number), number, 0)
        assert known.get(key(1)) is not None
    assert known.get(key(2)) is None


def test_a_depth_too_deep_to_pack_stays_the_deepest() -> None:
    known = UrlCache(3)
    known.add(key(1), page=5, depth=DEEPEST + 100)
    packed = known.get(key(1))
    assert packed is not None
    assert (page_id(packed), depth_of(packed)) == (5, DEEPEST)


def test_a_page_nobody_will_ever_have_is_not_remembered() -> None:
    known = UrlCache(3)
    known.add(key(1), page=2**62, depth=1)
    assert known.get(key(1)) is None


def test_it_holds_what_it_is_made_for() -> None:
    """Keys are hashes; a few of them find their bucket full before the whole is."""
    known = UrlCache(20_000)
    keys = [url_key(f"http://a.example/{number}") for number in range(20_000)]
    known.add_all((each, number + 1, 1) for number, each in enumerate(keys))
    found = [page_id(packed) for each in keys if (packed := known.get(each)) is not None]
    assert len(found) == len(known)
    assert len(found) > 20_000 * 0.8
    assert set(found) <= set(range(1, 20_001))


@pytest.mark.parametrize("size", [1, 16, 17, 50, 4000, 4097, 9000])
def test_it_never_holds_more_than_a_bucket_too_many(size: int) -> None:
    """Of a segment, where each has several of its own."""
    known = UrlCache(size)
    known.add_all((url_key(f"http://a.example/{number}"), number + 1, 1) for number in range(30_000))
    assert size * 0.6 <= len(known) <= size + WAYS * (SEGMENTS if size > SEGMENTS * WAYS else 1)


def test_what_is_half_full_forgets_next_to_nothing() -> None:
    known = UrlCache(100_000)
    keys = [url_key(f"http://a.example/{number}") for number in range(30_000)]
    known.add_all((each, number + 1, 1) for number, each in enumerate(keys))
    assert sum(known.get(each) is None for each in keys) < 30_000 * 0.02


@given(st.integers(1, 6), ASKS)
def test_it_never_lies_and_never_grows_beyond_its_bound(size: int, asks: list[tuple[str, bytes, int, int]]) -> None:
    known, truth = UrlCache(size), dict[bytes, tuple[int, int]]()
    for verb, which, page, depth in asks:
        if verb == "add":
            known.add(which, page, depth)
            truth[which] = (page, depth)
        packed = known.get(which)
        assert packed is None or (page_id(packed), depth_of(packed)) == truth[which]
        assert packed is not None or verb == "get"
        assert len(known) <= WAYS
