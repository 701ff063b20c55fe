"""Uses add up to the same, however they were batched."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.proxies.counters import by_pair, by_proxy, columns
from forager.proxies.models import Proxy, ProxyResult, ProxyUse
from forager.proxies.rotation import Member, ProxyState, note

AT = datetime(2026, 1, 1, tzinfo=UTC)
PASSAGES = st.lists(
    st.tuples(st.sampled_from(ProxyResult), st.integers(0, 60_000) | st.none()), min_size=1, max_size=30
)


def uses_of(passages: list[tuple[ProxyResult, int | None]]) -> list[ProxyUse]:
    return [
        ProxyUse(1, 2, AT + timedelta(seconds=second), passage, ms, f"error {second}")
        for second, (passage, ms) in enumerate(passages)
    ]


@given(PASSAGES, st.integers(0, 9), st.floats(0, 1000) | st.none())
def test_a_tally_says_what_one_use_after_the_other_would(
    passages: list[tuple[ProxyResult, int | None]], failures: int, average_ms: float | None
) -> None:
    member = Member(ProxyState(Proxy(2, "http", "x", 1), failures=failures), failures=failures, average_ms=average_ms)
    for passage, ms in passages:
        note(member, passage, ms)
    pair, proxy = by_pair(uses_of(passages))[1, 2], by_proxy(uses_of(passages))[2]
    assert (pair.last_failures if pair.successes else failures + pair.failures) == member.failures
    assert (proxy.last_failures if proxy.successes else failures + proxy.failures) == member.standing.failures
    if pair.average_ms is not None:
        told = pair.average_ms if average_ms is None else average_ms * pair.kept_share + pair.added_ms
        assert told == pytest.approx(member.average_ms)
    assert pair.successes + pair.failures == pair.uses == proxy.uses == len(passages)


def test_moments_and_the_last_error() -> None:
    passages = [(ProxyResult.THROUGH, 5), (ProxyResult.BROKEN, None), (ProxyResult.NOT_THROUGH, None)]
    pair, proxy = by_pair(uses_of(passages))[1, 2], by_proxy(uses_of(passages))[2]
    assert (pair.last_success_at, pair.last_failure_at, pair.last_error) == (AT, AT + timedelta(seconds=2), "error 2")
    assert (proxy.last_failure_at, proxy.last_error) == (AT + timedelta(seconds=1), "error 1")
    assert proxy.last_used_at == AT + timedelta(seconds=2)


def test_tallies_come_in_the_order_rows_are_locked_in() -> None:
    uses = [ProxyUse(domain, proxy, AT, ProxyResult.THROUGH) for domain in (3, 1, 2) for proxy in (9, 8)]
    assert list(by_proxy(uses)) == [8, 9]
    assert list(by_pair(uses)) == [(1, 8), (1, 9), (2, 8), (2, 9), (3, 8), (3, 9)]
    assert len(columns(by_pair(uses).values())) == 11
