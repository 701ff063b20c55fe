"""The C part of the parser (`_native.c`); None where it was not built, and Python does all the work."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from mmap import mmap
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from forager.parsing.tree_types import Tree


class Native(Protocol):
    def weigh(self, text: str, /) -> int: ...
    def squeeze(self, text: str, /) -> bytes: ...
    def simhash(self, text: str, /) -> int | None: ...
    def first_words(self, text: str, count: int, window: int, /) -> str | None: ...
    def utf8_surplus(self, page: bytes, /) -> int: ...
    def language_probabilities(self, table: bytes | mmap, text: bytes, /) -> list[float]: ...
    def holds(self, page: bytes, word: bytes, /) -> bool: ...
    def set_names(  # noqa: PLR0917
        self,
        words: dict[str, int],
        tokens: dict[str, int],
        beginnings: dict[str, int],
        roles: dict[str, int],
        passed_over: dict[str, int],
        around: tuple[str, ...],
        named: tuple[str, ...],
        /,
    ) -> None: ...
    def Tree(self, page: str | bytes, /) -> "Tree": ...  # noqa: N802 (a class, asked for like a function)


def _load() -> Native | None:
    try:
        return cast("Native", import_module("forager.parsing._native"))
    except ImportError:
        return None


native: Native | None = _load()


@contextmanager
def left_out() -> Iterator[None]:
    """Disables the C part within the context, to compare both implementations."""
    global native  # noqa: PLW0603 (the one place that changes it)
    kept, native = native, None
    try:
        yield
    finally:
        native = kept
