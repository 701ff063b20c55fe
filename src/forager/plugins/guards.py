"""What surrounds a call of a plug-in, so that one that hangs or crashes is stopped and known by name."""

import mmap
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType

MARKER_BYTES = 64
EMPTY = bytes(MARKER_BYTES)
MOST_REWRITE_S = 1.0
"""The time limit of a call that the event loop of a worker waits for."""


Guard = Callable[[str], AbstractContextManager[None]]
"""Surrounds each call; the argument is the name of the plug-in."""


class PluginTimeoutError(Exception):
    """A call took longer than its limit."""


class ProcessGuard:
    """Guards calls in a parser process: the name of the plug-in is in memory that outlives the process, and a timer
    ends the process when a call takes too long, even in C code or asleep. Memory that a plug-in cannot get ends it
    too: what the plug-in holds could not be returned in any other way."""

    def __init__(self, marker: mmap.mmap, *, timeout_s: float, memory_exit_code: int) -> None:
        self._marker = marker
        self._timeout_s = timeout_s
        self._memory_exit_code = memory_exit_code

    @contextmanager
    def __call__(self, plugin: str) -> Iterator[None]:
        write_marker(self._marker, plugin)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, self._timeout_s)
        try:
            yield
        except MemoryError:
            os._exit(self._memory_exit_code)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self._marker[:MARKER_BYTES] = EMPTY


def write_marker(marker: mmap.mmap, plugin: str) -> None:
    marker[:MARKER_BYTES] = plugin.encode()[:MARKER_BYTES].ljust(MARKER_BYTES, b"\0")


def read_marker(marker: mmap.mmap) -> str:
    """Returns the name of the plug-in that was being called; empty if none was."""
    return marker[:MARKER_BYTES].rstrip(b"\0").decode("utf-8", "replace")


def _raise_timeout(_number: int, _frame: FrameType | None) -> None:
    raise PluginTimeoutError(f"it took longer than {MOST_REWRITE_S:g} s")


@contextmanager
def interrupt_after(_plugin: str) -> Iterator[None]:
    """Interrupts Python code, sleep and regular expressions after the limit, where signals can: in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _raise_timeout)
    signal.setitimer(signal.ITIMER_REAL, MOST_REWRITE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
