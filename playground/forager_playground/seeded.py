"""Numbers from a seed: the same on every machine, in every process and Python version.

Of `random` only the raw stream is used: that is promised to stay, unlike what `choice` or `sample` make of it.
"""

import hashlib
import struct
from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def numbers(count: int, *key: object) -> tuple[int, ...]:
    """`count` numbers below 2**32 that belong to this key."""
    digest = hashlib.shake_128("\x1f".join(map(str, key)).encode()).digest(4 * count)
    return struct.unpack(f"<{count}I", digest)


def number(below: int, *key: object) -> int:
    return numbers(1, *key)[0] % below


def pick(items: Sequence[T], *key: object) -> T:
    return items[number(len(items), *key)]


def pick_many(items: Sequence[T], count: int, *key: object) -> list[T]:
    """Repeats are possible; that is what makes it cheap for a page of a thousand sentences."""
    size = len(items)
    return [items[n % size] for n in numbers(count, *key)]


def pick_distinct(items: Sequence[T], count: int, *key: object) -> list[T]:
    """At most `count` different items, in a seeded order."""
    rest = list(items)
    return [rest.pop(n % len(rest)) for n in numbers(min(count, len(rest)), *key)]


class Draws:
    """A stream of draws that belongs to a key: for pages that take thousands of them."""

    def __init__(self, *key: object) -> None:
        digest = hashlib.shake_128("\x1f".join(map(str, key)).encode()).digest(16)
        self.share = Random(int.from_bytes(digest, "little")).random  # noqa: S311 (no secrets here)
        """A number from 0 up to, not including, 1."""

    def below(self, bound: int) -> int:
        return int(self.share() * bound)

    def between(self, low: int, high: int) -> int:
        """From `low` to `high`, both included."""
        return low + int(self.share() * (high - low + 1))

    def chance(self, probability: float) -> bool:
        return self.share() < probability

    def pick(self, items: Sequence[T]) -> T:
        return items[int(self.share() * len(items))]

    def some(self, items: Sequence[T], count: int) -> list[T]:
        """`count` neighbours from a random start, round the end if it must be."""
        start = self.below(len(items))
        chosen = list(items[start : start + count])
        while len(chosen) < count:
            chosen += items[: count - len(chosen)]
        return chosen
