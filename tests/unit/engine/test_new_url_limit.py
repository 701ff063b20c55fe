"""How fast the pages of one domain may add URLs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import a_lane, a_success, a_target

from forager import clock
from forager.engine.domain_queues import DomainQueues
from forager.engine.new_url_limit import BURST_S, NewUrlLimit, TokenBucket, count_added
from forager.urls.normalize import url_key


def test_a_burst_is_free_and_the_rest_is_waited_for() -> None:
    bucket = TokenBucket(10.0, now=0.0)
    assert bucket.take(int(10 * BURST_S), 0.0) == 0
    assert bucket.take(50, 0.0) == 5
    assert bucket.take(0, 3.0) == 2
    assert bucket.take(0, 5.0) == 0
    assert not bucket.is_full(14.0)
    assert bucket.is_full(15.0)


@given(
    rate=st.floats(0.01, 1e4),
    steps=st.lists(st.tuples(st.integers(0, 10_000), st.floats(0, 1e3)), min_size=1, max_size=30),
)
def test_who_waits_as_told_keeps_the_rate(rate: float, steps: list[tuple[int, float]]) -> None:
    """Over any time no more is added than the burst and what the rate allows."""
    bucket, now, added = TokenBucket(rate, 0.0), 0.0, 0
    for count, idle_s in steps:
        wait_s = bucket.take(count, now)
        added += count
        now += wait_s
        assert added <= rate * (now + BURST_S) * (1 + 1e-9) + 1e-6
        now += idle_s


def test_a_new_url_counts_for_the_first_page_that_has_it() -> None:
    urls = [f"http://a.example/{n}" for n in range(4)]
    one = a_success(a_target("http://a.example/", task=1, domain=1), *urls[:3])
    two = a_success(a_target("http://b.example/", task=2, domain=2), *urls[2:])
    added = {url_key(url) for url in urls[1:]}
    assert count_added([one, two], added) == {1: 2, 2: 1}
    assert count_added([one, two], set()) == {}


@pytest.mark.parametrize(
    ("delay_s", "rate", "default", "waits"),
    [(1.0, 1.0, 1.0, True), (1.0, None, None, False), (0.0, 1.0, 1.0, False), (0.0, 1.0, 100.0, True)],
)
def test_a_domain_over_its_limit_waits_and_says_why(
    delay_s: float, rate: float | None, default: float | None, waits: bool
) -> None:
    """Without a delay, only a limit of its own holds."""
    queues, queue = DomainQueues(), a_lane(delay_s=delay_s, max_new_urls_per_second=rate)
    queues.add(queue)
    urls = [f"http://a.example/{n}" for n in range(30)]
    NewUrlLimit(queues, default).apply([a_success(a_target(), *urls)], {url_key(url) for url in urls})
    assert (queue.wait_s(clock.monotonic()) > 15) == waits
    assert queue.take_wait_reason() == ("its pages added more than 1 new URLs a second" if waits else None)
