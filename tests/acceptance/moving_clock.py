"""A wall clock that jumps under running processes: a small library, loaded before libc, moves what they read by as many
seconds as a file says at that moment. What only ever goes forward, the monotonic clock, stays as it is. Needs a C
compiler and Linux.
"""

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long long *moved;

__attribute__((constructor)) static void look(void) {
    const char *path = getenv("MOVING_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *seen = mmap(NULL, sizeof *moved, PROT_READ, MAP_SHARED, file, 0);
    if (seen != MAP_FAILED) moved = seen;
    close(file);
}

int clock_gettime(clockid_t which, struct timespec *at) {
    int failed = syscall(SYS_clock_gettime, which, at);
    if (!failed && moved && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) at->tv_sec += *moved;
    return failed;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
"""


class MovingClock:
    def __init__(self, folder: Path) -> None:
        self._file, self._library = folder / "moved_s", folder / "moving_clock.so"
        self.move(0)
        source = folder / "moving_clock.c"
        source.write_text(SOURCE)
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(self._library), str(source)], check=True)

    @property
    def environ(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self._library), "MOVING_CLOCK": str(self._file)}

    def move(self, by_s: int) -> None:
        """So far from the true time, from now on, in all of them at once."""
        handle = os.open(self._file, os.O_WRONLY | os.O_CREAT)
        try:
            os.pwrite(handle, struct.pack("q", by_s), 0)
        finally:
            os.close(handle)

    def shown_s(self) -> float:
        """What a process under it reads."""
        command = [sys.executable, "-c", "import time; print(time.time())"]
        return float(subprocess.run(command, env=os.environ | self.environ, check=True, capture_output=True).stdout)


def a_moving_clock(folder: Path) -> MovingClock:
    if sys.platform != "linux" or shutil.which("cc") is None:
        if os.environ.get("FORAGER_REQUIRE_SERVICES") == "1":
            pytest.fail("A clock that jumps needs a C compiler and Linux.")
        pytest.skip("there is no C compiler here")
    return MovingClock(folder)
