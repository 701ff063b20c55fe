"""Encodes lexemes with positions as one text for the search server, and likewise phrases. Pure.

PostgreSQL defines the words for both engines: it stems by the language of a page, and its lexemes are all that is left
of a page whose body was deleted. The server only splits at spaces. A position without a lexeme, that of a stop word, is
a `_`, which the server drops without closing the gap.
"""

from collections.abc import Iterable, Sequence

GAP = "_"
LONGEST_GAP = 16
"""A phrase has at most 32 words, and few of them in a row are dropped."""


def write_stream(lexemes: Sequence[str], places: Sequence[int]) -> str:
    """Takes both in position order. Of several lexemes at one position, the extra ones are appended at the end,
    apart from each other: they are found, but not as part of a phrase."""
    words: list[str] = []
    beside: list[str] = []
    last = places[0] - 1 if places else 0
    for lexeme, place in zip(lexemes, places, strict=True):
        if place == last:
            beside.append(lexeme)
            continue
        words += [GAP] * min(place - last - 1, LONGEST_GAP)
        words.append(lexeme)
        last = place
    for lexeme in beside:
        words += [GAP, lexeme]
    return " ".join(words)


def of_weight(lexemes: Sequence[str], weights: str, wanted: str) -> str:
    """Returns the lexemes of one weight, such as the title's, for ranking; their order does not matter there."""
    return " ".join(dict.fromkeys(_filter_by_weight(lexemes, weights, wanted)))


def _filter_by_weight(lexemes: Sequence[str], weights: str, wanted: str) -> Iterable[str]:
    return (lexeme for lexeme, weight in zip(lexemes, weights, strict=True) if weight == wanted)
