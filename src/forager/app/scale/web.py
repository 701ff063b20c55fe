"""A web that is only numbers: how many pages each domain has, how much distance it asks for, how fast it answers.

All of it comes from a seed. Sizes fall as a power of the rank, as those of the real web do; without skew all are equal.
"""

import random
from dataclasses import dataclass

RESPONSE_CLASSES = 5
"""Domains are as fast as one of so many, so that each kind is paced once and not a hundred thousand times."""
RESPONSE_SPREAD = 0.8


@dataclass(frozen=True, slots=True)
class WebPlan:
    domains: int
    pages: int
    skew: float = 0.9
    """The domain at rank r has a size in proportion to r to the power of minus this."""
    delay_s: float = 1.0
    response_s: float = 0.5
    """The median of all domains."""
    slow_share: float = 0.05
    slow_delay_s: float = 10.0
    """So many domains ask for this distance in their robots.txt."""
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Kind:
    """Domains that are paced alike."""

    delay_s: float
    response_s: float


@dataclass(frozen=True, slots=True)
class SimulatedWeb:
    sizes: list[int]
    """Pages of each domain, the largest first: its place is its rank."""
    kinds: list[Kind]
    """Of each domain."""


def generate_web(plan: WebPlan) -> SimulatedWeb:
    draw = random.Random(plan.seed)  # noqa: S311 (no secrets here)
    answers = [plan.response_s * draw.lognormvariate(0, RESPONSE_SPREAD) for _ in range(RESPONSE_CLASSES)]
    delays = (plan.delay_s, max(plan.delay_s, plan.slow_delay_s))
    kinds = [[Kind(delay, answer) for answer in answers] for delay in delays]
    return SimulatedWeb(
        share_pages(plan.domains, plan.pages, plan.skew),
        [draw.choice(kinds[draw.random() < plan.slow_share]) for _ in range(plan.domains)],
    )


def share_pages(domains: int, pages: int, skew: float) -> list[int]:
    """Every domain has one page at least, and all together have as many as were asked for."""
    weights = [(rank + 1) ** -skew for rank in range(domains)]
    spare, total = max(0, pages - domains), sum(weights)
    sizes = [1 + int(spare * weight / total) for weight in weights]
    for rank in range(max(0, pages - sum(sizes))):  # what rounding left over
        sizes[rank % domains] += 1
    return sizes
