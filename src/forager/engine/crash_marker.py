"""What a worker was reading when it died: a few bytes in a file, which outlive the process however it ends.

The parser is C code: a page may kill it, or hold it where no timeout of Python's can reach. Writing the note and
winding the clock cost two microseconds a page. `recover` reads the notes of the dead.
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
"""When the process began, which tells it from another with its number; the page it reads, 0 for none."""
LONGEST_READ_S = 10.0
"""Of processor time: then the system ends the process. Every page we know of is read in a fifth of it."""


class CrashMarker:
    """One for each process, which ends with it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / str(os.getpid())
        self._began = started_at(os.getpid())
        # In two containers that share the folder both may be process 1. Written over, for a moment the other's file
        # would have no byte, and whoever touches such memory is killed; so it keeps its file, and the name is ours.
        fresh = folder / f"{self._path.name}.{token_hex(4)}"
        fresh.write_bytes(NOTE.pack(self._began, 0))
        with fresh.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), NOTE.size)
        fresh.replace(self._path)

    @contextmanager
    def reading(self, page: int) -> Iterator[None]:
        NOTE.pack_into(self._memory, 0, self._began, page)
        signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_READ_S)  # its signal ends the process, in C code too
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
    """None where there is no place for it: crawling goes on, and a page that kills its readers is not found out."""
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
    """The page a process was reading, if any. Its note is gone then."""
    path = folder / str(pid)
    try:
        noted_began, page = NOTE.unpack(path.read_bytes())
    except (OSError, struct.error):
        return None
    if noted_began != began:  # a living process has the number now
        return None
    with suppress(OSError):
        path.unlink()
    return page or None
