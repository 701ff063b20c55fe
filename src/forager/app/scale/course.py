"""A crawl on a clock that is made up: domains take turns as the claim has them take turns, a turn at a time.

    waiting ──(lowest round, best score)──> a queue of a worker ──(its turn is over)──> waiting, in the next round

What decides is written out: the order of the claim (`claim_domains`), the page budget of a lease, the round a domain
gets when it is handed back (`release`). A test has the real statements take turns beside it. While workers, open
requests or the database cannot follow, every queue slows down alike; a turn takes its work divided by that.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from forager.app.scale.web import Kind, SimulatedWeb

BUSY = 0.9
"""The last pages are those of a few huge domains, which take months however many workers there are: machines are
reckoned for the time until so many of all pages were had."""

MARKS = (0.5, BUSY)


@dataclass(frozen=True, slots=True)
class ClusterLimits:
    """What limits all workers together."""

    queues: int
    requests_open: float
    worker_pages_per_s: float
    database_pages_per_s: float


@dataclass(slots=True)
class SimulationResult:
    """What came of it."""

    pages: int = 0
    turns: int = 0
    seconds: float = 0.0
    most_pages_per_s: float = 0.0
    most_open: float = 0.0
    most_lanes: int = 0
    limits_s: dict[str, float] = field(default_factory=dict)
    """How long which limit decided while it was busy."""
    reached_s: dict[float, float] = field(default_factory=dict)
    """Share of all pages → when they were had."""
    busy_pages: float = 0.0
    busy_turns: int = 0
    busy_s: float = 0.0

    @property
    def limits(self) -> dict[str, float]:
        """Which limit decided for which share of the busy time, the first the longest."""
        total = sum(self.limits_s.values()) or 1.0
        return {name: spent / total for name, spent in sorted(self.limits_s.items(), key=lambda item: -item[1])}

    @property
    def pages_per_s(self) -> float:
        """While it is busy."""
        return self.busy_pages / self.busy_s if self.busy_s else 0.0


def claim_order(round_: int, score: float, domain: int) -> tuple[int, float, int]:
    """`ORDER BY round, priority_score DESC, id` of `claim_domains`."""
    return round_, -score, domain


class Crawl:
    def __init__(
        self,
        web: SimulatedWeb,
        intervals: Mapping[Kind, float],
        scores: Sequence[float],
        fleet: ClusterLimits,
        *,
        turn_pages: int | None,
    ) -> None:
        self._kinds, self._scores, self._fleet, self._turn_pages = web.kinds, scores, fleet, turn_pages
        self._left = list(web.sizes)
        self._total = sum(web.sizes)
        self._intervals = [intervals[kind] for kind in web.kinds]
        self._waiting = [claim_order(0, score, domain) for domain, score in enumerate(scores)]
        heapq.heapify(self._waiting)
        self._turns: list[tuple[float, int, int]] = []
        """When each ends, in seconds of work; its domain; its pages."""
        self._work_s = 0.0
        self._newest_round = 0
        self._demand = 0.0
        """Pages a second that politeness lets those in queues have."""
        self._open = 0.0
        """Requests that are then open at once."""
        self._had = 0.0
        self._marks = list(MARKS)
        self.course = SimulationResult()

    def run(self, until_s: float) -> SimulationResult:
        """From the first request until all pages were had, or the time is over."""
        while (self._waiting or self._turns) and self.course.seconds < until_s:
            self.claim()
            self._run_step(until_s)
        course, is_done = self.course, not self._waiting and not self._turns
        course.pages = self._total if is_done else min(self._total, round(self._had))
        if is_done:
            course.reached_s[1.0] = course.seconds
        if BUSY not in course.reached_s:
            course.busy_pages, course.busy_turns, course.busy_s = course.pages, course.turns, course.seconds
        return course

    def claim(self) -> list[int]:
        """The best of those that wait, as long as there are queues; in the order they are taken."""
        taken = []
        while self._waiting and len(self._turns) < self._fleet.queues:
            round_, _, domain = heapq.heappop(self._waiting)
            self._newest_round = max(self._newest_round, round_)
            left, interval = self._left[domain], self._intervals[domain]
            pages = left if self._turn_pages is None else min(self._turn_pages, left)
            heapq.heappush(self._turns, (self._work_s + pages * interval, domain, pages))
            self._update_load(domain, 1)
            taken.append(domain)
        return taken

    def release(self) -> int:
        """The first turn that ends is over; who has pages left goes behind everybody who was claimed until now."""
        self._work_s, domain, pages = heapq.heappop(self._turns)
        self._left[domain] -= pages
        self._update_load(domain, -1)
        self.course.turns += 1
        if self._left[domain]:
            heapq.heappush(self._waiting, claim_order(self._newest_round + 1, self._scores[domain], domain))
        return domain

    def _update_load(self, domain: int, sign: int) -> None:
        interval = self._intervals[domain]
        self._demand += sign / interval
        self._open += sign * self._kinds[domain].response_s / interval

    def _run_step(self, until_s: float) -> None:
        """Time passes until the next turn ends."""
        course = self.course
        speed, limit = find_bottleneck(self._fleet, self._demand, self._open, is_full=bool(self._waiting))
        rate = self._demand * speed
        took_s = min((self._turns[0][0] - self._work_s) / speed, until_s - course.seconds)
        course.seconds += took_s
        if BUSY not in course.reached_s:
            course.limits_s[limit] = course.limits_s.get(limit, 0.0) + took_s
        course.most_pages_per_s = max(course.most_pages_per_s, rate)
        course.most_open = max(course.most_open, self._open * speed)
        course.most_lanes = max(course.most_lanes, len(self._turns))
        self._had += rate * took_s
        while self._marks and self._had >= self._marks[0] * self._total:
            share = self._marks.pop(0)
            at_s = course.reached_s[share] = course.seconds - (self._had - share * self._total) / rate
            course.busy_pages, course.busy_turns, course.busy_s = share * self._total, course.turns, at_s
        if course.seconds < until_s:
            self.release()


def find_bottleneck(fleet: ClusterLimits, demand: float, open_: float, *, is_full: bool) -> tuple[float, str]:
    """How fast queues go, 1 being as fast as politeness lets them, and what decides that."""
    shares = {
        "requests": fleet.requests_open / open_ if open_ else 1.0,
        "workers": fleet.worker_pages_per_s / demand,
        "database": fleet.database_pages_per_s / demand,
    }
    limit = min(shares, key=shares.__getitem__)
    if shares[limit] < 1.0:
        return shares[limit], limit
    return 1.0, "queues" if is_full else "pace"
