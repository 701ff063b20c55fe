"""Sets the price of a request in each adaptive domain, so that its revisits stay within their budget.

Computed from the observed change rates of its pages. A domain without a budget of its own spends a small part of what
its pace would allow.
"""

import asyncio
from collections.abc import Sequence

from forager.db.types import Connection
from forager.domains import cooldown
from forager.domains.cooldown import Adaptive
from forager.domains.page_batches import batch_by_pages
from forager.frontier import revisit_store as revisits
from forager.frontier.revisit import DAY_S, change_rate, initial_interval, price_for
from forager.frontier.revisit_store import Sample
from forager.scheduler.job import Job, JobContext, Loop
from forager.scheduler.text import things

FREQUENCY_S = DAY_S
"""Assumed interval between changes when nothing is known, not even the frequency of the domain."""
PART_OF_PACE = 0.05
SHORTEST_DELAY_S = 0.1
"""A domain without a delay has no natural budget; it gets the budget of a fast one."""
MOST_SAMPLED = 2000
"""Pages sampled per domain: enough for an error of a few percent, and computed in a tenth of a second."""
BATCH = 500


class RevisitPriceJob(Job):
    name = "revisit_price"
    interval_s = 3600.0
    loop = Loop.SLOW

    async def run(self, context: JobContext) -> str:
        conn = context.connection
        priced = last = 0
        while found := await cooldown.find_adaptive(conn, after=last, limit=BATCH):
            for portion in batch_by_pages(found, most_pages=50_000, most_domains=BATCH):
                prices = await _price(conn, portion, context.settings.politeness.delay)
                await cooldown.set_prices(conn, prices)
                priced += len(prices)
            last = found[-1].id
        return f"{things(priced, 'price')} set"


async def _price(conn: Connection, domains: Sequence[Adaptive], delay_s: float) -> dict[int, float]:
    by_id = {domain.id: domain for domain in domains}
    samples = await revisits.sample_watches(conn, list(by_id), limit=MOST_SAMPLED)
    return await asyncio.to_thread(
        lambda: {s.domain_id: price_of(by_id[s.domain_id], s, delay_s) for s in samples if s.watches}
    )


def price_of(domain: Adaptive, sample: Sample, delay_s: float) -> float:
    """Returns the price at which the sample spends its share of the budget of the domain."""
    prior_s = initial_interval(domain.revisit_every_s or FREQUENCY_S, domain.price)
    rates = [change_rate(*watch, prior_interval_s=prior_s) for watch in sample.watches]
    share = sample.looked_at / max(domain.pages, sample.looked_at)
    return price_for(rates, requests_per_day(domain, delay_s) * share)


def requests_per_day(domain: Adaptive, delay_s: float) -> float:
    if domain.revisits_per_day is not None:
        return domain.revisits_per_day
    pace_s = domain.delay_s if domain.delay_s is not None else delay_s
    return PART_OF_PACE * DAY_S / max(pace_s, SHORTEST_DELAY_S)
