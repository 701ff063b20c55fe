"""Counters added up in memory until a batch writes them, so that a page needs no statement of its own. Pure.

A counter has a metric and a label: `visits` by outcome, `status` by code, `fetch_s` by the bucket of a histogram.
Labels come from short fixed lists, never from the web, so that the tables stay small.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from forager.frontier.models import Outcome, OutcomeKind

LATENCY_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the buckets; larger values are counted in one more, `+Inf`."""
SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
INFINITE = "+Inf"
STAGES = ("fetch", "read", "learn", "record")
LATENCY_LABELS = (*map(str, LATENCY_S), INFINITE)
SIZE_LABELS = (*map(str, SIZES), INFINITE)
NOT_ASKED = frozenset({"cancelled", "blocked_robots"})
"""Outcomes of visits for which no request was made; rates exclude them."""
CODES = frozenset(map(str, range(100, 600)))


class CounterMap:
    """Amounts by metric and label."""

    __slots__ = ("amounts",)

    def __init__(self) -> None:
        self.amounts: dict[tuple[str, str], float] = {}

    def __bool__(self) -> bool:
        return bool(self.amounts)

    def add(self, metric: str, label: str = "", amount: float = 1.0) -> None:
        key = (metric, label)
        self.amounts[key] = self.amounts.get(key, 0.0) + amount

    def time(self, stage: str, *seconds: float) -> None:
        """Adds durations to the histogram of a stage."""
        for bucket, number in Counter([bisect_left(LATENCY_S, each) for each in seconds]).items():
            self.add(f"{stage}_s", LATENCY_LABELS[bucket], number)
        self.add(f"{stage}_s.sum", amount=sum(seconds))

    def size(self, pages: int) -> None:
        """Adds one batch of this number of pages."""
        self.add("batch_pages", SIZE_LABELS[bisect_left(SIZES, pages)])
        self.add("batch_pages.sum", amount=pages)

    def join(self, other: "CounterMap") -> None:
        for (metric, label), amount in other.amounts.items():
            self.add(metric, label, amount)

    def forget(self, other: "CounterMap") -> None:
        """Subtracts what was written; what was added meanwhile stays."""
        for key, amount in other.amounts.items():
            left = self.amounts.get(key, 0.0) - amount
            if left > 1e-9:
                self.amounts[key] = left
            else:
                self.amounts.pop(key, None)

    def copy(self) -> "CounterMap":
        copied = CounterMap()
        copied.amounts = dict(self.amounts)
        return copied

    def rows(self) -> Iterator[tuple[str, str, float]]:
        """Yields rows ordered by key, so that two processes that write the same rows cannot deadlock."""
        return ((metric, label, amount) for (metric, label), amount in sorted(self.amounts.items()))


def count_batch(done: Sequence[Outcome], *, drops: Mapping[str, int], seen: int, learned: int) -> CounterMap:
    """Returns the counters of a batch of finished visits. Images are counted separately, sitemaps and feeds by their
    bytes and links only: rates of pages exclude them."""
    tally = CounterMap()
    for how, number in Counter(
        [
            (o.target.is_image, o.kind, o.status_code, o.error.code if o.error else None)
            for o in done
            if not o.target.is_sitemap
        ]
    ).items():
        _count(tally, *how, number=number)
    for stage, times in (("fetch", [o.waited_s for o in done]), ("read", [o.read_s for o in done])):
        if known := [seconds for seconds in times if seconds is not None]:
            tally.time(stage, *known)
    tally.size(len(done))
    for metric, amount in (
        ("bytes", sum(o.wire_bytes for o in done)),
        ("links_seen", seen),
        ("pages_learned", learned),
    ):
        if amount:
            tally.add(metric, amount=amount)
    for reason, links in drops.items():
        tally.add("links_dropped", reason, links)
    return tally


def _count(
    tally: CounterMap,
    is_image: bool,
    kind: OutcomeKind,
    status_code: int | None,
    error_code: str | None,
    *,
    number: int,
) -> None:
    if is_image:
        return tally.add("images", kind.value, number)
    tally.add("visits", kind.value, number)
    if status_code is not None:
        code = str(status_code)
        tally.add("status", code if code in CODES else "other", number)
    if error_code is not None:
        tally.add("failures", error_code, number)
    return None
