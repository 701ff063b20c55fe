"""A parsed page as tables: its elements by number, in the order of the page.

A parser in C (`c/tokenizer.h`, `c/builder.h`) fills the tables. Where nothing was compiled, turbohtml parses and
`python_tree.py` makes them of the markup that it writes. So whatever a rule asks for is a look into a table, for many
elements at once where it can be, and no object is made for an element that nobody asks for.

An element holds those from its own number up to `end`: whether one lies in another is a comparison of numbers.
"""

import re
from collections.abc import Callable
from itertools import islice
from typing import Protocol

import turbohtml

from forager.errors import DecodeError
from forager.parsing import compiled
from forager.parsing.python_tree import PythonTree
from forager.parsing.reopened import BODY, may_reopen

MOST_TAGS = 250_000
"""Of a page; what comes after them is left out. The largest real page we know has an eighth of it."""
MOST_REOPENED = 200_000
"""Formatting elements that blocks may open anew; the real page with the most has 1,100."""
MOST_BODIES = 100
CERTAINLY_FEW = 2_000
"""So few that our own parser opened again are few to turbohtml too, which remembers more of them at a time."""
FORMATTING = re.compile(r"</?(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/>])", re.IGNORECASE)


Picture = tuple[int, str, str, bool, str, int | None, int | None]
"""Element, how it was found (`img`, `srcset`, `lazy`, `picture`; `background`: the source is a style), the widest
source, whether that holds one of the words asked for, alternative text, declared width and height."""

Child = tuple[int, int, int, int, int]
"""Element, its end, its weights."""
Marked = tuple[str, bool, int, int, int, int, int, int]
"""The tag of an element where it is one of `names.AROUND_TAGS`, whether its own attributes hide it, the element, its
end, what its class, id and role say (a `Verdict` of `names.py`), its weights."""


class Tree(Protocol):
    """Numbers are those of elements; a number that is none raises IndexError."""

    def __len__(self) -> int:
        """How many elements there are."""

    def reopened(self) -> int | None:
        """Formatting elements that the parser opened again for blocks; None where it did not count them."""

    def tag(self, number: int, /) -> str:
        """In lower case."""

    def tags(self, *names: str) -> list[int]:
        """All elements of these names."""

    def parent(self, number: int, /) -> int:
        """-1: none."""

    def end(self, number: int, /) -> int:
        """The first number behind the element and all inside of it."""

    def block(self, number: int, /) -> int:
        """The innermost element around it that begins a line: a `div`, a `p`; perhaps itself."""

    def having(self, *names: str) -> list[int]:
        """All elements that have one of these attributes."""

    def find(self, names: tuple[str, ...], words: tuple[str, ...], /) -> list[int]:
        """All elements where one of these attributes holds one of these words, which are in lower case; a part of a
        longer word counts."""

    def get(self, number: int, name: str, /) -> str | None:
        """The value of an attribute."""

    def attributes(self, number: int, /) -> dict[str, str]: ...

    def column(self, numbers: list[int], name: str, /) -> list[str | None]:
        """The values of one attribute."""

    def rows(self, numbers: list[int], names: tuple[str, ...], /) -> list[tuple[str | None, ...]]:
        """The values of several, at most 32."""

    def pictures(  # noqa: PLR0917
        self,
        sets: tuple[str, ...],
        lazy: tuple[str, ...],
        words: tuple[str, ...],
        clean: Callable[[str], str],
        most: int,
        with_styles: bool,
        /,
    ) -> list[Picture]:
        """The elements `img` that have a source, and those whose style has a `url(`. `sets` and `lazy` are names of
        attributes for several sources and for one that is loaded later."""

    def links(
        self, clean_href: Callable[[str], str], clean_anchor: Callable[[str], str], longest: int, most: int, /
    ) -> tuple[list[str], list[str], list[str]]:
        """Addresses, anchor texts and kinds of the first links that lead somewhere. What is not plain is given to the
        functions."""

    def above(self, number: int, /) -> list[int]:
        """All elements around it, the nearest first."""

    def children(self, number: int, /) -> list[Child]:
        """Those that have text."""

    def next_marked(self, number: int, /) -> Marked | None:
        """The first element from this number on that is one of `names.AROUND_TAGS`, or hidden, or one of `NAMED_TAGS`
        whose class, id or role says something. What has no text says nothing and hides nothing."""

    def saying(self, verdict: int, /) -> list[Marked]:
        """All such elements that have paragraphs and say this, which is not `NOTHING`."""

    def linked(self, number: int, least: int, share: float, /) -> list[int]:
        """All elements of these tags inside of it that have `least` bytes of text, this share of them in links."""

    def raw(self, number: int, /) -> str:
        """The content of a script or style as it is; of others, all their text."""

    def text(self, number: int, /) -> str:
        """What a person reads of it, on one line; white space is one space, and between blocks there is one."""

    def texts(self, numbers: list[int], longest: int, /) -> list[str]:
        """The same for many, with what images say of themselves (`alt`), cut to so many characters."""

    def weights(self, number: int, /) -> tuple[int, int, int]:
        """Bytes of its text without white space: all that is shown, what of it stands in links, what in paragraphs.
        Controls (buttons, selects, drawings) do not count. A paragraph is a line of 80 bytes, at most half in links."""

    def lines(self, number: int, without: list[int], /) -> str:
        """Its text, line by line, without controls and without the elements in `without`, which is sorted."""

    def blocks(self, number: int, without: list[int], /) -> list[tuple[int, str, int]]:
        """The same as blocks: element, text (a line for each `br`), bytes of it in links."""

    def numbers(self, number: int, longest: int, /) -> list[tuple[int, str]]:
        """Texts with a digit, of at most so many bytes, with the element each stands in: where a price may be."""

    def runs(self, number: int, most: int, /) -> list[tuple[int, str]]:
        """Its texts one by one, each with the element it stands in, until they are so many bytes: `12` and `99` of
        `12<sup>99</sup>` are two."""


def parse(page: bytes | str) -> Tree:
    """Of UTF-8. Raises DecodeError when the parser gives up."""
    if isinstance(page, str):
        page = page.encode("utf-8", "replace")
    if compiled.native is not None:
        return compiled.native.Tree(page)
    try:
        return PythonTree(_write_tree(page.decode("utf-8", "replace")))
    except (ValueError, RuntimeError, RecursionError) as error:
        raise DecodeError(f"the page cannot be parsed: {error}") from error


def _write_tree(text: str) -> bytes:
    """The tree as turbohtml parses it, as well-formed markup."""
    return turbohtml.parse(bounded(text), positions=False, allow_declarative_shadow_roots=False).encode()


# turbohtml takes time in proportion to what it is given, except for three things that no page has which is meant to be
# read: too many elements for the memory, blocks that open hundreds of formatting elements again, a hundred bodies.
# The parser in C has these bounds built in (`c/nodes.h`).


def bounded(text: str, reopened: int | None = None) -> str:
    """The page without what would make its tree much larger than itself. Nothing is changed in an ordinary page.

    `reopened` is what `Tree.reopened` says of the page: to count it here takes ten times as long as to parse.
    """
    if text.count("<") > MOST_TAGS:
        text = _cut(text)
    if (reopened is None or reopened > CERTAINLY_FEW) and may_reopen(text, MOST_REOPENED):
        text = FORMATTING.sub("<!", text)
    if (further := next(islice(BODY.finditer(text), MOST_BODIES, None), None)) is not None:
        start = further.start()
        text = text[:start] + BODY.sub("<!", text[start:])
    return text


def _cut(text: str) -> str:
    place = -1
    for _ in range(MOST_TAGS):
        place = text.find("<", place + 1)
    return text[:place]
