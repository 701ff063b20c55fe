"""When a recurring page is visited again: what is learned, what is spent, and that it is spent well."""

from math import exp, inf, isfinite, log

import pytest
from bench.revisit import Result, compare_plans
from hypothesis import example, given, settings
from hypothesis import strategies as st

from forager.frontier.revisit import (
    DAY_S,
    HIGHEST_PRICE,
    MAX_INTERVAL_S,
    MIN_INTERVAL_S,
    change_rate,
    initial_interval,
    interval_at,
    next_interval,
    price_for,
)

pytestmark = pytest.mark.xdist_group("revisit")  # the plans are compared once
RATES = st.floats(log(1e-9), log(1.0)).map(exp)
PRICES = st.floats(log(1e-3), log(1e7)).map(exp)
SPANS = st.floats(1.0, 1e9)
COUNTS = st.integers(0, 10_000)
BUDGETS = st.floats(log(1e-3), log(1e6)).map(exp)


def rate_of(comparisons: int, changes: int, watched_s: float, prior_interval_s: float = DAY_S) -> float:
    return change_rate(comparisons, changes, watched_s, prior_interval_s=prior_interval_s)


def freshness(rate: float, interval_s: float) -> float:
    expected = rate * interval_s
    return (1 - exp(-expected)) / expected


def requests_per_day(rates: list[float], price: float) -> float:
    return sum(DAY_S / interval_at(rate, price) for rate in rates)


# The rate.


def test_a_page_never_compared_changes_as_often_as_assumed() -> None:
    assert rate_of(0, 0, 0.0, prior_interval_s=3600) == pytest.approx(1 / 3600)


@pytest.mark.parametrize("chance", [0.05, 0.3, 0.6, 0.9])
def test_changes_that_hid_behind_others_are_counted(chance: float) -> None:
    """Of a thousand days some part had a change; the rate is that of a Poisson process which would show the same."""
    true_rate = -log(1 - chance) / DAY_S
    assert rate_of(1000, round(1000 * chance), 1000 * DAY_S) == pytest.approx(true_rate, rel=0.03)


def test_always_and_never_are_not_believed_at_once() -> None:
    daily = 1 / DAY_S
    assert daily / 10 < rate_of(3, 0, 3 * DAY_S) < daily < rate_of(3, 3, 3 * DAY_S) < 5 * daily


def test_more_of_the_same_is_believed() -> None:
    never = [rate_of(visits, 0, visits * DAY_S) for visits in (1, 10, 100, 1000)]
    always = [rate_of(visits, visits, visits * DAY_S) for visits in (1, 10, 100, 1000)]
    assert never == sorted(never, reverse=True)
    assert always == sorted(always)
    assert never[-1] < 1 / (300 * DAY_S)


def test_minutes_of_quiet_say_little_about_a_page_that_changes_daily() -> None:
    assert rate_of(10, 0, 10 * 300.0) == pytest.approx(1 / DAY_S, rel=0.1)


@given(COUNTS, COUNTS, SPANS, SPANS)
def test_a_rate_is_usable_and_rises_with_the_changes(one: int, other: int, watched_s: float, prior_s: float) -> None:
    changes, comparisons = sorted((one, other))
    rate = rate_of(comparisons, changes, watched_s, prior_s)
    assert 0 < rate < inf
    if changes < comparisons:
        assert rate_of(comparisons, changes + 1, watched_s, prior_s) >= rate


@given(COUNTS, st.sampled_from([0.0, 1e-300, 1e300]), st.sampled_from([1e-300, 1.0, 1e300]))
def test_absurd_times_give_a_usable_rate_too(comparisons: int, watched_s: float, prior_s: float) -> None:
    for changes in (0, comparisons):
        assert 0 < rate_of(comparisons, changes, watched_s, prior_s) < inf


# The interval.


def test_neither_the_fastest_nor_the_slowest_page_gets_the_most_visits() -> None:
    price = 6 * 3600.0
    every_hour, every_day, every_month = (interval_at(1 / seconds, price) for seconds in (3600, DAY_S, 30 * DAY_S))
    assert every_day < every_month < every_hour == MAX_INTERVAL_S


@given(RATES, PRICES)
def test_an_interval_is_within_its_bounds_and_rises_with_the_price(rate: float, price: float) -> None:
    interval_s = interval_at(rate, price)
    assert MIN_INTERVAL_S <= interval_s <= MAX_INTERVAL_S
    assert interval_at(rate, price * 1.1) >= interval_s * (1 - 1e-9)


@given(RATES, PRICES, st.floats(0.2, 5.0))
def test_no_other_interval_is_worth_more(rate: float, price: float, factor: float) -> None:
    """Freshness less what the requests cost; `inf` seconds, no visits at all, included."""
    interval_s = interval_at(rate, price)
    if not MIN_INTERVAL_S < interval_s < MAX_INTERVAL_S:
        return
    worth = freshness(rate, interval_s) - price / interval_s
    other = interval_s * factor
    assert worth >= freshness(rate, other) - price / other - 1e-9
    assert worth >= -1e-9


@given(RATES, PRICES)
@example(1e-9, 0.5)
def test_one_more_request_brings_just_the_price(rate: float, price: float) -> None:
    interval_s = interval_at(rate, price)
    if not MIN_INTERVAL_S < interval_s < MAX_INTERVAL_S:
        return
    x = rate * interval_s
    brings = (x**2 / 2 - x**3 / 3 if x < 1e-3 else 1 - (1 + x) * exp(-x)) / rate
    assert brings == pytest.approx(price, rel=1e-6)


@pytest.mark.parametrize("rate", [1e-300, 1e-12, 1e-5, 1.0, 1e300])
def test_the_ends_of_the_price_are_the_ends_of_the_interval(rate: float) -> None:
    assert interval_at(rate, 0.0) == MIN_INTERVAL_S
    assert interval_at(rate, HIGHEST_PRICE) == MAX_INTERVAL_S
    assert interval_at(rate, inf) == MAX_INTERVAL_S


# The price.


@given(st.lists(RATES, min_size=1, max_size=60), BUDGETS)
@settings(max_examples=100, deadline=None)
def test_a_price_keeps_the_budget_and_spends_it(rates: list[float], budget: float) -> None:
    price = price_for(rates, budget)
    assert 0 <= price <= HIGHEST_PRICE * (1 + 1e-9)
    floor, ceiling = len(rates) * DAY_S / MAX_INTERVAL_S, len(rates) * DAY_S / MIN_INTERVAL_S
    spent = requests_per_day(rates, price)
    assert spent <= max(budget, floor) * (1 + 1e-9)
    if floor < budget < ceiling:
        assert requests_per_day(rates, price * 0.998) >= budget * (1 - 1e-9) or price < 1e-5


@given(st.lists(RATES, min_size=1, max_size=20), BUDGETS)
@settings(max_examples=50, deadline=None)
def test_a_larger_budget_is_not_dearer(rates: list[float], budget: float) -> None:
    assert price_for(rates, budget * 2) <= price_for(rates, budget)


def test_the_edges_of_a_budget() -> None:
    assert price_for([], 100) == 0
    assert price_for([1e-5] * 10, 1e9) == 0
    assert price_for([1e-5] * 10, 1e-9) == pytest.approx(HIGHEST_PRICE)


def test_a_weight_stands_for_so_many_pages() -> None:
    assert price_for([1e-5, 1e-6], 40, weights=[300, 100]) == price_for([1e-5] * 300 + [1e-6] * 100, 40)


def test_ten_thousand_different_rates_find_their_price() -> None:
    rates = [exp(log(1e-8) + number / 10_000 * log(1e6)) for number in range(10_000)]
    assert requests_per_day(rates, price_for(rates, 5000)) == pytest.approx(5000, rel=0.001)


# The next visit.


@pytest.mark.parametrize(("is_adaptive", "price"), [(False, None), (False, 99.0), (True, None)])
def test_a_fixed_frequency_is_kept(is_adaptive: bool, price: float | None) -> None:
    assert after(frequency_s=7200, is_adaptive=is_adaptive, price=price, comparisons=9, changes=9) == 7200


def test_an_adaptive_page_is_visited_by_what_it_did() -> None:
    price = 6 * 3600.0
    often, rarely, unknown = (after(price=price, comparisons=n, changes=x) for n, x in ((9, 7), (9, 0), (0, 0)))
    assert often < unknown < rarely


@given(PRICES, SPANS)
def test_nothing_is_visited_more_than_a_new_page_whose_frequency_is_beyond_reach(price: float, other_s: float) -> None:
    """A hopeless first guess would hide it for months; so it is taken for the best bargain."""
    frequency_s = price / 10
    unknown = after(frequency_s=frequency_s, price=price)
    assert initial_interval(frequency_s, price) > frequency_s
    assert unknown <= interval_at(1 / other_s, price) * 1.001


def after(
    *, price: float | None, comparisons: int = 0, changes: int = 0, frequency_s: float = DAY_S, is_adaptive: bool = True
) -> float:
    return next_interval(
        frequency_s=frequency_s,
        is_adaptive=is_adaptive,
        price=price,
        comparisons=comparisons,
        changes=changes,
        watched_s=comparisons * DAY_S,
    )


@given(COUNTS, COUNTS, SPANS, SPANS, PRICES)
def test_the_next_interval_is_a_number(
    one: int, other: int, watched_s: float, frequency_s: float, price: float
) -> None:
    changes, comparisons = sorted((one, other))
    interval_s = next_interval(
        frequency_s=frequency_s,
        is_adaptive=True,
        price=price,
        comparisons=comparisons,
        changes=changes,
        watched_s=watched_s,
    )
    assert isfinite(interval_s)
    assert MIN_INTERVAL_S <= interval_s <= MAX_INTERVAL_S


# Whether it is worth it: a site whose changes are known, learned from nothing.


@pytest.fixture(scope="module", params=[40, 100], ids=["40 a day", "100 a day"])
def plans(request: pytest.FixtureRequest) -> dict[str, Result]:
    results = compare_plans(pages=100, days=60, requests_per_day=request.param, seeds=range(2))
    return {result.plan: result for result in results}


def test_adaptive_visits_leave_less_stale_than_fixed_ones_for_no_more_requests(plans: dict[str, Result]) -> None:
    fixed, adaptive, best = plans["fixed"], plans["adaptive"], plans["all-knowing"]
    assert adaptive.whole.requests <= fixed.whole.requests
    assert 1 - adaptive.freshness() < 0.9 * (1 - fixed.freshness())
    assert adaptive.freshness() <= best.freshness()


def test_adaptive_visits_find_more_changes(plans: dict[str, Result]) -> None:
    assert plans["adaptive"].whole.changes_found > 1.5 * plans["fixed"].whole.changes_found


def test_visits_go_where_change_is_likely(plans: dict[str, Result]) -> None:
    visits = plans["adaptive"].visits_per_week
    assert visits("news") > visits("listing") > visits("product") > visits("archive")
