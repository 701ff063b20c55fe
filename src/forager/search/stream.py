"""Lexemes with their places → one text for the search server, and the same for words in a row. Pure.

What a word is says PostgreSQL, for both engines: it stems by the language of a page, and of a page whose body was
dropped its lexemes are all there is. The server only cuts at spaces. A place that has no lexeme, since a common word
stood there, is a `_`, which the server leaves out without closing the gap.
"""

from collections.abc import Iterable, Sequence

GAP = "_"
LONGEST_GAP = 16
"""Words in a row are at most 32, and of those few are left out in a row."""


def write_stream(lexemes: Sequence[str], places: Sequence[int]) -> str:
    """Both in the order of the places. Of several lexemes at one place the others follow at the end, each apart: they
    are found, though not in a row with their neighbours."""
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
    """Those of the title, say, for who ranks; their order does not matter there."""
    return " ".join(dict.fromkeys(_filter_by_weight(lexemes, weights, wanted)))


def _filter_by_weight(lexemes: Sequence[str], weights: str, wanted: str) -> Iterable[str]:
    return (lexeme for lexeme, weight in zip(lexemes, weights, strict=True) if weight == wanted)
