"""Reads information about other processes: from /proc if it exists, else from `ps`. Never changes them."""

import contextlib
import subprocess
from pathlib import Path

PROC = Path("/proc")
HAS_PROC = (PROC / "self" / "stat").exists()


def is_alive(pid: int) -> bool:
    """Returns True if the process runs; a zombie does not count."""
    state = (_read(pid, "stat").rpartition(")")[2] if HAS_PROC else _run_ps(pid, "stat")).strip()
    return bool(state) and state[0] not in "ZX"


def command_of(pid: int) -> str:
    """Returns the command line; empty if the process is gone, and for a moment during exec."""
    return _read(pid, "cmdline").replace("\0", " ") if HAS_PROC else _run_ps(pid, "command")


def is_server(pid: int, data: Path) -> bool:
    """Returns True if the process is a PostgreSQL of this cluster: it runs as the owner of the data folder, and in that
    folder."""
    try:
        owner = data.lstat().st_uid
    except FileNotFoundError:
        return False
    if owner_of(pid) != owner:
        return False
    with contextlib.suppress(OSError):
        return (PROC / str(pid) / "cwd").readlink() == data and _process_name(pid) == "postgres"
    return f"/postgres -D {data}" in command_of(pid)  # the system does not report the working directory


def servers_in(data: Path) -> list[int]:
    """Returns the processes of a cluster's server; none on systems that do not report them."""
    pids = [int(process.name) for process in PROC.glob("[0-9]*")] if HAS_PROC else []
    return [pid for pid in pids if _process_name(pid) == "postgres" and is_server(pid, data)]


def owner_of(pid: int) -> int | None:
    """Returns the user the process runs as; None if it is gone."""
    if not HAS_PROC:
        uid = _run_ps(pid, "uid")
        return int(uid) if uid.isdigit() else None
    line = next((line for line in _read(pid, "status").splitlines() if line.startswith("Uid:")), "")
    return int(line.split()[2]) if line else None


def _process_name(pid: int) -> str:
    return _read(pid, "comm").strip()


def _read(pid: int, what: str) -> str:
    try:
        return (PROC / str(pid) / what).read_bytes().decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _run_ps(pid: int, what: str) -> str:
    command = ["ps", "-ww", "-o", f"{what}=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
