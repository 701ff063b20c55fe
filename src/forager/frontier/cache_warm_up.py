"""Warms up the URL cache of a worker that restarted, or that leases a domain whose pages other workers enqueued.

Looking up one link costs about ten times as much as loading a known page together with its neighbours. So each look-up
of a link that turns out to be known earns its domain ten pages, loaded in key order. Once all pages were loaded, the
same number must be earned before the first one is loaded again: the cache may have evicted them. A worker that stays
with a domain long enough knows all of it, and the cost is bounded by the cost of the look-ups: at most the same again
for index-only scans, about four times as much without a recent vacuum. This also holds for a domain of which two pages
are visited, and for one that does not fit into the cache.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from forager.frontier.url_set import KEY, SLOT

EARNED = 10
"""Measured with 5 million pages: 10 to 13 µs for a link that is looked up, client and server together. A page loaded
with others takes 0.4 µs with an index-only scan, and 4.5 µs where the index changed since the last vacuum."""
PORTION = 1000
MOST_AT_ONCE = 200_000
"""Pages of all domains together in one statement: about 70 ms, or a second if all of them have changed."""
MOST_DOMAINS = 20_000
"""More than the leases of any worker; a domain that is evicted starts again."""


@dataclass(slots=True)
class WarmupCursor:
    after: bytes = b""
    """The last key that was loaded."""
    earned: int = 0
    came: int = 0
    """Pages loaded in this round."""


@dataclass(frozen=True, slots=True)
class KeyRange:
    domain_id: int
    after: bytes
    most: int


class CacheWarmup:
    def __init__(self) -> None:
        self._places: dict[int, WarmupCursor] = {}

    def clear(self) -> None:
        self._places.clear()

    def note(self, found: Mapping[int, int]) -> list[KeyRange]:
        """Records the number of links, by domain, that were looked up and found. Returns the key ranges to load."""
        portions: list[KeyRange] = []
        left = MOST_AT_ONCE
        for domain, links in found.items():
            place = self._get_cursor(domain)
            place.earned += links * EARNED
            if place.earned >= PORTION and left >= PORTION:
                most = min(place.earned, left)
                left -= most
                portions.append(KeyRange(domain, place.after, most))
        return portions

    def add_loaded(self, portion: KeyRange, entries: bytes) -> None:
        """Records the loaded entries. At the end of a domain, the next range starts with its first page."""
        place = self._get_cursor(portion.domain_id)
        place.earned -= portion.most
        place.came += len(entries) // SLOT
        if len(entries) == portion.most * SLOT:
            place.after = entries[-SLOT : KEY - SLOT]
        else:
            place.after, place.earned, place.came = b"", place.earned - place.came, 0

    def _get_cursor(self, domain: int) -> WarmupCursor:
        place = self._places.get(domain)
        if place is None:
            if len(self._places) >= MOST_DOMAINS:
                del self._places[next(iter(self._places))]
            place = self._places[domain] = WarmupCursor()
        return place
