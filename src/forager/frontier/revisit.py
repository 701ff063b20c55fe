"""Schedules revisits of recurring pages: at a fixed frequency, or when a request is likely to find a change. Pure.

Adaptive domains spend a budget of requests. A page's rate of change is estimated from its visits; a price, the same for
all pages of the domain, is the freshness that one request must bring, and is set so that the budget is kept.

Freshness, the fraction of time that our copy is current, of a page that changes at rate λ and is visited every T
seconds is (1 - e^-λT) / λT. One more request brings (1 - (1 + λT) e^-λT) / λ fresh seconds; at the best T that is the
price. (Cho and Garcia-Molina: Estimating frequency of change, 2003; Effective page refresh policies for web crawlers,
2003.)
"""

from collections import defaultdict
from collections.abc import Sequence
from math import exp, expm1, log, log1p, sqrt

DAY_S = 86_400.0
MIN_INTERVAL_S = 300.0
MAX_INTERVAL_S = 90 * DAY_S
"""A page that is not worth its price is still visited this often, so that a wrong estimate is detected."""

SLOWEST, FASTEST = 1 / (100 * 365 * DAY_S), 1.0
"""Changes per second. Beyond these limits intervals do not differ, and no sum overflows."""

BEST_BARGAIN = 0.535
"""Rate times price of the page that is visited most often: slower pages need fewer visits, faster ones become stale too
soon."""
LOWEST_PRICE = 1e-6
HIGHEST_PRICE = 0.2985 * MAX_INTERVAL_S
"""Seconds of freshness per request. From here on no page is worth more visits than one per MAX_INTERVAL_S."""
PRICE_STEPS = 16
"""Bisection steps on the logarithm between the two: the price is exact to 0.05 %."""
NEWTON_STEPS = 3
"""From the chosen start they leave an error below one in a billion."""


def next_interval(
    *, frequency_s: float, is_adaptive: bool, price: float | None, comparisons: int, changes: int, watched_s: float
) -> float:
    """Returns the seconds until the next visit. An adaptive domain that has no price yet keeps the fixed frequency."""
    if not is_adaptive or price is None:
        return frequency_s
    prior_interval_s = initial_interval(frequency_s, price)
    return interval_at(change_rate(comparisons, changes, watched_s, prior_interval_s=prior_interval_s), price)


def initial_interval(frequency_s: float, price: float | None) -> float:
    """Returns the assumed seconds between changes of an unknown page: its frequency, unless that would not be worth a
    visit.

    Then the page is assumed to be the most rewarding one at this price; otherwise a new page would wait for months
    until its rate is known.
    """
    return max(frequency_s, (price or 0.0) / BEST_BARGAIN)


def change_rate(comparisons: int, changes: int, watched_s: float, *, prior_interval_s: float) -> float:
    """Returns the changes per second of a page that had changed at `changes` of `comparisons` visits over `watched_s`
    seconds.

    A visit detects that a page changed, not how often: for n visits with x changes, -log((n - x + ½) / (n + ½)) per
    interval includes the hidden changes, with little bias. The prior weighs as much as observing an average page for
    `prior_interval_s`, so that neither "always" nor "never" is concluded after a few visits.
    """
    if comparisons <= 0 or watched_s <= 0:
        return _bound(1 / prior_interval_s)
    interval_s = max(watched_s / comparisons, 1.0)
    prior = prior_interval_s / interval_s
    prior_changes = prior * -expm1(-interval_s / prior_interval_s)
    changed = (changes + prior_changes) / (comparisons + prior + 0.5)
    return _bound(-log1p(-changed) / interval_s)


def interval_at(rate: float, price: float) -> float:
    """Returns the best interval in seconds for a page that changes at `rate`, when a request costs `price`."""
    worth = rate * price
    if worth >= 1:  # not even the very first request is worth the price: the page changes again too soon
        return MAX_INTERVAL_S
    if worth <= 0:
        return MIN_INTERVAL_S
    return min(max(_changes_between(worth) / rate, MIN_INTERVAL_S), MAX_INTERVAL_S)


def price_for(rates: Sequence[float], requests_per_day: float, weights: Sequence[float] | None = None) -> float:
    """Returns the lowest price at which visiting pages of these rates keeps the budget; a weight is the number of
    pages.

    Zero if the budget allows to visit everything all the time; the highest price if not even the rarest visits fit into
    it.
    """
    pages: defaultdict[float, float] = defaultdict(float)  # many pages have the same rate, such as those not yet known
    for rate, weight in zip(rates, weights or [1.0] * len(rates), strict=True):
        pages[rate] += weight
    if sum(pages.values()) * DAY_S / MIN_INTERVAL_S <= requests_per_day:
        return 0.0
    low, high = log(LOWEST_PRICE), log(HIGHEST_PRICE)
    for _ in range(PRICE_STEPS):
        middle = (low + high) / 2
        price = exp(middle)
        if sum(count / interval_at(rate, price) for rate, count in pages.items()) * DAY_S > requests_per_day:
            low = middle
        else:
            high = middle
    return exp(high)


def _changes_between(worth: float) -> float:
    """Returns the x with 1 - (1 + x) e^-x = worth: the expected number of changes between two visits.

    Solved as x - log(1 + x) = u. That curve is convex and √2u + u lies above the root, so that Newton's steps descend
    to it from any `worth` and never pass it.
    """
    u = -log1p(-worth)
    x = sqrt(2 * u) + u
    if u < 1e-9:  # the difference of x and its logarithm has no digits left, and √2u + 2u/3 is as exact
        return x - u / 3
    for _ in range(NEWTON_STEPS):
        x -= (x - log1p(x) - u) * (1 + x) / x
    return x


def _bound(rate: float) -> float:
    return min(max(rate, SLOWEST), FASTEST)
