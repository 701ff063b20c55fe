"""When a sitemap or feed is read again: by what it says at first, then by what was observed, always within bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.frontier.models import Past
from forager.frontier.sitemap_revisit import next_read_s
from forager.parsing.models import Listing

HOUR_S, DAY_S, WEEK_S = 3600.0, 86_400.0, 604_800.0


def after(listing: Listing | None, past: Past | None = None, *, is_changed: bool | None = None) -> float:
    return next_read_s(listing, past, is_changed=is_changed, shortest_s=HOUR_S, longest_s=WEEK_S)


def seen(comparisons: int, changes: int, watched_s: float, since_s: float = DAY_S) -> Past:
    return Past(None, None, None, comparisons, changes, watched_s, since_s)


@pytest.mark.parametrize(
    ("listing", "expected_s"),
    [
        (Listing("sitemap"), DAY_S),
        (Listing("rss"), 6 * HOUR_S),
        (Listing("sitemap", WEEK_S), WEEK_S),
        (Listing("sitemap", 30 * DAY_S), WEEK_S),
        (Listing("sitemap", 60.0), HOUR_S),
        (Listing("atom", WEEK_S), DAY_S),
    ],
)
def test_the_first_time_it_is_as_it_says(listing: Listing, expected_s: float) -> None:
    assert after(listing) == expected_s


def test_one_that_changes_each_time_is_read_more_and_more_often() -> None:
    first = after(Listing("sitemap"), seen(0, 0, 0.0), is_changed=True)
    second = after(Listing("sitemap"), seen(1, 1, DAY_S, first), is_changed=True)
    assert DAY_S > first > second >= HOUR_S


def test_one_that_never_changes_is_read_less_and_less_often() -> None:
    assert DAY_S < after(None, seen(0, 0, 0.0), is_changed=False) < after(None, seen(3, 0, 3 * DAY_S), is_changed=False)
    assert after(None, seen(50, 0, 50 * DAY_S), is_changed=False) == WEEK_S


@given(
    st.sampled_from(["sitemap", "index", "text", "rss", "atom", "json"]),
    st.none() | st.floats(0, 1e12),
    st.integers(0, 10_000),
    st.floats(0, 1e12),
    st.booleans() | st.none(),
)
def test_it_stays_within_its_bounds(
    kind: str, said_s: float | None, visits: int, watched_s: float, is_changed: bool | None
) -> None:
    past = seen(visits, visits // 2, watched_s)
    assert HOUR_S <= after(Listing(kind, said_s), past, is_changed=is_changed) <= WEEK_S
