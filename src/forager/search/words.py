"""A query as a person types it → what it asks for. Pure; every text is a query.

Words stand for all of them; "words in quotes" for these words in this order; a minus for without; OR, in capitals,
joins its two neighbours. What is too much is left out: nobody reads the results of a thousand words.
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
    """A word, or several in a row."""

    text: str
    is_phrase: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """All groups are wanted, of each at least one leaf; none of the unwanted."""

    groups: tuple[tuple[Leaf, ...], ...] = ()
    unwanted: tuple[Leaf, ...] = ()
    is_cut: bool = False
    """There was more of it than is looked at."""

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
    """Whether a minus stands before it, and the leaf; None for OR."""
    for minus, phrase, word in TOKEN.findall(text):
        if word in {"OR", "|"} and not minus:
            yield False, None
            continue
        is_minus = bool(minus) or word.startswith("-")
        words = [each[:LONGEST_WORD] for each in (phrase or word).split() if WORD.search(each)]
        if words:
            yield is_minus, Leaf(" ".join(words[: MOST_WORDS + 1]), is_phrase=len(words) > 1)
