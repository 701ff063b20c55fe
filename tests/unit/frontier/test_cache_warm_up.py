"""A domain earns its known pages by links that were asked for in vain."""

from hypothesis import given
from hypothesis import strategies as st

from forager.frontier.cache_warm_up import EARNED, MOST_AT_ONCE, MOST_DOMAINS, PORTION, CacheWarmup, KeyRange
from forager.frontier.url_set import entry_of

ENOUGH = -(-PORTION // EARNED)


def entries(numbers: range) -> bytes:
    return b"".join(entry_of(number.to_bytes(16, "big"), number << 10) for number in numbers)


def test_a_few_links_earn_nothing_yet() -> None:
    catching_up = CacheWarmup()
    assert catching_up.note({7: ENOUGH - 1}) == []
    assert catching_up.note({8: 1}) == []
    assert catching_up.note({7: 1}) == [KeyRange(7, b"", ENOUGH * EARNED)]


def test_the_next_portion_begins_where_the_last_one_ended() -> None:
    catching_up = CacheWarmup()
    (first,) = catching_up.note({7: ENOUGH})
    catching_up.add_loaded(first, entries(range(1, first.most + 1)))
    assert catching_up.note({7: ENOUGH - 1}) == []
    (second,) = catching_up.note({7: 1})
    assert second == KeyRange(7, first.most.to_bytes(16, "big"), first.most)


def test_after_the_end_comes_the_beginning_once_all_of_it_is_earned_again() -> None:
    catching_up = CacheWarmup()
    for start in (0, 1000):
        (portion,) = catching_up.note({7: PORTION // EARNED})
        catching_up.add_loaded(portion, entries(range(start + 1, start + 1001)))
    (last,) = catching_up.note({7: PORTION // EARNED})
    catching_up.add_loaded(last, entries(range(2001, 2501)))
    assert catching_up.note({7: (2500 + PORTION) // EARNED - 1}) == []
    assert catching_up.note({7: 1}) == [KeyRange(7, b"", PORTION)]


def test_a_domain_without_pages_is_no_trouble() -> None:
    catching_up = CacheWarmup()
    (first,) = catching_up.note({7: ENOUGH})
    catching_up.add_loaded(first, b"")
    assert catching_up.note({7: 1}) == []


def test_what_was_not_fetched_stays_earned() -> None:
    catching_up = CacheWarmup()
    catching_up.note({7: ENOUGH})
    assert catching_up.note({7: 1}) == [KeyRange(7, b"", (ENOUGH + 1) * EARNED)]


@given(st.lists(st.dictionaries(st.integers(1, 50), st.integers(1, 5000), max_size=50), max_size=5))
def test_nobody_gets_more_than_was_earned_and_nothing_takes_long(batches: list[dict[int, int]]) -> None:
    catching_up, earned = CacheWarmup(), dict[int, int]()
    for found in batches:
        for domain, links in found.items():
            earned[domain] = earned.get(domain, 0) + links * EARNED
        portions = catching_up.note(found)
        assert sum(portion.most for portion in portions) <= MOST_AT_ONCE
        for portion in portions:
            assert PORTION <= portion.most <= earned[portion.domain_id]
            earned[portion.domain_id] -= portion.most
            catching_up.add_loaded(portion, b"")


def test_it_does_not_remember_domains_without_end() -> None:
    catching_up = CacheWarmup()
    catching_up.note({0: ENOUGH - 1})
    catching_up.note(dict.fromkeys(range(1, MOST_DOMAINS + 1), 1))
    assert catching_up.note({0: 1}) == []
