"""Caches known pages in front of the database: a page has 60 links, nine of ten known.

The cache only saves look-ups. An eviction costs a query, and losing the cache loses nothing; it never reports an
unknown page as known.
"""

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Protocol

from forager.frontier import url_set
from forager.frontier.url_set import DEEPEST, DEPTH_BITS
from forager.links.models import Discovery

HIGHEST = (1 << 64 - DEPTH_BITS) - 1
"""Pages with a higher id are not cached; no database will ever have one."""


class UrlCache:
    """Key → page id and depth, packed into one int: 24 bytes a page, for at most `size` of them, or a few more."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._most_buckets = url_set.buckets_for(size)
        self._segments = url_set.make_segments(size)

    def __len__(self) -> int:
        return url_set.count_entries(self._segments)

    def clear(self) -> None:
        self._segments = url_set.make_segments(self._size)

    def get(self, key: bytes) -> int | None:
        """Returns the packed page; unpack it with `page_id` and `depth`."""
        return url_set.find_known(self._segments, key) or None

    def take(self, links: Iterable[Discovery], ids: dict[bytes, int]) -> list[Discovery]:
        """Adds to `ids` the cached pages of links that do not lower their depth. Returns the other links."""
        return url_set.take_known(links, self._segments, ids)

    def add(self, key: bytes, page: int, depth: int) -> None:
        self.add_all([(key, page, depth)])

    def add_all(self, pages: Iterable[tuple[bytes, int, int]]) -> None:
        """Adds pages, given by key, id and depth."""
        entry_of = url_set.entry_of
        self.add_entries(b"".join([entry_of(key, pack(page, deep)) for key, page, deep in pages if page <= HIGHEST]))

    def add_entries(self, entries: bytes) -> None:
        """Adds entries as built by `url_set.entry_of`, concatenated."""
        url_set.put_known(self._segments, entries, self._most_buckets)


class SharedPages(Protocol):
    """A cache shared with other workers: queried for what is not in the local cache, before the database."""

    async def recall(self, keys: Collection[bytes]) -> Mapping[bytes, int]:
        """Returns the packed pages of the keys it contains."""

    async def tell(self, pages: Iterable[tuple[bytes, int]]) -> None:
        """Adds pages that the database has returned, by key, packed. They are committed."""

    def clear(self) -> None:
        """Drops all entries after pages were deleted."""


class NullUrlCache:
    """A shared cache that stores nothing: every worker uses only its own."""

    async def recall(self, _keys: Collection[bytes]) -> Mapping[bytes, int]:
        return NONE

    async def tell(self, _pages: Iterable[tuple[bytes, int]]) -> None:
        return

    def clear(self) -> None:
        return


NONE: Mapping[bytes, int] = MappingProxyType({})
UNSHARED = NullUrlCache()


def pack(page: int, depth: int) -> int:
    return page << DEPTH_BITS | min(depth, DEEPEST)


def page_id(packed: int) -> int:
    return packed >> DEPTH_BITS


def depth_of(packed: int) -> int:
    return packed & DEEPEST
