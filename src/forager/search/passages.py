"""Selects the passages of a long text that contain the searched words, so that only they are marked. Pure.

PostgreSQL marks matches exactly, but parses every word for it; finding where they may be takes 0.3 ms a page. A word
may be anything that begins like a searched one; where none does, the beginning of the text is taken.
"""

import re
from collections.abc import Iterable

from forager.parsing.words import RUN

MOST_PASSAGES = 3
REACH = 400
"""Characters around a passage's first match."""
BEGINNING = 4000
LONGEST_TEXT = 400_000
MOST_MATCHES = 2000
SHORTEST = 3
"""Letters of a word that are compared at least: a stem need not be the whole beginning of a word."""


def select_passages(text: str, wanted: Iterable[str]) -> str:
    """Returns the best passages in the order of the text. `wanted` are stems, or words as typed."""
    text = text[:LONGEST_TEXT]
    if len(text) <= BEGINNING:
        return text
    starts = {_start_of(word) for word in wanted} - {""}
    found = _find(text.lower(), starts) if starts else []
    if not found:
        return text[:BEGINNING]
    passages: list[tuple[int, int]] = []
    for at in _rank(found):
        if all(abs(at - other) > REACH * 2 for _, other in passages):
            passages.append((0, at))
        if len(passages) == MOST_PASSAGES:
            break
    return " … ".join(_cut(text, at) for _, at in sorted(passages))


def _start_of(word: str) -> str:
    return word if RUN.match(word) else word[: max(SHORTEST, len(word) - 1)].lower()


def _find(text: str, starts: Iterable[str]) -> list[tuple[int, str]]:
    """Returns where a word begins like a wanted one, and like which."""
    ordered = sorted(starts, key=len, reverse=True)
    parts = [re.escape(start) if RUN.match(start) else rf"(?<!\w){re.escape(start)}" for start in ordered]
    matches = re.finditer("|".join(parts), text)
    return [(match.start(), match[0]) for match, _ in zip(matches, range(MOST_MATCHES), strict=False)]


def _rank(found: list[tuple[int, str]]) -> list[int]:
    """Returns the positions with the most different words behind them first."""
    scores = []
    for number, (at, _) in enumerate(found):
        near = {start for other, start in found[number : number + 20] if other - at <= REACH}
        scores.append((-len(near), at))
    return [at for _, at in sorted(scores)]


def _cut(text: str, at: int) -> str:
    """Returns the text around a position, from one end of a word to another."""
    start, end = max(0, at - REACH // 2), min(len(text), at + REACH)
    start = text.find(" ", start, at) + 1 or start if start else 0
    end = text.rfind(" ", at, end) if end < len(text) and " " in text[at:end] else end
    return text[start:end]
