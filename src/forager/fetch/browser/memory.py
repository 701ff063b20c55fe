"""Measures how much memory a process and all its descendants use; 0 where the system does not report it."""

import os
from pathlib import Path

PROC = Path("/proc")


def family_bytes(pid: int) -> int:
    waiting, seen, pages = [pid], set[int](), 0
    while waiting:
        member = waiting.pop()
        if member in seen:
            continue
        seen.add(member)
        pages += _resident_pages(member)
        waiting += _children(member)
    return pages * os.sysconf("SC_PAGESIZE")


def _resident_pages(pid: int) -> int:
    """Returns the resident pages of a process without those it shares with its siblings."""
    try:
        _, resident, shared, *_ = (PROC / str(pid) / "statm").read_text().split()
    except (OSError, ValueError):
        return 0
    return int(resident) - int(shared)


def _children(pid: int) -> list[int]:
    try:
        return [
            int(child)
            for task in (PROC / str(pid) / "task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except (OSError, ValueError):
        return []
