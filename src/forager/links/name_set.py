"""A set of a million names in eight bytes each: a frozenset of strings would take a hundred.

Keeps a 64-bit hash of each name, so it may take a stranger for a member: with a million names once in 10^13 questions.
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
    """A set to which names are added while it is asked: the many it began with, and the few that came since."""

    def __init__(self, first: NameSet, up_to: int = 0) -> None:
        self._first = first
        self._added: set[str] = set()
        self.up_to = up_to
        """The last id that was looked at; who adds more goes on from there."""

    def __contains__(self, name: object) -> bool:
        return name in self._added or name in self._first

    def add(self, names: Iterable[str]) -> bool:
        """Whether any of them is new."""
        new = {name for name in names if name not in self}
        self._added |= new
        return bool(new)


def hash_name(name: str) -> int:
    """Python's own, which differs between processes: a set never leaves the one that made it."""
    return hash(name) & UNSIGNED
