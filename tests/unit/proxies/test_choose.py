"""Whose turn it is: none comes again before the others; who is off, spent, failing or elsewhere never comes."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.errors import (
    AddressBlockedError,
    BadResponseError,
    BrokenError,
    ConnectError,
    DnsError,
    ProxyError,
    RobotsDeniedError,
    StatusError,
    TlsError,
    VisitError,
    VisitTimeoutError,
)
from forager.proxies import rotation as choose
from forager.proxies.models import Proxy, ProxyResult
from forager.proxies.rotation import HOUR_S, MOST_FAILURES, MOST_FAILURES_TOGETHER, Member, ProxyState


def a_member(number: int = 1, **more: object) -> Member:
    names = {"country", "is_active", "failures", "hourly_cap", "hour_requests", "hour_ends_at", "unusable"}
    standing = {name: more.pop(f"proxy_{name}") for name in names if f"proxy_{name}" in more}
    return Member(ProxyState(Proxy(number, "http", "proxy.example", 3128), **standing), **more)  # type: ignore[arg-type]


def turns(
    members: list[Member], count: int, *, now: float = 0.0, step_s: float = 1.0, spacing_s: float = 0.0
) -> list[int]:
    """Numbers of those whose turn it was; 0 where it was nobody's."""
    chosen = []
    for turn in range(1, count + 1):
        member = choose.select_proxy(members, now, spacing_s=spacing_s)
        chosen.append(member.standing.proxy.id if member else 0)
        if member:
            choose.take(member, turn, now)
        now += step_s
    return chosen


def test_five_proxies_take_turns() -> None:
    members = [a_member(number) for number in range(1, 6)]
    assert turns(members, 12, step_s=HOUR_S) == [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2]


def test_turns_are_kept_when_no_time_passes() -> None:
    assert turns([a_member(number) for number in (1, 2, 3)], 7, step_s=0.0) == [1, 2, 3, 1, 2, 3, 1]


@given(st.lists(st.floats(-1e6, -1.0) | st.just(float("-inf")), min_size=1, max_size=12), st.integers(1, 60))
def test_none_comes_again_before_the_others_of_its_pool(before: list[float], count: int) -> None:
    members = [a_member(number, last_turn=last) for number, last in enumerate(before, 1)]
    chosen = turns(members, count, step_s=0.0)
    for start in range(0, count, len(members)):
        round_ = chosen[start : start + len(members)]
        assert len(set(round_)) == len(round_)
    often = [chosen.count(member.standing.proxy.id) for member in members]
    assert max(often) - min(often) <= 1


def test_who_was_unused_for_longest_comes_first_and_priority_decides_among_equals() -> None:
    used = a_member(1, last_turn=-10.0, priority=1)
    long_ago = a_member(2, last_turn=-99.0, priority=9)
    never, never_preferred = a_member(3, priority=5), a_member(4, priority=2)
    slow, fast = a_member(5, priority=5, average_ms=900.0), a_member(6, priority=5, average_ms=100.0)
    assert turns([used, long_ago, never, never_preferred, slow, fast], 6) == [4, 6, 5, 3, 2, 1]


@pytest.mark.parametrize(
    "state",
    [
        {"is_active": False},
        {"proxy_is_active": False},
        {"failures": MOST_FAILURES_TOGETHER},
        {"proxy_failures": MOST_FAILURES},
        {"proxy_unusable": "no key"},
        {"proxy_country": "US"},
        {"proxy_country": None},
    ],
)
def test_who_does_not_work_never_comes(state: dict[str, object]) -> None:
    off, on = a_member(1, **state), a_member(2, proxy_country="DE")
    assert choose.select_proxy([off, on], 0.0, country="DE") is on
    assert choose.wait_s([off], 0.0, country="DE") is None
    assert choose.select_proxy([off], 0.0, country="DE") is None


def test_a_failure_less_than_too_many_still_works() -> None:
    member = a_member(1, failures=MOST_FAILURES_TOGETHER - 1, proxy_failures=MOST_FAILURES - 1)
    assert choose.select_proxy([member], 0.0) is member


def test_a_spent_hour_is_waited_for_and_then_begins_anew() -> None:
    member = a_member(1, proxy_hourly_cap=2)
    assert turns([member], 3, now=1000.0) == [1, 1, 0]
    assert choose.wait_s([member], 1002.0) == HOUR_S - 2
    assert turns([member], 3, now=1000.0 + HOUR_S) == [1, 1, 0]


def test_a_cap_is_one_for_all_domains_of_a_proxy() -> None:
    here = a_member(1, proxy_hourly_cap=1)
    there = Member(here.standing)
    choose.take(here, 1, 0.0)
    assert choose.select_proxy([there], 0.0) is None


@given(st.integers(1, 5), st.integers(1, 6), st.integers(1, 60), st.integers(1, 1500))
def test_no_hour_has_more_requests_than_the_cap(proxies: int, cap: int, count: int, step_s: int) -> None:
    members = [a_member(number, proxy_hourly_cap=cap) for number in range(1, proxies + 1)]
    chosen = turns(members, count, step_s=step_s)
    for number in range(1, proxies + 1):
        moments = [index * step_s for index, one in enumerate(chosen) if one == number]
        began = -HOUR_S
        used = 0
        for moment in moments:
            if moment >= began + HOUR_S:
                began, used = moment, 0
            used += 1
            assert used <= cap


@given(st.integers(1, 5), st.integers(1, 40), st.integers(1, 10))
def test_each_proxy_keeps_its_own_pace(proxies: int, count: int, spacing_s: int) -> None:
    members = [a_member(number) for number in range(1, proxies + 1)]
    chosen = turns(members, count, spacing_s=spacing_s)
    for number in range(1, proxies + 1):
        moments = [index for index, one in enumerate(chosen) if one == number]
        assert all(later - earlier >= spacing_s for earlier, later in pairwise(moments))


def test_a_pace_of_its_own_counts_from_the_last_use_also_of_a_predecessor() -> None:
    member = a_member(1, used_at=95.0, last_turn=-5.0)
    assert choose.wait_s([member], 100.0, spacing_s=10.0) == 5.0
    assert choose.wait_s([member], 100.0) == 0.0


# What a visit teaches -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "passage"),
    [
        (None, ProxyResult.THROUGH),
        (StatusError(403), ProxyResult.THROUGH),
        (StatusError(429, 10.0), ProxyResult.THROUGH),
        (StatusError(503), ProxyResult.THROUGH),
        (BadResponseError("x"), ProxyResult.THROUGH),
        (ProxyError("x"), ProxyResult.BROKEN),
        (ConnectError("x"), ProxyResult.NOT_THROUGH),
        (VisitTimeoutError("x"), ProxyResult.NOT_THROUGH),
        (TlsError("x"), ProxyResult.NOT_THROUGH),
        (DnsError("x"), None),
        (AddressBlockedError("x"), None),
        (RobotsDeniedError("x"), None),
        (BrokenError("x"), None),
    ],
)
def test_what_a_visit_says_about_its_proxy(error: VisitError | None, passage: ProxyResult | None) -> None:
    assert choose.get_proxy_result(error) is passage


def test_a_broken_proxy_is_off_after_ten_failures_wherever_it_was_used() -> None:
    standing = ProxyState(Proxy(1, "http", "proxy.example", 3128))
    domains = [Member(standing) for _ in range(5)]
    for turn in range(MOST_FAILURES):
        assert choose.works(domains[turn % 5])
        choose.note(domains[turn % 5], ProxyResult.BROKEN)
    assert not any(choose.works(member) for member in domains)


def test_a_site_that_is_away_costs_the_pair_and_not_the_proxy() -> None:
    standing = ProxyState(Proxy(1, "http", "proxy.example", 3128))
    here, there = Member(standing), Member(standing)
    for _ in range(50):
        choose.note(here, ProxyResult.NOT_THROUGH)
    assert not choose.works(here)
    assert choose.works(there)
    choose.note(here, ProxyResult.THROUGH)
    assert choose.works(here)


def test_the_first_response_time_counts_in_full_and_later_ones_a_fifth() -> None:
    assert choose.average(None, 100) == 100.0
    assert choose.average(100.0, 200) == pytest.approx(120.0)


@given(st.lists(st.integers(1, 60_000), min_size=1))
def test_an_average_lies_between_the_smallest_and_the_largest(samples: list[int]) -> None:
    average = None
    for sample in samples:
        average = choose.average(average, sample)
    assert average is not None
    assert min(samples) - 1e-6 <= average <= max(samples) + 1e-6


def test_probes_wait_longer_each_time_and_never_for_ever() -> None:
    assert [choose.probe_wait_s(tries) for tries in (0, 1, 2)] == [300.0, 600.0, 1200.0]
    assert choose.probe_wait_s(1000) == 6 * HOUR_S


@pytest.mark.parametrize(
    ("pages", "per_proxy", "least", "most"),
    [(100, 20, 6, 6), (10, 20, 2, 3), (100, 20, 5, 7), (1000, 20, 50, 70), (0.1, 1000, 2, 2), (1000, 1000, 2, 2)],
)
def test_how_many_proxies_are_needed(pages: float, per_proxy: float, least: int, most: int) -> None:
    assert least <= choose.proxies_needed(pages, per_proxy) <= most


@given(st.floats(0.1, 1e6), st.floats(1, 1e5))
def test_what_is_needed_can_do_the_work(pages: float, per_proxy: float) -> None:
    assert choose.proxies_needed(pages, per_proxy) * per_proxy >= pages * 1.19


@pytest.mark.parametrize(
    ("members", "country", "words"),
    [
        ([], None, "its pool of proxies is empty"),
        ([a_member(1, is_active=False)], None, "its only proxy is switched off or failing"),
        ([a_member(1, failures=9), a_member(2, failures=9)], None, "all 2 proxies of its pool are switched off"),
        ([a_member(1, proxy_country="US")], "DE", "none of its 1 proxies is in DE"),
        ([a_member(1, proxy_unusable="no secret_key is set")], None, "no secret_key is set"),
    ],
)
def test_a_dead_pool_says_why(members: list[Member], country: str | None, words: str) -> None:
    assert words in choose.say_dead(members, country)
