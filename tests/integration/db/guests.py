"""Guests: Forager processes that take a seat at an embedded server, and can be told to leave or be killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from forager.db.embedded import postmaster
from forager.db.embedded.paths import Place

MODULE = "tests.integration.db.guest"
FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[2]


def as_user(uid: int | None) -> list[str]:
    """Another user, who can still read this checkout and its Python where root keeps them in a closed folder."""
    if uid is None:
        return []
    rights = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *rights, "--"]


class Guest:
    def __init__(self, home: Path, uid: int | None = None) -> None:
        code = ["-m", MODULE] if uid is None else ["-c", (FOLDER / "guest.py").read_text()]
        self.process = subprocess.Popen(
            [*as_user(uid), sys.executable, *code, str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd="/" if uid is not None else ROOT,
        )

    def hear(self) -> str:
        """What it says next; empty when it is gone."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def ask_to_leave(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("leave\n")
        self.process.stdin.flush()

    def leave(self) -> None:
        self.ask_to_leave()
        assert self.hear() == "left"
        self.process.wait()

    def kill(self, number: int = signal.SIGKILL) -> None:
        os.killpg(self.process.pid, number)
        self.process.wait()


Invite = Callable[..., Guest]


def server_pid(home: Path) -> int:
    pid = postmaster.find(Place.of(home))
    assert pid is not None
    return pid


def is_ready(home: Path) -> bool:
    return postmaster.ask(Place.of(home)) is postmaster.Answer.READY


def starts(home: Path) -> int:
    """How often a server was started there."""
    return Place.of(home).log.read_text().count("starting PostgreSQL")
