"""Runs a program that ends with the process that started it: `die_with_parent.py PARENT PROGRAM ARGUMENTS…`.

A backup that is killed with SIGKILL can stop nobody, and a `pg_dump` that goes on would read for an hour for a folder
that nobody wants. Linux sends a signal when a parent dies; it stays asked for when this process becomes the program.
Elsewhere the program runs as it is. Run as a script, without the packages of Forager, so that it starts at once.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before it could be asked for
            raise SystemExit(1)
    os.execv(command[0], command)  # noqa: S606 (no shell is wanted)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
