"""Starts `forager` commands in processes of their own that need not load the program again: it forks one that has.

Half a second of CPU for each of some four hundred commands. Only for commands that run to their end; what is killed
or sent signals is started as a person does it.
"""

import atexit
import functools
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TO_LOAD = ("forager.app.worker", "forager.app.archiving", "forager.control.check")


# On the side of the test --------------------------------------------------------------------------------------------


def run(
    arguments: tuple[str, ...], environ: Mapping[str, str], folder: Path, timeout_s: float
) -> subprocess.CompletedProcess[str]:
    with (
        tempfile.TemporaryFile(dir=folder) as out,
        tempfile.TemporaryFile(dir=folder) as err,
        socket.socket(socket.AF_UNIX) as line,
    ):
        line.connect(_starter())
        line.settimeout(timeout_s)
        order = json.dumps({"arguments": arguments, "environ": dict(environ), "folder": str(folder)}).encode()
        socket.send_fds(line, [b"%09d" % len(order)], [out.fileno(), err.fileno()])
        line.sendall(order)
        code = _follow(line, arguments, timeout_s)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(arguments, code, _text(out.read()), _text(err.read()))


def _follow(line: socket.socket, arguments: tuple[str, ...], timeout_s: float) -> int:
    """Its exit code."""
    with line.makefile("r") as told:
        pid = int(told.readline())
        try:
            return int(told.readline())
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(["forager", *arguments], timeout_s) from None


def _text(content: bytes) -> str:
    return content.decode().replace("\r\n", "\n").replace("\r", "\n")


@functools.cache
def _starter() -> str:
    """The socket of the one this process has; it ends when this process does, for then its standard input ends."""
    path = f"{tempfile.mkdtemp(prefix='forager-starter-')}/socket"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.acceptance.starter", path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        start_new_session=True,
    )
    atexit.register(_end, process)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return path


def _end(process: subprocess.Popen[bytes]) -> None:
    process.communicate()


# On its own side ----------------------------------------------------------------------------------------------------


def serve(path: str) -> None:
    """One child for every command: it forks the command, and tells its pid and how it ended."""
    _load()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        os.write(1, b"ready\n")
        while True:
            readable, _, _ = select.select([listener.fileno(), 0], [], [])
            _forget_ended()
            if 0 in readable:
                break
            line, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _attend(line)
            line.close()
    os.unlink(path)
    os.rmdir(os.path.dirname(path))


def _load() -> None:
    import forager.cli

    for module in pkgutil.iter_modules(forager.cli.__path__):
        importlib.import_module(f"forager.cli.{module.name}")
    for name in TO_LOAD:
        importlib.import_module(name)
    assert len(os.listdir("/proc/self/task")) == 1, "a thread would be missing in every process forked from here"
    gc.freeze()


def _forget_ended() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _attend(line: socket.socket) -> None:
    size, fds, _, _ = socket.recv_fds(line, 9, 2)
    with line.makefile("rb") as stream:
        order = json.loads(stream.read(int(size)))
    pid = os.fork()
    if pid == 0:
        line.close()
        _become(order, *fds)
    line.sendall(b"%d\n" % pid)
    line.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    os._exit(0)


def _become(order: dict[str, Any], out: int, err: int) -> None:
    from forager.cli.main import main

    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, fd in enumerate((nothing, out, err)):
        os.dup2(fd, number)
        os.close(fd)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environ"])
    sys.argv = ["forager", *order["arguments"]]
    main()


if __name__ == "__main__":
    serve(sys.argv[1])
