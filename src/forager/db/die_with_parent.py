"""Runs a program that ends with the process that started it: `die_with_parent.py PARENT PROGRAM ARGUMENTS…`.

A backup that is killed with SIGKILL cannot stop its children, and a `pg_dump` that keeps running would read for an hour
for an abandoned folder. Linux can send a signal when the parent dies; the request survives exec. On other systems the
program runs unchanged. This file runs as a script and imports no Forager package, so that it starts fast.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # the parent died before the signal was requested
            raise SystemExit(1)
    os.execv(command[0], command)  # noqa: S606 (no shell is wanted)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
