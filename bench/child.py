"""Runs one crawler as a process of its own, measured, bounded in time, and gone afterwards whatever happens."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Meter

ROOT = Path(__file__).resolve().parent.parent
GRACE_S = 15.0
POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Ran:
    """A process that came to its own end."""

    exit_code: int
    started_at: float
    ended_at: float
    meter: Meter
    last_words: str
    """The end of what it said on standard error."""


def run_child(
    command: Sequence[str],
    *,
    folder: Path,
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    postmaster: Callable[[], int | None] = lambda: None,
) -> Ran:
    """Run a command to its end. It is stopped, hard if it must be, on a timeout or when we are interrupted."""
    said = folder / "stderr"
    with (folder / "stdout").open("wb") as out, said.open("wb") as err:
        started_at = time.time()
        child = subprocess.Popen(
            command, cwd=ROOT, env=_environment(environment or {}), stdout=out, stderr=err, start_new_session=True
        )
        with Meter(child.pid, postmaster) as meter:
            try:
                exit_code = _wait(child, timeout_s)
            finally:
                stop(child)
        ended_at = time.time()
    return Ran(exit_code, started_at, ended_at, meter, _tail(said))


def stop(child: subprocess.Popen[bytes]) -> None:
    """Ask the whole session to end, wait, then kill what is left of it."""
    if child.poll() is None:
        _signal_session(child.pid, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(GRACE_S)
    _signal_session(child.pid, signal.SIGKILL)
    child.wait()


def stop_postmaster(pid: int | None) -> None:
    """End a PostgreSQL that its owner left behind; immediate shutdown, for its folder is going to be removed."""
    if pid is None:
        return
    try:
        os.kill(pid, signal.SIGQUIT)
        deadline = time.monotonic() + GRACE_S
        while time.monotonic() < deadline:
            os.kill(pid, 0)
            time.sleep(POLL_S)
    except ProcessLookupError:
        return


def _wait(child: subprocess.Popen[bytes], timeout_s: float) -> int:
    try:
        return child.wait(timeout_s)
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"did not end within {timeout_s:.0f} s") from None


def _signal_session(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number)


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    """Ours without any Forager setting a person may have: a run depends on nothing but its order. Modules are kept
    compiled, as where people install them."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("FORAGER_")}
    mine["FORAGER_ALLOW_ROOT"] = "1"  # the bench looks into the homes of what it starts
    mine.pop("PYTHONDONTWRITEBYTECODE", None)
    return mine | {"PYTHONUNBUFFERED": "1"} | dict(more)


def _tail(path: Path, characters: int = 2000) -> str:
    return path.read_text(encoding="utf-8", errors="replace")[-characters:].strip()
