"""How far apart the requests to a domain really leave: from the crawl's own `Throttle`, on a simulated clock."""

import heapq
import random

from forager.app.scale.web import Kind
from forager.politeness.pace import LatencyTracker, Throttle

REQUESTS = 200
JITTER = 0.4
"""Answers of one server vary; one that takes much longer than usual is given more distance."""


def interval_s(kind: Kind, *, max_in_flight: int, is_adaptive: bool, seed: int = 1) -> float:
    """The mean distance of requests to a domain of this kind, over its first few hundred."""
    draw = random.Random(seed)  # noqa: S311 (no secrets here)
    pace = Throttle(
        delay_s=kind.delay_s, max_in_flight=max_in_flight, now=0.0, tempo=LatencyTracker() if is_adaptive else None
    )
    now, open_until = 0.0, list[tuple[float, float]]()
    for _ in range(REQUESTS):
        now = max(now, pace.next_at)
        while open_until and (open_until[0][0] <= now or not pace.can_start(now)):
            ended_at, took_s = heapq.heappop(open_until)
            now = max(now, ended_at)
            pace.finish()
            pace.note(took_s, is_good=True)
            now = max(now, pace.next_at)
        pace.start(now)
        pace.leave(now)
        took_s = kind.response_s * draw.lognormvariate(0, JITTER)
        heapq.heappush(open_until, (now + took_s, took_s))
    return now / (REQUESTS - 1)
