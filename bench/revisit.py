"""What adaptive revisits are worth: a made-up site whose changes are known, revisited three ways on the same budget.

Nothing is fetched and no clock is read. Every plan sees the same changes, and learns of one only by a visit.
"""

import heapq
import random
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Protocol

from bench.talk import tell
from forager.frontier.revisit import DAY_S, change_rate, initial_interval, interval_at, next_interval, price_for

SITES = 5
PAGES = 200
DAYS = 180
BUDGETS = (40, 100, 400)
"""Requests a day: each page every five days, every other day, twice a day."""
HOUR_S = 3600.0
FREQUENCY_S = DAY_S
PRICE_EVERY_S = 6 * HOUR_S


@dataclass(frozen=True, slots=True)
class Kind:
    """Pages of a kind change every so often; each of them by its own habit between the two."""

    name: str
    share: float
    fastest_s: float
    slowest_s: float


KINDS = (
    Kind("ticker", 0.04, HOUR_S / 6, HOUR_S),
    Kind("news", 0.08, 6 * HOUR_S, DAY_S),
    Kind("listing", 0.18, DAY_S, 7 * DAY_S),
    Kind("product", 0.30, 14 * DAY_S, 90 * DAY_S),
    Kind("archive", 0.40, 180 * DAY_S, 1000 * DAY_S),
)


@dataclass(frozen=True, slots=True)
class Page:
    kind: str
    rate: float
    changed_at: Sequence[float]


@dataclass(slots=True)
class Watch:
    """What the visits to one page found: all that an adaptive plan may know of it."""

    comparisons: int = 0
    changes: int = 0
    watched_s: float = 0.0


@dataclass(slots=True)
class Tally:
    """What the visits to one page, or to several, brought."""

    pages: int = 0
    requests: int = 0
    changes_found: int = 0
    fresh_s: float = 0.0

    def add(self, other: "Tally") -> None:
        self.pages += other.pages
        self.requests += other.requests
        self.changes_found += other.changes_found
        self.fresh_s += other.fresh_s


@dataclass(frozen=True, slots=True)
class Result:
    """What one plan made of its budget, over all sites."""

    requests_per_day: float
    plan: str
    days: float
    whole: Tally
    by_kind: dict[str, Tally]

    def freshness(self, kind: str | None = None) -> float:
        """Part of the time that our copy of a page was current."""
        tally = self.by_kind[kind] if kind else self.whole
        return tally.fresh_s / (tally.pages * self.days * DAY_S)

    def visits_per_week(self, kind: str) -> float:
        tally = self.by_kind[kind]
        return tally.requests / (tally.pages * self.days / 7)


class Plan(Protocol):
    name: str

    def interval(self, number: int, at: float, watches: Sequence[Watch]) -> float:
        """Seconds from the visit of page `number` at `at` to its next."""


class Fixed:
    """The same interval for all: the budget divided by the pages."""

    name = "fixed"

    def __init__(self, pages: int, requests_per_day: float) -> None:
        self._interval_s = pages * DAY_S / requests_per_day

    def interval(self, _number: int, _at: float, _watches: Sequence[Watch]) -> float:
        return self._interval_s


class Adaptive:
    """The crawl's own functions, on what the visits found; the price is set anew every few hours, as by a scheduler."""

    name = "adaptive"

    def __init__(self, requests_per_day: float) -> None:
        self._requests_per_day = requests_per_day
        self._price: float | None = None
        self._price_until = 0.0

    def interval(self, number: int, at: float, watches: Sequence[Watch]) -> float:
        if at >= self._price_until:
            self._price, self._price_until = self._new_price(watches), at + PRICE_EVERY_S
        watch = watches[number]
        return next_interval(
            frequency_s=FREQUENCY_S,
            is_adaptive=True,
            price=self._price,
            comparisons=watch.comparisons,
            changes=watch.changes,
            watched_s=watch.watched_s,
        )

    def _new_price(self, watches: Sequence[Watch]) -> float:
        prior_s = initial_interval(FREQUENCY_S, self._price)
        rates = [change_rate(w.comparisons, w.changes, w.watched_s, prior_interval_s=prior_s) for w in watches]
        return price_for(rates, self._requests_per_day)


class AllKnowing:
    """The best there is: it is told every rate beforehand."""

    name = "all-knowing"

    def __init__(self, pages: Sequence[Page], requests_per_day: float) -> None:
        price = price_for([page.rate for page in pages], requests_per_day)
        self._intervals = [interval_at(page.rate, price) for page in pages]

    def interval(self, number: int, _at: float, _watches: Sequence[Watch]) -> float:
        return self._intervals[number]


def make_site(pages: int, days: float, seed: int) -> list[Page]:
    chance = random.Random(seed)
    return [_make_page(kind, days * DAY_S, chance) for kind in KINDS for _ in range(round(kind.share * pages))]


def _make_page(kind: Kind, end: float, chance: random.Random) -> Page:
    rate = exp(-chance.uniform(log(kind.fastest_s), log(kind.slowest_s)))
    changed_at = []
    at = chance.expovariate(rate)
    while at < end:
        changed_at.append(at)
        at += chance.expovariate(rate)
    return Page(kind.name, rate, changed_at)


def follow(plan: Plan, pages: Sequence[Page], days: float) -> list[Tally]:
    """Every page is first seen during the first day; from then on the plan says when it is visited."""
    end = days * DAY_S
    tallies, watches = [Tally(pages=1) for _ in pages], [Watch() for _ in pages]
    seen_at: list[float | None] = [None] * len(pages)
    agenda = [(DAY_S * number / len(pages), number) for number in range(len(pages))]
    while agenda[0][0] < end:
        at, number = agenda[0]
        _visit(pages[number], tallies[number], watches[number], seen_at[number], at)
        seen_at[number] = at
        heapq.heapreplace(agenda, (at + plan.interval(number, at, watches), number))
    for page, tally, last_at in zip(pages, tallies, seen_at, strict=True):
        if last_at is not None:
            tally.fresh_s += _stale_from(page, last_at, end) - last_at
    return tallies


def _visit(page: Page, tally: Tally, watch: Watch, last_at: float | None, at: float) -> None:
    tally.requests += 1
    if last_at is None:
        return
    stale_from = _stale_from(page, last_at, at)
    is_changed = stale_from < at
    tally.fresh_s += stale_from - last_at
    tally.changes_found += is_changed
    watch.comparisons += 1
    watch.changes += is_changed
    watch.watched_s += at - last_at


def _stale_from(page: Page, seen_at: float, end: float) -> float:
    """The first change after a visit, or the end."""
    following = bisect_right(page.changed_at, seen_at)
    return min(page.changed_at[following], end) if following < len(page.changed_at) else end


def compare_plans(*, pages: int, days: float, requests_per_day: float, seeds: Sequence[int]) -> list[Result]:
    sites = [make_site(pages, days, seed) for seed in seeds]
    results: dict[str, Result] = {}
    for site in sites:
        plans = Fixed(len(site), requests_per_day), Adaptive(requests_per_day), AllKnowing(site, requests_per_day)
        for plan in plans:
            nothing = Result(requests_per_day, plan.name, days, Tally(), {kind.name: Tally() for kind in KINDS})
            result = results.setdefault(plan.name, nothing)
            for page, tally in zip(site, follow(plan, site, days), strict=True):
                result.whole.add(tally)
                result.by_kind[page.kind].add(tally)
    return list(results.values())


def measure_revisits(*, is_quick: bool) -> list[Result]:
    days, seeds = (30, 1) if is_quick else (DAYS, SITES)
    tell(f"Revisits: {seeds} sites × {PAGES} pages × {days} days")
    return [
        result
        for budget in BUDGETS
        for result in compare_plans(pages=PAGES, days=days, requests_per_day=budget, seeds=range(seeds))
    ]
