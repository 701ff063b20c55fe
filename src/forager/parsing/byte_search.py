"""Searches bytes for a word. Runs for every page, so speed matters: the C library needs a quarter of Python's time."""

import ctypes
from collections.abc import Callable

from forager.parsing import compiled


def _load_memmem() -> Callable[[bytes, bytes], bool] | None:
    memmem = getattr(ctypes.CDLL(None), "memmem", None)
    if memmem is None:
        return None
    memmem.restype = ctypes.c_void_p
    memmem.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    return lambda body, word: memmem(body, len(body), word, len(word)) is not None


def _by_python(body: bytes, word: bytes) -> bool:
    return word in body


MOST_BRACKETS = 50
"""Checked one by one; a page with more, from scripts, is searched as a whole."""


def has_url(body: bytes) -> bool:
    """Whether the page contains `url(`, as styles do. Searching for a single byte that is rare in text is fastest."""
    if compiled.native is not None:
        return compiled.native.holds(body, b"url(")
    place = -1
    for _ in range(MOST_BRACKETS):
        place = body.find(b"(", place + 1)
        if place < 0:
            return False
        if body[max(0, place - 3) : place] == b"url":
            return True
    return holds(body, b"url(")


def holds(body: bytes, word: bytes) -> bool:
    return _by_c_library(body, word) if compiled.native is None else compiled.native.holds(body, word)


try:
    _by_c_library: Callable[[bytes, bytes], bool] = _load_memmem() or _by_python
except (OSError, TypeError):  # no C library available, as on Windows
    _by_c_library = _by_python
