"""Workers that look alike: each in namespaces of its own, as in a container, with the same host name and the same pid.
Needs root and `unshare`."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.acceptance.stage import until, wait_for_end

NAME = "twin"
ENTER = f'hostname {NAME} && exec "$0" -m forager "$@"'


def need_containers() -> None:
    command = ["unshare", "--pid", "--fork", "--uts", "--mount-proc", "true"]
    if shutil.which("unshare") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        if os.environ.get("FORAGER_REQUIRE_SERVICES") == "1":
            pytest.fail("Containers need root and `unshare`.")
        pytest.skip("namespaces are not permitted here")


class Container:
    """A command in one; its first process, so that its pid is 1."""

    def __init__(self, *arguments: str, environ: Mapping[str, str], folder: Path) -> None:
        command = ["unshare", "--pid", "--fork", "--kill-child", "--uts", "--mount-proc", "sh", "-c", ENTER]
        self._said = folder / f"said.{id(self)}.txt"
        with self._said.open("wb") as stderr:
            self._outside = subprocess.Popen(
                [*command, sys.executable, *arguments],
                env=os.environ | environ,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
            )
        until(lambda: self.pid() or self._outside.poll() is not None, "the command is there")

    @property
    def said(self) -> str:
        return self._said.read_text(encoding="utf-8", errors="replace")

    def pid(self) -> int:
        """Of the command, as the machine outside knows it; 0: it is not there yet, or not any more."""
        children = Path(f"/proc/{self._outside.pid}/task/{self._outside.pid}/children").read_text().split()
        return int(children[0]) if children else 0

    def signal(self, number: int) -> None:
        pid = self.pid()
        ended = f"exit code {self._outside.poll()}, it said: {self.said}"
        assert pid, f"the command is not there to be told anything; {ended}"  # 0 would be our own group
        os.kill(pid, number)

    def wait(self) -> int:
        return self._outside.wait(60)

    def kill(self) -> None:
        """The command and, with it, all of its namespace."""
        pid = self.pid() if self._outside.poll() is None else 0
        self._outside.kill()
        self._outside.wait()
        if pid:
            wait_for_end(pid)
