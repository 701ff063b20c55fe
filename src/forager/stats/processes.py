"""Who a worker is on its machine, and whether a process that says it works still lives. Only reads /proc."""

import os
import socket
from pathlib import Path


def get_host_key() -> str:
    """This machine, this boot and this process namespace: only inside all three does a pid mean anything."""
    boot = _read("/proc/sys/kernel/random/boot_id") or "boot"
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = "pid"
    return f"{socket.gethostname()}/{boot}/{namespace}"


def started_at(pid: int) -> int:
    """When a process began, in clock ticks since boot; 0 where the machine does not tell."""
    stat = _read(f"/proc/{pid}/stat")
    return int(stat.rpartition(")")[2].split()[19]) if stat else 0


def is_alive(pid: int, began: int) -> bool:
    """Whether this very process runs: a reused pid has another beginning, a zombie no longer works."""
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
    """Names this very process: its pid, when it began, and where the pid means anything."""
    pid = os.getpid()
    return f"{pid} {started_at(pid)} {get_host_key()}"


def is_local_process(process: str) -> bool:
    """Whether a name made by `get_process_key` can be looked up here."""
    return process.split(" ", 2)[2] == get_host_key()


def has_exited(process: str) -> bool:
    """Whether the process of such a name is known to have ended; of another host's nothing is known."""
    pid, began, _ = process.split(" ", 2)
    return is_local_process(process) and not is_alive(int(pid), int(began))


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
