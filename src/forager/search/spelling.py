"""Which known word somebody meant who wrote an unknown one. Pure.

A word is kept with checksums of itself and of itself without each of its letters, accents folded; what was typed is
looked up without up to two of its letters. So one letter wrong, missing, too many or swapped is found by a handful of
exact lookups, and so are most pairs of such slips, at any number of words.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from zlib import crc32

WORD = re.compile(r"[^\W\d_]{3,30}")
LOOSE_FROM = 6
"""Letters from which two slips are forgiven."""
SHORTEST = 4
"""Shorter words have too many neighbours to be corrected."""


def words_of(*texts: str | None) -> Counter[str]:
    """Words worth knowing, in small letters, each counted once per call."""
    return Counter({word for text in texts if text for word in WORD.findall(text.lower())})


@lru_cache(maxsize=20_000)
def fold(word: str) -> str:
    """Without accents."""
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFKD", word)
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


def near_marks(word: str) -> list[int]:
    """What is kept with a known word."""
    folded = fold(word)
    near = {folded, *(folded[:place] + folded[place + 1 :] for place in range(len(folded)))}
    return [_checksum(each) for each in sorted(near)]


def lookup_marks(word: str) -> list[int]:
    """What an unknown word is looked up by."""
    folded = fold(word)
    return [_checksum(each) for each in sorted(_without(folded, 2 if len(folded) >= LOOSE_FROM else 1))]


def select_best(word: str, known: Iterable[tuple[str, int]]) -> str | None:
    """The most likely of the words found by a lookup, each with how often it was seen."""
    folded = fold(word)
    most = 0 if len(folded) < SHORTEST else 2 if len(folded) >= LOOSE_FROM else 1
    ranked = sorted(
        (far, -seen, other) for other, seen in known if (far := distance(folded, fold(other))) <= most and other != word
    )
    return ranked[0][2] if ranked else None


def distance(one: str, other: str) -> int:
    """Letters to change, add, drop or swap with the next, each place at most once."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        now = [row]
        for column, against in enumerate(other, 1):
            best = min(last[column] + 1, now[-1] + 1, last[column - 1] + (letter != against))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == against:
                best = min(best, before[column - 2] + 1)
            now.append(best)
        before, last = last, now
    return last[-1]


def _without(word: str, most: int) -> set[str]:
    return {word, *(each for count in range(1, most + 1) for each in _drop(word, count))}


def _drop(word: str, count: int) -> Iterator[str]:
    for places in combinations(range(len(word)), count):
        yield "".join(letter for place, letter in enumerate(word) if place not in places)


def _checksum(text: str) -> int:
    """Signed, as the database keeps it."""
    value = crc32(text.encode())
    return value - (1 << 32) if value >> 31 else value


def replace(text: str, corrections: Sequence[tuple[str, str]]) -> str:
    """The query with its misspelled words replaced, and everything else as it was typed."""
    table = dict(corrections)
    return re.sub(r"[^\W\d_]+", lambda found: table.get(found[0].lower(), found[0]), text)
