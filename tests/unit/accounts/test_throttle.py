"""Waits after wrong passwords: they grow, they end, and a stranger cannot keep somebody out."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.accounts.throttle import LONGEST_WAIT_S, Record, check_attempt, subjects_of, wait_after

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
WHO = subjects_of(7, "192.0.2.7")


def test_five_are_free_then_the_wait_doubles_to_a_quarter_of_an_hour() -> None:
    assert [wait_after(n) for n in range(12)] == [0, 0, 0, 0, 0, 30, 60, 120, 240, 480, 900, 900]


@given(st.integers(0, 10**9))
def test_no_wait_is_longer_than_a_quarter_of_an_hour(failures: int) -> None:
    assert 0 <= wait_after(failures) <= LONGEST_WAIT_S
    assert wait_after(failures) <= wait_after(failures + 1)


def test_an_account_is_no_name_that_somebody_has() -> None:
    assert subjects_of("7", "192.0.2.7").account != WHO.account


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("192.0.2.7", "192.0.2.8", False),
    ],
)
def test_addresses_of_one_household_are_one(one: str, other: str, is_same: bool) -> None:
    assert (subjects_of(7, one).address == subjects_of(7, other).address) is is_same
    assert (subjects_of(7, one).pair == subjects_of(7, other).pair) is is_same


def test_a_stranger_counts_against_account_and_address() -> None:
    verdict = check_attempt(WHO, {}, NOW)
    assert verdict.counts == {WHO.account: (1, None), WHO.address: (1, None)}


def test_the_fifth_failure_makes_the_sixth_wait() -> None:
    verdict = check_attempt(WHO, {WHO.account: Record(4, NOW)}, NOW)
    assert verdict.counts[WHO.account] == (5, NOW + timedelta(seconds=30))
    waiting = Record(5, NOW, NOW + timedelta(seconds=30))
    for subject in (WHO.account, WHO.address):
        refused = check_attempt(WHO, {subject: waiting}, NOW + timedelta(seconds=10))
        assert (refused.wait_s, refused.counts) == (20, {})


def test_a_wait_ends_by_itself() -> None:
    waiting = Record(5, NOW, NOW + timedelta(seconds=30))
    later = NOW + timedelta(seconds=30)
    assert check_attempt(WHO, {WHO.account: waiting}, later).counts[WHO.account] == (6, later + timedelta(seconds=60))


def test_a_stranger_does_not_keep_out_who_signed_in_from_there_before() -> None:
    locked = Record(50, NOW, NOW + timedelta(seconds=900))
    known = Record(0, succeeded_at=NOW - timedelta(days=29))
    verdict = check_attempt(WHO, {WHO.account: locked, WHO.address: locked, WHO.pair: known}, NOW)
    assert verdict.counts == {WHO.pair: (1, None)}


def test_a_known_address_is_no_way_to_guess_either() -> None:
    known = Record(5, NOW, NOW + timedelta(seconds=30), succeeded_at=NOW - timedelta(days=1))
    assert check_attempt(WHO, {WHO.pair: known}, NOW).wait_s == 30


def test_an_address_is_known_for_a_month() -> None:
    old = Record(0, succeeded_at=NOW - timedelta(days=31))
    assert set(check_attempt(WHO, {WHO.pair: old}, NOW).counts) == {WHO.account, WHO.address}


def test_after_a_day_what_was_wrong_is_forgotten() -> None:
    old = Record(40, NOW - timedelta(days=1, seconds=1), NOW - timedelta(hours=23))
    assert check_attempt(WHO, {WHO.account: old}, NOW).counts[WHO.account] == (1, None)
