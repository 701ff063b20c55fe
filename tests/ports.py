"""Ports for servers that have to be told theirs before they start, and may use it a minute later.

One that the kernel deals out is soon dealt out again: to the next caller of 127.0.0.1, of which there are hundreds a
second in a test run. So these lie below its range, where only who names one gets it.
"""

import random
import socket
from pathlib import Path

LOWEST, HIGHEST = 10_240, 32_767


def free_port() -> int:
    return next(port for port in random.sample(_ours(), 500) if _is_free(port))


def _ours() -> range:
    dealt = Path("/proc/sys/net/ipv4/ip_local_port_range")
    first = int(dealt.read_text().split()[0]) if dealt.exists() else HIGHEST
    return range(LOWEST, max(LOWEST + 1_000, min(first, HIGHEST)))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("", port))  # at every address: some listen at more than one
        except OSError:
            return False
    return True
