"""A memory of pages that are known, in front of the database: 60 links a page, nine of ten known.

It only spares look-ups. Forgetting costs a query, losing it loses nothing; it never says "known" of a page that is not.
Two generations make a cheap LRU: what is asked for moves to the young one, the old one is dropped whole.
"""

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Protocol

DEPTH_BITS = 10
DEEPEST = (1 << DEPTH_BITS) - 1


class KnownPages:
    """Key → page id and depth, packed into one int: about 120 bytes a page, at most twice `size` of them."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._young: dict[bytes, int] = {}
        self._old: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    @property
    def young(self) -> dict[bytes, int]:
        """For a loop, to look at: what is young now only. Whatever it says stays true; `get` knows more."""
        return self._young

    def get(self, key: bytes) -> int | None:
        """The packed page, to be opened with `page_id` and `depth`."""
        packed = self._young.get(key)
        if packed is None and (packed := self._old.get(key)) is not None:
            self._put(key, packed)
        return packed

    def add(self, key: bytes, page: int, depth: int) -> None:
        self._put(key, page << DEPTH_BITS | min(depth, DEEPEST))

    def _put(self, key: bytes, packed: int) -> None:
        self._young[key] = packed
        if len(self._young) >= self._size:
            self._old, self._young = self._young, {}


class SharedPages(Protocol):
    """What other workers know too: asked for what our own memory does not have, before the database is."""

    async def recall(self, keys: Collection[bytes]) -> Mapping[bytes, int]:
        """Packed pages, of those it knows."""

    async def tell(self, pages: Iterable[tuple[bytes, int]]) -> None:
        """Pages the database has named since: keys, packed. They are safe in it."""


class Unshared:
    """Every worker for itself."""

    async def recall(self, _keys: Collection[bytes]) -> Mapping[bytes, int]:
        return NONE

    async def tell(self, _pages: Iterable[tuple[bytes, int]]) -> None:
        return


NONE: Mapping[bytes, int] = MappingProxyType({})
UNSHARED = Unshared()


def pack(page: int, depth: int) -> int:
    return page << DEPTH_BITS | min(depth, DEEPEST)


def page_id(packed: int) -> int:
    return packed >> DEPTH_BITS


def depth_of(packed: int) -> int:
    return packed & DEEPEST
