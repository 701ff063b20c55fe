"""What a parsed page offers its readers, whatever parsed it."""

from collections.abc import Callable
from typing import Protocol

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
