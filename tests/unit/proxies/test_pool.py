"""A domain's pool in memory: takes turns, remembers what it learned until it is asked, and takes news as they come."""

from datetime import UTC, datetime

from forager.config.cipher import PasswordCipher
from forager.proxies.models import Proxy, ProxyResult, ProxyUse
from forager.proxies.pool import ProxyPool
from forager.proxies.registry import ProxyRegistry
from forager.proxies.rotation import Member, ProxyState
from forager.proxies.store import EncryptedProxy, PoolRow, ProxyStateRow

AT = datetime(2026, 1, 1, tzinfo=UTC)
KEY = "k" * 32


def a_row(proxy: int = 1, domain: int = 1, **more: object) -> PoolRow:
    sealed = EncryptedProxy(proxy, "http", f"10.0.0.{proxy}", 3128, *more.pop("account", (None, None)))  # type: ignore[misc]
    given = PoolRow(domain, None, False, 5, True, 0, None, None, sealed, None, True, 0, 1000, 0, 0.0)
    return given._replace(**more)  # type: ignore[arg-type]


def pool_of(*rows: PoolRow, vault: PasswordCipher | None = None) -> tuple[ProxyPool, ProxyRegistry]:
    roster = ProxyRegistry(vault or PasswordCipher([]))
    return roster.open_pools(rows, 0.0)[rows[0].domain_id], roster


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
    pools = roster.open_pools([a_row(1, domain=1), a_row(1, domain=2), a_row(1, domain=3)], 0.0)
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
    assert pool.is_empty


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
