"""What a request must be worth in each adaptive domain, so that its revisits keep within their budget.

Made from the rates of change its pages were seen to have. Without a budget of its own a domain spends a small part of
what its pace would allow.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from forager.domains import cooldown
from forager.domains.cooldown import Adaptive
from forager.domains.portions import portions
from forager.frontier import revisits
from forager.frontier.revisit import DAY_S, change_rate, initial_interval, price_for
from forager.frontier.revisits import Sample
from forager.scheduler.config import SchedulerConfig
from forager.scheduler.text import things

NAME = "revisit_price"
EVERY_S = 3600.0
FREQUENCY_S = DAY_S
"""How often a page is thought to change when nothing is known, not even its domain's frequency."""
PART_OF_PACE = 0.05
SHORTEST_DELAY_S = 0.1
"""A domain without pace has no natural budget; it gets that of a fast one."""
MOST_SAMPLED = 2000
"""Pages of one domain that are looked at: enough for a few percent, and a tenth of a second to compute."""
BATCH = 500


async def run_once(conn: Any, order: SchedulerConfig) -> str:
    priced = last = 0
    while found := await cooldown.find_adaptive(conn, after=last, limit=BATCH):
        for portion in portions(found, most_pages=50_000, most_domains=BATCH):
            prices = await _price(conn, portion, order.delay_s)
            await cooldown.set_prices(conn, prices)
            priced += len(prices)
        last = found[-1].id
    return f"{things(priced, 'price')} set"


async def _price(conn: Any, domains: Sequence[Adaptive], delay_s: float) -> dict[int, float]:
    by_id = {domain.id: domain for domain in domains}
    samples = await revisits.sample_watches(conn, list(by_id), limit=MOST_SAMPLED)
    return await asyncio.to_thread(
        lambda: {s.domain_id: price_of(by_id[s.domain_id], s, delay_s) for s in samples if s.watches}
    )


def price_of(domain: Adaptive, sample: Sample, delay_s: float) -> float:
    """The sample pays with its share of the domain's budget."""
    prior_s = initial_interval(domain.revisit_every_s or FREQUENCY_S, domain.price)
    rates = [change_rate(*watch, prior_interval_s=prior_s) for watch in sample.watches]
    share = sample.looked_at / max(domain.pages, sample.looked_at)
    return price_for(rates, requests_per_day(domain, delay_s) * share)


def requests_per_day(domain: Adaptive, delay_s: float) -> float:
    if domain.revisits_per_day is not None:
        return domain.revisits_per_day
    pace_s = domain.delay_s if domain.delay_s is not None else delay_s
    return PART_OF_PACE * DAY_S / max(pace_s, SHORTEST_DELAY_S)
