"""Numbers from a seed: the same on every machine, in every process and Python version.

`random` is not used: only its raw stream is promised to stay, not what `choice` or `sample` make of it.
"""

import hashlib
import struct
from collections.abc import Sequence
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
