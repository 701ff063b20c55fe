"""Finds the known word a misspelled one was meant to be. Pure.

A known word is stored with checksums of itself and of itself without each one of its letters, accents removed; a typed
word is looked up with up to two of its letters removed. So a wrong, missing, extra or swapped letter is found by a
handful of exact lookups, and so are most pairs of such errors, for any number of words.
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
"""Number of letters from which two errors are tolerated."""
SHORTEST = 4
"""Shorter words have too many neighbours to be corrected."""


def words_of(*texts: str | None) -> Counter[str]:
    """Returns words worth storing, in lower case, each counted once per call."""
    return Counter({word for text in texts if text for word in WORD.findall(text.lower())})


@lru_cache(maxsize=20_000)
def fold(word: str) -> str:
    """Removes accents."""
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFKD", word)
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


def near_marks(word: str) -> list[int]:
    """Returns the checksums stored with a known word."""
    folded = fold(word)
    near = {folded, *(folded[:place] + folded[place + 1 :] for place in range(len(folded)))}
    return [_checksum(each) for each in sorted(near)]


def lookup_marks(word: str) -> list[int]:
    """Returns the checksums an unknown word is looked up by."""
    folded = fold(word)
    return [_checksum(each) for each in sorted(_without(folded, 2 if len(folded) >= LOOSE_FROM else 1))]


def select_best(word: str, known: Iterable[tuple[str, int]]) -> str | None:
    """Returns the most likely of the words found by a lookup, each given with its frequency."""
    folded = fold(word)
    most = 0 if len(folded) < SHORTEST else 2 if len(folded) >= LOOSE_FROM else 1
    ranked = sorted(
        (far, -seen, other) for other, seen in known if (far := distance(folded, fold(other))) <= most and other != word
    )
    return ranked[0][2] if ranked else None


def distance(one: str, other: str) -> int:
    """Returns the number of letters to change, add, remove or swap with the next, each position at most once."""
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
    """Returns a signed integer, as stored in the database."""
    value = crc32(text.encode())
    return value - (1 << 32) if value >> 31 else value


def replace(text: str, corrections: Sequence[tuple[str, str]]) -> str:
    """Replaces the misspelled words of the query and keeps everything else as typed."""
    table = dict(corrections)
    return re.sub(r"[^\W\d_]+", lambda found: table.get(found[0].lower(), found[0]), text)
