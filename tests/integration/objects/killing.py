"""A `forager` that stops where a test wants it, and is killed there."""

import signal
import subprocess
import sys


def kill_when_it_says(line: str, script: str, *command: str) -> None:
    child = subprocess.Popen([sys.executable, "-c", script, *command], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    with child.stdout:
        assert child.stdout.readline() == f"{line}\n"
        child.send_signal(signal.SIGKILL)
    child.wait()
