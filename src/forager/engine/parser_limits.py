"""Limits of one page in a parser process: processor time and memory. A page that exceeds them ends the process.

Every page we know of, hostile ones included, is read within 2 s and 200 MB.
"""

import ctypes
import resource
import signal
import sys

SHARED_CPU_S = 4.0
"""Limit of a page in a shared process. A page that exceeds it is read again in a process of its own."""
ISOLATED_CPU_S = 10.0
MEMORY_BYTES = 512 * 1024 * 1024
"""Limit of address space, above what the process uses before its first page."""
KEPT_BYTES = 32 * 1024 * 1024
"""Memory that a process keeps for the next page, above that before its first page; the rest is returned."""
OUT_OF_MEMORY = 86
"""Exit code of a process whose page exceeded the memory limit."""
PAGE_BYTES = resource.getpagesize()


def limit_memory() -> None:
    """Makes allocations beyond the limit fail from now on."""
    sizes = _read_statm()
    if sizes:
        most = sizes[0] + MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def start_cpu_limit(seconds: float) -> None:
    """Starts the timer whose signal kills the process when the time is over, even in C code. Takes a microsecond, so it
    is restarted for each page."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


class FreeMemory:
    """Returns memory to the system after large pages. glibc keeps up to 64 MB of freed memory for the next page
    (`extract.memory`): right for the usual page, but 50 MB too much for all pages after one of 5 MB."""

    def __init__(self) -> None:
        self._trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
        sizes = _read_statm()
        self._most_bytes = sizes[1] + KEPT_BYTES if sizes else 0

    def give_back(self) -> None:
        if self._trim is not None and (sizes := _read_statm()) and sizes[1] > self._most_bytes:
            self._trim(0)


def _read_statm() -> tuple[int, int] | None:
    """Returns the address space of this process and its memory without mapped files, in bytes; None where the system
    does not report them."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as file:
            total, resident, shared = map(int, file.read(100).split()[:3])
    except OSError:
        return None
    return total * PAGE_BYTES, (resident - shared) * PAGE_BYTES


def is_limit_exceeded(code: int) -> bool:
    return code in {-signal.SIGPROF, OUT_OF_MEMORY}


def describe_exit(code: int) -> str:
    """Returns how a process ended, for a log line or an error message."""
    if code == -signal.SIGPROF:
        return "out of processor time"
    if code == OUT_OF_MEMORY:
        return "out of memory"
    if code < 0:
        return f"signal {-code} ({signal.strsignal(-code) or 'unknown'})"
    return f"exit code {code}"


def is_external_kill(code: int) -> bool:
    """Returns whether another process sent the signal: the operator, or a system that is out of memory."""
    return -code in {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
