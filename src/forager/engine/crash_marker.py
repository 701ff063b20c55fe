"""Records the page that a worker is parsing in a small memory-mapped file, which outlives the process however it ends.

The parser is C code: a page may crash it, or block it where no Python timeout applies. Writing the marker and setting
the timer cost two microseconds per page. `recover` reads the markers of dead workers.
"""

import mmap
import os
import signal
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from forager.logs import log
from forager.stats.processes import started_at

FOLDER = "reading"
NOTE = struct.Struct("<qq")
"""Start time of the process, which distinguishes it from another with the same pid; the id of the page, 0 for none."""
LONGEST_READ_S = 10.0
"""Limit of processor time, after which the system kills the process. Every page we know of takes a fifth of it."""


class CrashMarker:
    """The crash marker of one process."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / str(os.getpid())
        self._began = started_at(os.getpid())
        # In two containers that share the folder both processes may be pid 1. Truncating the other's file would kill
        # that process with SIGBUS when it writes to the mapped memory. So it keeps its file, and this process takes
        # over the name.
        fresh = folder / f"{self._path.name}.{token_hex(4)}"
        fresh.write_bytes(NOTE.pack(self._began, 0))
        with fresh.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), NOTE.size)
        fresh.replace(self._path)

    @contextmanager
    def reading(self, page: int) -> Iterator[None]:
        NOTE.pack_into(self._memory, 0, self._began, page)
        signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_READ_S)  # the signal kills the process, even in C code
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            NOTE.pack_into(self._memory, 0, self._began, 0)

    def close(self) -> None:
        self._memory.close()
        pop_crash_marker(self._path.parent, int(self._path.name), self._began)


@contextmanager
def open_crash_marker(folder: Path) -> Iterator[CrashMarker | None]:
    """Yields None where the file cannot be created: crawling continues, but a page that crashes workers is not
    identified."""
    try:
        box = CrashMarker(folder)
    except OSError as error:
        log().warning("no black box", action="black_box.none", folder=str(folder), error=str(error))
        yield None
        return
    try:
        yield box
    finally:
        box.close()


def pop_crash_marker(folder: Path, pid: int, began: int) -> int | None:
    """Returns the page that a process was parsing, if any, and deletes its marker."""
    path = folder / str(pid)
    try:
        noted_began, page = NOTE.unpack(path.read_bytes())
    except (OSError, struct.error):
        return None
    if noted_began != began:  # the pid belongs to a live process now
        return None
    with suppress(OSError):
        path.unlink()
    return page or None
