"""A worker that comes to a domain whose pages others learned, or that started anew, catches up with what is known.

Asking for a link costs some ten times what a known page costs that comes with its neighbours. So each that was asked
for in vain, as it was known all along, earns its domain ten of its pages, in the order of their keys. Once all of them
came, the same is earned again before the first one comes anew: the memory may have forgotten them. Whoever stays long
enough with a domain knows all of it, and what that costs is bounded by what asking cost: as much again or less where
the index answers, some four times as much where no vacuum came by for long. So it is, too, for a domain of which two
pages are visited, and for one that does not fit into the memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from forager.frontier.url_set import KEY, SLOT

EARNED = 10
"""Measured among 5 million pages: 10 to 13 µs for a link that is asked for, on both sides together. A page that comes
with others takes 0.4 where the index alone answers, and 4.5 where it has changed since the last vacuum."""
PORTION = 1000
MOST_AT_ONCE = 200_000
"""Of all domains together, in one statement: some 70 ms, or a second where all of them have changed."""
MOST_DOMAINS = 20_000
"""More than any worker holds leases of; who is forgotten begins again."""


@dataclass(slots=True)
class WarmupCursor:
    after: bytes = b""
    """The last key that came."""
    earned: int = 0
    came: int = 0
    """Pages, in this round."""


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
        """How many links of which domains were asked for and found. Answers what is to be fetched for it."""
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
        """What came. Where that was the end, the first page comes next."""
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
