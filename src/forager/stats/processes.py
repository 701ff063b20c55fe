"""Identifies a worker's process on its machine, and checks whether a registered process is still alive. Only reads
/proc."""

import os
import socket
from pathlib import Path


def get_host_key() -> str:
    """Returns a key for this machine, this boot and this process namespace: a pid is meaningful only inside all
    three."""
    boot = _read("/proc/sys/kernel/random/boot_id") or "boot"
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = "pid"
    return f"{socket.gethostname()}/{boot}/{namespace}"


def started_at(pid: int) -> int:
    """Returns when a process started, in clock ticks since boot; 0 where the system does not report it."""
    stat = _read(f"/proc/{pid}/stat")
    return int(stat.rpartition(")")[2].split()[19]) if stat else 0


def is_alive(pid: int, began: int) -> bool:
    """Returns whether this exact process runs: a reused pid has another start time, and a zombie no longer works."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    stat = _read(f"/proc/{pid}/stat")
    if stat and stat.rpartition(")")[2].split()[0] in "ZX":
        return False
    return began in {0, started_at(pid)}


def get_process_key() -> str:
    """Returns a key for this exact process: its pid, its start time, and the host key for which the pid is valid."""
    pid = os.getpid()
    return f"{pid} {started_at(pid)} {get_host_key()}"


def is_local_process(process: str) -> bool:
    """Returns whether a key from `get_process_key` can be checked on this machine."""
    return process.split(" ", 2)[2] == get_host_key()


def has_exited(process: str) -> bool:
    """Returns whether the process of such a key is known to have ended; for another host's process this is unknown."""
    pid, began, _ = process.split(" ", 2)
    return is_local_process(process) and not is_alive(int(pid), int(began))


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
