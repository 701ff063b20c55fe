"""Decides when a sitemap or feed is read again: by how often it changed so far and by what it says itself. Pure."""

from forager.frontier.models import Past
from forager.parsing.models import Listing

FEEDS = frozenset({"rss", "atom", "json"})
FIRST_S, FIRST_FEED_S = 86_400.0, 6 * 3600.0
"""Interval before anything was observed."""
FEEDS_SOONER = 7.0
"""A feed lists only what is new: the longest interval of sitemaps is divided by this for feeds."""


def next_read_s(
    listing: Listing | None, past: Past | None, *, is_changed: bool | None, shortest_s: float, longest_s: float
) -> float:
    """Returns the seconds until the next reading; half the average time between two changes, once one was observed.
    `listing` is None for a file that did not change, or could not be read this time."""
    is_feed = listing is not None and listing.format in FEEDS
    if is_feed:
        longest_s = max(shortest_s, longest_s / FEEDS_SOONER)
    said_s = listing.update_s if listing is not None else None
    first_s = min(max(said_s or (FIRST_FEED_S if is_feed else FIRST_S), shortest_s), longest_s)
    past = past or Past(None, None, None, 0, 0, 0.0)
    is_compared = is_changed is not None
    changes = past.changes + bool(is_changed)
    watched_s = past.watched_s + (past.since_s if is_compared else 0.0)
    if not past.comparisons + is_compared:
        return first_s
    average_s = (watched_s + first_s) / (changes + 1)
    return min(max(average_s / 2 if changes else average_s, shortest_s), longest_s)
