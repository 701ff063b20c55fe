"""A set of a million names at eight bytes each; a frozenset of strings takes about a hundred.

Stores a 64-bit hash of each name, so false positives are possible: with a million names, one in 10^13 lookups.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable

UNSIGNED = 2**64 - 1


class NameSet:
    def __init__(self, hashes: Iterable[int]) -> None:
        self._hashes = array("Q", sorted(hashes))

    @classmethod
    def of(cls, names: Iterable[str]) -> "NameSet":
        return cls(map(hash_name, names))

    def __contains__(self, name: object) -> bool:
        wanted = hash_name(str(name))
        place = bisect_left(self._hashes, wanted)
        return place < len(self._hashes) and self._hashes[place] == wanted

    def __len__(self) -> int:
        return len(self._hashes)


class MutableNameSet:
    """A set that grows while in use: a large initial set, and the few names added since."""

    def __init__(self, first: NameSet, up_to: int = 0) -> None:
        self._first = first
        self._added: set[str] = set()
        self.up_to = up_to
        """The last id that was read; the caller that adds more names continues from there."""

    def __contains__(self, name: object) -> bool:
        return name in self._added or name in self._first

    def add(self, names: Iterable[str]) -> bool:
        """Adds the names; returns whether any of them is new."""
        new = {name for name in names if name not in self}
        self._added |= new
        return bool(new)


def hash_name(name: str) -> int:
    """Returns Python's own hash, which differs between processes: a set never leaves the process that built it."""
    return hash(name) & UNSIGNED
