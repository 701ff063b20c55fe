"""Which elements a page may have, told from its bytes. Promises only what is not there, never what is.

To ask a parsed page for one kind of element is a walk of its whole tree; reading asks for thirty kinds, and a page has
some ten. The beginnings of all tags are found at once in the time of seven walks, numpy's, which the language detector
brings along. What only looks like a tag, in a comment or a script, costs a walk in vain and nothing else.
"""

from functools import cache
from typing import NamedTuple

LETTERS = 3
"""Of a name that are told apart: `header` and `head` are one, `time` and `title` are not."""
BITS = 5
"""Of a letter: upper and lower case are one, and what is no letter falls on some letter."""
MASK = (1 << BITS) - 1
SLOTS = 1 << LETTERS * BITS
OTHER_TAGS = {"img": "image"}
"""Tags from which the parser makes an element of another name."""
IMPLIED = frozenset({"html", "head", "body", "tbody", "tr", "colgroup", "p", "br"})
"""What the parser adds where no tag says so."""


class Census(NamedTuple):
    tags: int
    """How many begin, at the most: how often there is a `<`."""
    seen: bytearray
    """By the first letters of a name: 1 where some tag begins so."""

    def may_have(self, name: str) -> bool:
        first, last = slots_of(name)
        return first == last or self.seen.find(1, first, last) >= 0


def take_census(page: bytes) -> Census:
    import numpy as np

    letters = np.frombuffer(page, np.uint8)
    places = (letters == ord("<")).nonzero()[0]
    codes = np.zeros(len(places), np.intp)
    for _ in range(LETTERS):
        places += 1
        codes <<= BITS
        codes |= letters.take(places, mode="clip") & MASK
    seen = bytearray(SLOTS)
    np.frombuffer(seen, np.uint8)[codes] = 1
    return Census(len(places), seen)


@cache
def slots_of(name: str) -> tuple[int, int]:
    """Where the tags are counted that could become this element, from and to; an empty range where none is needed."""
    if name in IMPLIED:
        return 0, 0
    ranges = [_slots_of_tag(tag) for tag in (name, OTHER_TAGS.get(name, name))]
    return min(first for first, _ in ranges), max(last for _, last in ranges)


def _slots_of_tag(tag: str) -> tuple[int, int]:
    """One slot, or all that a short name leaves open: whatever may stand behind it."""
    code = 0
    for letter in tag[:LETTERS].encode():
        code = code << BITS | letter & MASK
    open_bits = max(0, LETTERS - len(tag)) * BITS
    return code << open_bits, (code + 1) << open_bits
