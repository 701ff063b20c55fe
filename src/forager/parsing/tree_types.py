"""The interface of a parsed page, independent of the parser."""

from collections.abc import Callable
from typing import Protocol

Picture = tuple[int, str, str, bool, str, int | None, int | None]
"""Element, how it was found (`img`, `srcset`, `lazy`, `picture`; `background`: the source is a style), the widest
source, whether the source contains one of the given words, alternative text, declared width and height."""

Child = tuple[int, int, int, int, int]
"""Element, its end, its weights."""
Marked = tuple[str, bool, int, int, int, int, int, int]
"""The element's tag if it is one of `class_names.AROUND_TAGS`, whether its own attributes hide it, the element, its
end, the class of its class, id and role (a `NameClass` of `class_names.py`), its weights."""

Event = tuple[str, str | int | None]
"""What happens in a page, by a name: a tag with its element where it begins, with None where it ends; "" with a text,
or " " if there is white space before it; "cut" with an element that is left out."""


class Tree(Protocol):
    """Elements are identified by numbers; an invalid number raises IndexError."""

    def __len__(self) -> int:
        """Returns the number of elements."""

    def reopened(self) -> int | None:
        """Returns the number of formatting elements that the parser reopened for blocks; None if it did not count
        them."""

    def tag(self, number: int, /) -> str:
        """Returns the tag in lower case."""

    def tags(self, *names: str) -> list[int]:
        """Returns all elements with these tags."""

    def parent(self, number: int, /) -> int:
        """Returns the parent; -1: none."""

    def end(self, number: int, /) -> int:
        """Returns the first number after the element and its descendants."""

    def block(self, number: int, /) -> int:
        """Returns the innermost block element (`div`, `p`) around it, or the element itself."""

    def having(self, *names: str) -> list[int]:
        """Returns all elements that have one of these attributes."""

    def find(self, names: tuple[str, ...], words: tuple[str, ...], /) -> list[int]:
        """Returns all elements where one of these attributes contains one of these lower-case words; substrings
        count."""

    def get(self, number: int, name: str, /) -> str | None:
        """Returns the value of an attribute."""

    def attributes(self, number: int, /) -> dict[str, str]: ...

    def column(self, numbers: list[int], name: str, /) -> list[str | None]:
        """Returns the values of one attribute."""

    def rows(self, numbers: list[int], names: tuple[str, ...], /) -> list[tuple[str | None, ...]]:
        """Returns the values of several attributes, at most 32."""

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
        """Returns the `img` elements that have a source, and those whose style has a `url(`. `sets` and `lazy` are
        names of attributes for several sources and for a lazily loaded one."""

    def links(
        self, clean_href: Callable[[str], str], clean_anchor: Callable[[str], str], longest: int, most: int, /
    ) -> tuple[list[str], list[str], list[str]]:
        """Returns URLs, anchor texts and kinds of the first links that lead to another page. Values that are not plain
        are passed to the functions."""

    def above(self, number: int, /) -> list[int]:
        """Returns all ancestors, the nearest first."""

    def children(self, number: int, /) -> list[Child]:
        """Returns the children that have text."""

    def next_marked(self, number: int, /) -> Marked | None:
        """Returns the first element from this number on that is one of `class_names.AROUND_TAGS`, or hidden, or one of
        `NAMED_TAGS` with a class, id or role of known meaning. Elements without text are skipped."""

    def saying(self, verdict: int, /) -> list[Marked]:
        """Returns all such elements that have paragraphs and this class, which is not `NOTHING`."""

    def linked(self, number: int, least: int, share: float, /) -> list[int]:
        """Returns all descendants with these tags that have `least` bytes of text, this share of them in links."""

    def raw(self, number: int, /) -> str:
        """Returns the raw content of a script or style; for other elements, all their text."""

    def text(self, number: int, /) -> str:
        """Returns the visible text on one line; white space becomes one space, and blocks are separated by one."""

    def texts(self, numbers: list[int], longest: int, /) -> list[str]:
        """Returns the texts of many elements, including the `alt` of images, truncated to `longest` characters."""

    def weights(self, number: int, /) -> tuple[int, int, int]:
        """Returns bytes of text without white space: all visible text, the part in links, the part in paragraphs.
        Controls (buttons, selects, SVG) do not count. A paragraph is a line of 80 bytes, at most half in links."""

    def lines(self, number: int, without: list[int], /) -> str:
        """Returns the text line by line, without controls and without the elements in `without`, which is sorted."""

    def blocks(self, number: int, without: list[int], /) -> list[tuple[int, str, int]]:
        """Returns the same as blocks: element, text (a line for each `br`), bytes of it in links."""

    def numbers(self, number: int, longest: int, /) -> list[tuple[int, str]]:
        """Returns texts with a digit, of at most `longest` bytes, each with its element: candidates for a price."""

    def runs(self, number: int, most: int, /) -> list[tuple[int, str]]:
        """Returns the texts one by one, each with its element, up to `most` bytes in total: `12` and `99` of
        `12<sup>99</sup>` are two texts."""

    def stream(self, number: int, without: list[int], tags: tuple[str, ...], /) -> list[Event]:
        """Returns the inside of an element as a stream of these tags and all texts that are shown, as written; white
        space alone is a text only in a `pre`. Controls, and the elements in `without`, are left out."""
