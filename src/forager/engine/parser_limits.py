"""What one page may take of a parser process: processor time and memory. Beyond it the process ends.

Every page we know of, hostile ones included, is read in 2 s and with 200 MB.
"""

import ctypes
import resource
import signal
import sys

SHARED_CPU_S = 4.0
"""Of a page in a process that reads the pages of all sites. Beyond it the page is read again, in one of its own."""
ISOLATED_CPU_S = 10.0
MEMORY_BYTES = 512 * 1024 * 1024
"""Of address space, above what the process has before its first page."""
KEPT_BYTES = 32 * 1024 * 1024
"""Of memory above the first page's start that a process keeps for the next one; beyond it, what is free goes back."""
OUT_OF_MEMORY = 86
"""Exit code of a process whose page needed more memory than that."""
PAGE_BYTES = resource.getpagesize()


def limit_memory() -> None:
    """From now on, an allocation past the limit fails."""
    sizes = _read_statm()
    if sizes:
        most = sizes[0] + MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def start_cpu_limit(seconds: float) -> None:
    """Its signal ends the process when the time is over, in C code too. A microsecond, so each page starts it anew."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


class FreeMemory:
    """Returns memory to the system after pages that took much. glibc keeps what was freed for the next page, up to
    64 MB (`extract.memory`): right for the usual page, and 50 MB too many for all after one of 5 MB."""

    def __init__(self) -> None:
        self._trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
        sizes = _read_statm()
        self._most_bytes = sizes[1] + KEPT_BYTES if sizes else 0

    def give_back(self) -> None:
        if self._trim is not None and (sizes := _read_statm()) and sizes[1] > self._most_bytes:
            self._trim(0)


def _read_statm() -> tuple[int, int] | None:
    """Address space of this process and its memory without files it maps, in bytes; None where the system does not
    tell."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as file:
            total, resident, shared = map(int, file.read(100).split()[:3])
    except OSError:
        return None
    return total * PAGE_BYTES, (resident - shared) * PAGE_BYTES


def is_limit_exceeded(code: int) -> bool:
    return code in {-signal.SIGPROF, OUT_OF_MEMORY}


def describe_exit(code: int) -> str:
    """How a process ended, for a log line or an error message."""
    if code == -signal.SIGPROF:
        return "out of processor time"
    if code == OUT_OF_MEMORY:
        return "out of memory"
    if code < 0:
        return f"signal {-code} ({signal.strsignal(-code) or 'unknown'})"
    return f"exit code {code}"


def is_external_kill(code: int) -> bool:
    """Only another process sends these: the operator, or the system that runs out of memory."""
    return -code in {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
