"""Limits how many new URLs the pages of a domain add in a second, so that one source cannot flood the frontier.

No link is lost: all links of a page are enqueued, and the domain makes its next request later, until its average is
within the limit again. The wait is small against the crawl: a site whose new pages are visited one a second spends at
most one second in a hundred on a limit of 100. Domains without a delay are the operator's own: only a
limit that was chosen for them holds, not that of the instance.
"""

from collections.abc import Iterable, Sequence

from forager import clock
from forager.engine.domain_queues import DomainQueues
from forager.frontier.models import Outcome

BURST_S = 10.0
"""A domain may add at once what the limit allows in this time: a page comes with all of its links."""
LONGEST_HOLD_S = 60.0
"""One hold is not longer, so that the lease stays; the rest is waited for after the next request."""


class TokenBucket:
    """Tokens for new URLs: `rate` are added in a second, up to a burst. Pure; the level may become negative."""

    def __init__(self, rate: float, now: float) -> None:
        self.rate = rate
        self._level = self._most = rate * BURST_S
        self._at = now

    def take(self, count: int, now: float) -> float:
        """Takes tokens for URLs that were added. Returns the seconds until the level is no longer negative."""
        self._level = min(self._most, self._level + max(0.0, now - self._at) * self.rate) - count
        self._at = now
        return max(0.0, -self._level / self.rate)

    def is_full(self, now: float) -> bool:
        return self._level + (now - self._at) * self.rate >= self._most


class NewUrlLimit:
    """The buckets of the domains that a worker holds."""

    def __init__(self, queues: DomainQueues, default: float | None = None) -> None:
        self._queues = queues
        self._default = default
        self._buckets: dict[int, TokenBucket] = {}

    def apply(self, outcomes: Sequence[Outcome], added: set[bytes]) -> None:
        """Delays the next request of domains whose pages added too many URLs: those with the keys `added`."""
        now = clock.monotonic()
        for domain, count in count_added(outcomes, added).items():
            queue = self._queues.get(domain)
            rate = queue.lease.settings.max_new_urls_per_second if queue is not None else None
            if queue is None or rate is None or (queue.is_unpaced and rate == self._default):
                continue
            bucket = self._buckets.get(domain)
            if bucket is None or bucket.rate != rate:
                bucket = self._buckets[domain] = TokenBucket(rate, now)
            wait_s = bucket.take(count, now)
            if wait_s > 0:
                reason = f"its pages added more than {rate:g} new URLs a second"
                queue.hold(now, min(wait_s, LONGEST_HOLD_S), reason)
        if len(self._buckets) > 2 * len(self._queues):
            self._buckets = {domain: bucket for domain, bucket in self._buckets.items() if not bucket.is_full(now)}


def count_added(outcomes: Iterable[Outcome], added: set[bytes]) -> dict[int, int]:
    """Returns domain → number of new URLs that its pages led to; a URL counts for the first page that has it."""
    left, counts = set(added), dict[int, int]()
    for outcome in outcomes:
        if not left:
            break
        new = {link.key for link in outcome.selection.links} & left
        if new:
            left -= new
            domain = outcome.target.domain_id
            counts[domain] = counts.get(domain, 0) + len(new)
    return counts
