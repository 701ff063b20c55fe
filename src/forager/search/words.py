"""Parses a search query as typed by a user. Pure; every text is a valid query.

All words must match; "words in quotes" match as a phrase; a minus excludes; OR, in capitals, joins its two neighbours.
Excess words are ignored: results for a thousand words are of no use.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MOST_WORDS = 32
LONGEST_WORD = 100
LONGEST_QUERY = 4000

QUOTES = str.maketrans("“”„‟«»", '""""""')
TOKEN = re.compile(r'(-?)(?:"([^"]*)"?|([^\s"]+))')
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A word or a phrase."""

    text: str
    is_phrase: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """Every group must match with at least one of its leaves; no unwanted leaf may match."""

    groups: tuple[tuple[Leaf, ...], ...] = ()
    unwanted: tuple[Leaf, ...] = ()
    is_cut: bool = False
    """The query was longer than the limit and was truncated."""

    @property
    def terms(self) -> list[Leaf]:
        return [*(leaf for group in self.groups for leaf in group), *self.unwanted]


def parse(text: str) -> Wanted:
    clean = text.replace("\0", " ").encode(errors="replace").decode()
    groups: list[tuple[Leaf, ...]] = []
    unwanted: list[Leaf] = []
    is_joined = False
    count = 0
    for is_minus, leaf in _parse_tokens(clean[:LONGEST_QUERY].translate(QUOTES)):
        if leaf is None:
            is_joined = bool(groups)
            continue
        count += len(leaf.text.split())
        if count > MOST_WORDS:
            break
        if is_minus:
            unwanted.append(leaf)
        elif is_joined:
            groups[-1] = (*groups[-1], leaf)
        else:
            groups.append((leaf,))
        is_joined = False
    is_cut = count > MOST_WORDS or len(clean) > LONGEST_QUERY
    return Wanted(tuple(dict.fromkeys(groups)), tuple(dict.fromkeys(unwanted)), is_cut)


def _parse_tokens(text: str) -> Iterator[tuple[bool, Leaf | None]]:
    """Yields whether a minus precedes the leaf, and the leaf; None for OR."""
    for minus, phrase, word in TOKEN.findall(text):
        if word in {"OR", "|"} and not minus:
            yield False, None
            continue
        is_minus = bool(minus) or word.startswith("-")
        words = [each[:LONGEST_WORD] for each in (phrase or word).split() if WORD.search(each)]
        if words:
            yield is_minus, Leaf(" ".join(words[: MOST_WORDS + 1]), is_phrase=len(words) > 1)
