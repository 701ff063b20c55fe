"""A memory of pages that are known, in front of the database: 60 links a page, nine of ten known.

It only spares look-ups. Forgetting costs a query, losing it loses nothing; it never says "known" of a page that is not.
"""

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Protocol

from forager.frontier import url_set
from forager.frontier.url_set import DEEPEST, DEPTH_BITS
from forager.links.models import Discovery

HIGHEST = (1 << 64 - DEPTH_BITS) - 1
"""A page beyond it is not remembered; nobody will ever have one."""


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
        """The packed page, to be opened with `page_id` and `depth`."""
        return url_set.find_known(self._segments, key) or None

    def take(self, links: Iterable[Discovery], ids: dict[bytes, int]) -> list[Discovery]:
        """Puts the pages of links that it knows, and that come no nearer by them, into `ids`. Answers the others."""
        return url_set.take_known(links, self._segments, ids)

    def add(self, key: bytes, page: int, depth: int) -> None:
        self.add_all([(key, page, depth)])

    def add_all(self, pages: Iterable[tuple[bytes, int, int]]) -> None:
        """Key, page, depth."""
        entry_of = url_set.entry_of
        self.add_entries(b"".join([entry_of(key, pack(page, deep)) for key, page, deep in pages if page <= HIGHEST]))

    def add_entries(self, entries: bytes) -> None:
        """As `url_set.entry_of` makes them, in one string."""
        url_set.put_known(self._segments, entries, self._most_buckets)


class SharedPages(Protocol):
    """What other workers know too: asked for what our own memory does not have, before the database is."""

    async def recall(self, keys: Collection[bytes]) -> Mapping[bytes, int]:
        """Packed pages, of those it knows."""

    async def tell(self, pages: Iterable[tuple[bytes, int]]) -> None:
        """Pages the database has named since: keys, packed. They are safe in it."""

    def clear(self) -> None:
        """Pages were deleted: what it knew before is void."""


class NullUrlCache:
    """Every worker for itself."""

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
