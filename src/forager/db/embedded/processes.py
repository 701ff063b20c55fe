"""What the system says about other processes: by /proc where there is one, else by `ps`. Never touches them."""

import contextlib
import subprocess
from pathlib import Path

PROC = Path("/proc")
HAS_PROC = (PROC / "self" / "stat").exists()


def is_alive(pid: int) -> bool:
    """Whether it runs; one that is dead and not yet buried does not."""
    state = (_read(pid, "stat").rpartition(")")[2] if HAS_PROC else _ps(pid, "stat")).strip()
    return bool(state) and state[0] not in "ZX"


def command_of(pid: int) -> str:
    """Its command line; empty when it is gone, and for a moment while it turns into another program."""
    return _read(pid, "cmdline").replace("\0", " ") if HAS_PROC else _ps(pid, "command")


def working_in(folder: Path, name: str) -> list[int]:
    """Those of that name whose working folder it is. Where the system does not tell: none."""
    found = []
    for process in PROC.glob("[0-9]*") if HAS_PROC else ():
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink() == folder and (process / "comm").read_text().strip() == name:
                found.append(int(process.name))
    return found


def _read(pid: int, what: str) -> str:
    try:
        return (PROC / str(pid) / what).read_bytes().decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _ps(pid: int, what: str) -> str:
    command = ["ps", "-ww", "-o", f"{what}=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
