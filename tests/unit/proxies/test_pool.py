"""A domain's pool in memory: takes turns, remembers what it learned until it is asked, and takes news as they come."""

from collections import Counter
from datetime import UTC, datetime
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.config.cipher import PasswordCipher
from forager.proxies.models import Proxy, ProxyResult, ProxyUse
from forager.proxies.pool import PoolRules, ProxyPool
from forager.proxies.registry import ProxyRegistry
from forager.proxies.rotation import Member, ProxyState
from forager.proxies.store import DefaultRow, EncryptedProxy, PoolRow, ProxyStateRow

AT = datetime(2026, 1, 1, tzinfo=UTC)
KEY = "k" * 32


def a_row(proxy: int = 1, domain: int = 1, **more: object) -> PoolRow:
    sealed = EncryptedProxy(proxy, "http", f"10.0.0.{proxy}", 3128, *more.pop("account", (None, None)))  # type: ignore[misc]
    given = PoolRow(domain, True, 5, True, 0, None, None, 0, 0.0, sealed, None, True, 0, 1000, 0, 0.0)
    return given._replace(**more)  # type: ignore[arg-type]


def rules_for(*rows: PoolRow, rules: PoolRules | None = None) -> dict[int, PoolRules]:
    return {row.domain_id: rules or PoolRules() for row in rows}


def pool_of(*rows: PoolRow, vault: PasswordCipher | None = None) -> tuple[ProxyPool, ProxyRegistry]:
    roster = ProxyRegistry(vault or PasswordCipher([]))
    return roster.open_pools(rules_for(*rows), rows, 0.0)[rows[0].domain_id], roster


def test_turns_go_on_where_the_predecessor_stopped() -> None:
    pool, _ = pool_of(a_row(1, unused_s=5.0), a_row(2, unused_s=50.0), a_row(3, unused_s=None))
    taken = [pool.take(0.0) for _ in range(4)]
    assert [proxy.id for proxy in taken if proxy] == [3, 2, 1, 3]


def test_uses_are_handed_over_once() -> None:
    pool, _ = pool_of(a_row(7, domain=3))
    proxy = pool.take(0.0)
    assert proxy
    pool.note(proxy, ProxyResult.THROUGH, at=AT, response_time_ms=12)
    pool.note(proxy, None, at=AT)
    assert pool.take_pending() == (ProxyUse(3, 7, AT, ProxyResult.THROUGH, 12, None),)
    assert pool.take_pending() == ()


def test_what_one_domain_learns_about_a_proxy_the_others_know() -> None:
    roster = ProxyRegistry(PasswordCipher([]))
    rows = [a_row(1, domain=1), a_row(1, domain=2), a_row(1, domain=3)]
    pools = roster.open_pools(rules_for(*rows), rows, 0.0)
    for domain in (1, 2):
        for _ in range(5):
            pools[domain].note(Proxy(1, "http", "x", 1), ProxyResult.BROKEN, at=AT)
    assert pools[3].wait_s(0.0) is None
    assert "switched off or failing" in pools[3].exhausted_reason()


def test_news_from_the_database_keep_the_turns() -> None:
    pool, roster = pool_of(a_row(1), a_row(2))
    first = pool.take(0.0)
    roster.renew({1: pool}, [a_row(1), a_row(2), a_row(3)], 1.0)
    taken = [first, *(pool.take(1.0) for _ in range(3))]
    assert [proxy.id for proxy in taken if proxy] == [1, 2, 3, 1]


def test_a_member_that_was_taken_away_or_switched_off_is_not_used_any_more() -> None:
    pool, roster = pool_of(a_row(1), a_row(2), a_row(3))
    roster.renew({1: pool}, [a_row(2, is_member_active=False), a_row(3)], 1.0)
    assert {proxy.id for _ in range(3) if (proxy := pool.take(1.0))} == {3}
    roster.renew({1: pool}, [], 2.0)
    assert pool.may_go_direct


def test_one_that_was_enabled_again_is_used_again() -> None:
    pool, roster = pool_of(a_row(1, member_failures=5))
    assert pool.take(0.0) is None
    roster.renew({1: pool}, [a_row(1)], 1.0)
    assert pool.take(1.0)


def test_requests_of_other_workers_count_for_the_hour() -> None:
    pool, roster = pool_of(a_row(1, hourly_cap=10))
    roster.update([ProxyStateRow(1, True, 0, 10, 60.0), ProxyStateRow(99, True, 0, 0, 0.0)], 100.0)
    assert pool.take(100.0) is None
    assert pool.wait_s(100.0) == 60.0
    assert pool.take(160.0)


def test_what_is_not_written_yet_counts_for_the_hour() -> None:
    """The database does not know of requests that are under way: what it says does not bring them back."""
    pool, roster = pool_of(a_row(1, hourly_cap=10))
    taken = [pool.take(0.0) for _ in range(6)]
    roster.update([ProxyStateRow(1, True, 0, 5, 3600.0, written=2)], 1.0)  # two of ours, three of others
    assert [pool.take(1.0) is not None for _ in range(2)] == [True, False]
    roster.renew({1: pool}, [a_row(1, hourly_cap=10, hour_requests=5, hour_left_s=3599.0)], 2.0)
    assert pool.take(2.0) is None
    assert taken[0]
    pool.note(taken[0], None, at=datetime(2026, 1, 1, tzinfo=UTC))  # says nothing of it, and is never written
    roster.update([ProxyStateRow(1, True, 0, 5, 3600.0, written=0)], 3.0)
    assert pool.take(3.0)


def test_a_password_that_cannot_be_opened_makes_one_proxy_unusable_and_says_so() -> None:
    sealed = PasswordCipher([KEY]).encrypt("secret")
    pool, _ = pool_of(a_row(1, account=("user", sealed)))
    assert pool.take(0.0) is None
    assert "proxy 1 (http://10.0.0.1:3128) cannot be read because no secret_key is set" in pool.exhausted_reason()
    opened, _ = pool_of(a_row(1, account=("user", sealed)), vault=PasswordCipher([KEY]))
    proxy = opened.take(0.0)
    assert proxy
    assert (proxy.username, proxy.password) == ("user", "secret")
    assert "secret" not in repr(proxy)
    assert sealed not in repr(a_row(1, account=("user", sealed)))


def test_a_use_of_a_proxy_that_left_the_pool_is_still_noted() -> None:
    pool = ProxyPool(1, [Member(ProxyState(Proxy(1, "http", "x", 1)))])
    pool.note(Proxy(2, "http", "y", 1), ProxyResult.BROKEN, at=AT, error="gone")
    assert [use.proxy_id for use in pool.take_pending()] == [2]


# The default pool and rotation ----------------------------------------------------------------------------------------


def a_default(proxy: int, **more: object) -> DefaultRow:
    given = DefaultRow(EncryptedProxy(proxy, "http", f"10.0.0.{proxy}", 3128), None, True, 0, 1000, 0, 0.0)
    return given._replace(**more)  # type: ignore[arg-type]


def default_pool(count: int, rules: PoolRules = PoolRules(), *rows: PoolRow) -> ProxyPool:  # noqa: B008
    roster = ProxyRegistry(PasswordCipher([]))
    return roster.open_pools({1: rules}, rows, 0.0, [a_default(number) for number in range(1, count + 1)])[1]


@pytest.mark.parametrize(
    ("mode", "has_own", "has_defaults", "expected"),
    [
        ("auto", True, True, "own"),
        ("auto", False, True, "default"),
        ("auto", False, False, None),
        ("always", True, False, "own"),
        ("always", False, True, "default"),
        ("always", False, False, "default"),
        ("never", True, True, None),
    ],
)
def test_which_pool_a_domain_has(mode: str, has_own: bool, has_defaults: bool, expected: str | None) -> None:
    rows = [a_row(1), a_row(2, is_assigned=False)] if has_own else []
    defaults = [a_default(2)] if has_defaults else []
    roster = ProxyRegistry(PasswordCipher([]))
    pools = roster.open_pools({1: PoolRules(mode)}, rows, 0.0, defaults)
    assert (None if 1 not in pools else "default" if pools[1].is_default else "own") == expected
    if mode == "always" and not (has_own or has_defaults):
        assert (pools[1].take(0.0), pools[1].wait_s(0.0), pools[1].may_go_direct) == (None, None, False)


def test_the_default_pool_takes_turns_and_spreads_domains() -> None:
    roster = ProxyRegistry(PasswordCipher([]))
    defaults = [a_default(number) for number in (1, 2, 3)]
    pools = roster.open_pools({1: PoolRules(), 2: PoolRules()}, [], 0.0, defaults)
    assert [proxy.id for _ in range(4) if (proxy := pools[1].take(0.0))] == [1, 2, 3, 1]
    assert [proxy.id for _ in range(2) if (proxy := pools[2].take(0.0))] == [2, 3]


@given(
    count=st.integers(1, 12),
    rotation_s=st.floats(0.5, 50),
    delay_s=st.floats(0.5, 10),
    is_default=st.booleans(),
)
def test_a_proxy_rests_and_no_more_are_used_than_needed(
    count: int, rotation_s: float, delay_s: float, is_default: bool
) -> None:
    rules = PoolRules(rotation_s=rotation_s)
    if is_default:
        pool = default_pool(count, rules)
    else:
        rows = [a_row(number) for number in range(1, count + 1)]
        pool = ProxyRegistry(PasswordCipher([])).open_pools({1: rules}, rows, 0.0)[1]
    now, used = 0.0, dict[int, float]()
    for _ in range(60):
        wait_s = pool.wait_s(now)
        assert wait_s is not None
        now += wait_s + 1e-9 * bool(wait_s)
        proxy = pool.take(now)
        assert proxy
        assert proxy.id not in used or now - used[proxy.id] >= rotation_s - 1e-6
        used[proxy.id] = now
        now += delay_s
    assert len(used) <= min(count, ceil(rotation_s / delay_s + 1e-6) + 1)


@given(count=st.integers(1, 5), cap=st.integers(1, 5))
def test_a_pair_keeps_its_cap_and_goes_on_in_the_next_hour(count: int, cap: int) -> None:
    pool = default_pool(count, PoolRules(max_per_hour=cap))
    taken = Counter(proxy.id for step in range(60) if (proxy := pool.take(step)))
    assert taken == dict.fromkeys(range(1, count + 1), cap)
    wait_s = pool.wait_s(60)
    assert wait_s is not None
    assert 3500 < wait_s <= 3600
    assert pool.take(60 + wait_s)


def test_a_cap_counts_what_other_holders_used() -> None:
    row = a_row(1, is_assigned=False, member_hour_requests=3, member_hour_left_s=100.0, unused_s=5.0)
    pool = default_pool(1, PoolRules(max_per_hour=4), row)
    assert pool.take(0.0)
    assert (pool.take(0.0), pool.wait_s(0.0)) == (None, 100.0)


def test_members_stay_while_the_default_pool_has_them() -> None:
    roster = ProxyRegistry(PasswordCipher([]))
    pool = roster.open_pools({1: PoolRules(max_per_hour=1)}, [], 0.0, [a_default(1), a_default(2)])[1]
    assert pool.take(0.0)
    roster.renew({1: pool}, [], 1.0, [a_default(1), a_default(2), a_default(3)])
    assert [proxy.id for _ in range(3) if (proxy := pool.take(1.0))] == [2, 3]
    roster.renew({1: pool}, [], 2.0, [])
    assert pool.may_go_direct
    roster.renew({1: pool}, [a_row(7)], 3.0, [a_default(1)])
    assert (pool.is_default, pool.size) == (False, 1)
