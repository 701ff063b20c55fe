"""Computes how many domains a worker may lease at once, from the memory of its machine."""

import os
from pathlib import Path

QUEUE_BYTES = 32 * 1024
"""Memory per leased domain: its next pages, pace, robots.txt rules and cookies (24 KB measured)."""
SHARE_OF_MEMORY = 16
FEWEST, MOST = 2_000, 20_000
LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Files with a container's memory limit, for both versions of control groups."""


def max_domains(configured: int, memory_bytes: int | None = None) -> int:
    """Returns the configured number, or, where that is 0, the number that fits into a part of the memory."""
    if configured:
        return configured
    if memory_bytes is None:
        memory_bytes = read_memory_bytes()
    return max(FEWEST, min(MOST, memory_bytes // SHARE_OF_MEMORY // QUEUE_BYTES))


def read_memory_bytes(limits: tuple[Path, ...] = LIMITS) -> int:
    """Returns the memory of this machine, or the limit of the container if that is lower."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in limits:
        try:
            memory = min(memory, int(limit.read_text(encoding="ascii")))
        except (OSError, ValueError):  # no such file; or `max`, which is no limit
            continue
    return memory
