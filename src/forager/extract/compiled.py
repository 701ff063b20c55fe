"""The C side of reading (`_native.c`), where it was built and the parser is as it knows it. Python does it all without.

`texts` needs nothing; `trees` walks Lexbor's trees by Lexbor's own functions, which are looked up in selectolax and
tried on a page that is known. Both are None where they cannot be used.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from selectolax import lexbor

if TYPE_CHECKING:
    from enum import Enum

    from selectolax.lexbor import LexborNode

    Judges = tuple[
        Callable[[str | None, str | None, str | None], Enum],
        Callable[[str], bool],
        Callable[[list[str]], int | None],
        tuple[Enum, Enum, Enum],
    ]

NAMES = (
    *("nav", "aside", "footer", "header", "form", "dialog", "div", "section", "ul", "h1", "h2", "h3", "main"),
    *("article", "a", "area", "iframe", "frame", "body", "html"),
    *("script", "style", "noscript", "button", "select", "svg"),
)
"""Elements that it tells apart."""
KNOWN = "A text that is longer than any number a node keeps. " * 79
PAGE = f"<p id=one class>{KNOWN}<b>and</b> <a href=/x rel=nofollow>more</a>"


class Texts(Protocol):
    """Of texts and bytes."""

    def weigh(self, text: str, /) -> int: ...
    def squeeze(self, text: str, /) -> bytes | None: ...
    def simhash(self, text: str, /) -> int | None: ...
    def first_words(self, text: str, count: int, window: int, /) -> str | None: ...
    def holds(self, page: bytes, word: bytes, /) -> bool: ...
    def overload(self, page: bytes, limits: tuple[int, int, int, int, int], /) -> int: ...


class Trees(Protocol):
    """Of trees, which stay as they are."""

    def bind(self, library: str, numbers: dict[str, int], node: "LexborNode", text: bytes, /) -> None: ...
    def count(self, root: "LexborNode", numbers: tuple[int, ...], /) -> tuple[int, ...]: ...
    def first_has(self, root: "LexborNode", kind: str, attribute: str, /) -> bool: ...
    def links(
        self, root: "LexborNode", has_body: bool, clean_href: Callable[[str], str], /
    ) -> tuple[list[str], list[str], list[str]] | None: ...
    def content(
        self, root: "LexborNode", body: "LexborNode | None", judges: "Judges", /
    ) -> tuple[str, list[str]] | None: ...


class Native(Texts, Trees, Protocol): ...


def _load() -> Native | None:
    try:
        return cast("Native", import_module("forager.extract._native"))
    except ImportError:
        return None


def _knows_trees(native: Native) -> bool:
    page = lexbor.LexborHTMLParser(PAGE)
    first, root = page.css_first("p"), page.root
    if first is None or first.first_child is None or root is None:
        return False
    numbers = {name: page.create_node(name).tag_id for name in NAMES}
    try:
        native.bind(lexbor.__file__, numbers, first.first_child, KNOWN.encode())
    except ImportError:
        return False
    counted = native.count(root, (numbers["a"], numbers["div"], numbers["body"]))
    return counted == (1, 0, 1) and native.links(root, True, str) == (["/x"], ["more"], ["a nofollow"])


_native = _load()
texts: Texts | None = _native
trees: Trees | None = _native if _native is not None and _knows_trees(_native) else None


@contextmanager
def left_out() -> Iterator[None]:
    """Python does it all meanwhile: to compare the two."""
    global texts, trees
    kept, texts, trees = (texts, trees), None, None
    try:
        yield
    finally:
        texts, trees = kept
