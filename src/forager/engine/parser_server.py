"""Forks the parser processes of a worker.

It loads the parser and the language model once and reads no page itself. So a new parser process starts in milliseconds
instead of 0.3 s of processor time, however often pages end one, and all of them share the memory of what was loaded.
Runs as `python -m forager.engine.parser_server`; the worker's side is `parser_client`.
"""

import errno
import gc
import mmap
import os
import select
import signal
import socket
import sys
import traceback
from contextlib import suppress

from forager.engine import parser_limits
from forager.engine.parser_process import serve
from forager.engine.parser_protocol import (
    COMMAND,
    ENDED,
    KILL,
    NOT_STARTED,
    REPORT,
    SERVER_READY,
    START_ISOLATED,
    ParserConfig,
)
from forager.parsing import page as parser
from forager.plugins.guards import MARKER_BYTES

MOST_FDS = 1


class Server:
    def __init__(self, control: socket.socket, config: ParserConfig) -> None:
        self._control = control
        self._config = config
        self._numbers: dict[int, int] = {}
        """Numbers of the running processes, by pid."""
        self._markers: dict[int, mmap.mmap] = {}
        """Shared memory in which each process names the plug-in it is calling, by pid."""
        self._wake_event, waking = socket.socketpair()
        self._wake_event.setblocking(False)
        waking.setblocking(False)
        self._waking = waking
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)

    def run(self) -> None:
        """Serves commands until the worker closes its end or is gone, then ends all processes."""
        waiting = select.poll()
        waiting.register(self._control, select.POLLIN)
        waiting.register(self._wake_event, select.POLLIN)
        self._report(SERVER_READY)
        try:
            while True:
                ready = {descriptor for descriptor, _ in waiting.poll()}
                if self._wake_event.fileno() in ready:
                    self._reap()
                if self._control.fileno() in ready:
                    self._run_command()
        except (EOFError, ConnectionError):
            pass
        finally:
            for pid in self._numbers:
                os.kill(pid, signal.SIGKILL)

    def _run_command(self) -> None:
        command, fds, _, _ = socket.recv_fds(self._control, COMMAND.size, MOST_FDS)
        if not command:
            raise EOFError
        what, number = COMMAND.unpack(command)
        if what == KILL:
            for pid in [pid for pid, one in self._numbers.items() if one == number]:
                os.kill(pid, signal.SIGKILL)
            return
        self._start(number, fds, parser_limits.ISOLATED_CPU_S if what == START_ISOLATED else parser_limits.SHARED_CPU_S)

    def _start(self, number: int, fds: list[int], cpu_s: float) -> None:
        if not fds:  # this process has no file descriptor left
            self._report(NOT_STARTED, number, errno.EMFILE)
            return
        sock = socket.socket(fileno=fds[0])
        try:
            marker = mmap.mmap(-1, MARKER_BYTES)
            pid = os.fork()
        except OSError as error:
            sock.close()
            self._report(NOT_STARTED, number, error.errno or 0)
            return
        if pid == 0:
            self._run_parser(sock, cpu_s, marker)
        sock.close()
        self._numbers[pid], self._markers[pid] = number, marker

    def _run_parser(self, sock: socket.socket, cpu_s: float, marker: mmap.mmap) -> None:
        """Runs the parser in the child; never returns."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for own in (self._control, self._wake_event, self._waking):
                own.close()
            serve(sock, self._config, cpu_s=cpu_s, marker=marker)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    def _reap(self) -> None:
        with suppress(BlockingIOError):
            self._wake_event.recv(4096)
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                if (number := self._numbers.pop(pid, None)) is not None:
                    with self._markers.pop(pid) as marker:
                        self._report(ENDED, number, os.waitstatus_to_exitcode(status), marker[:MARKER_BYTES])

    def _report(self, what: bytes, number: int = 0, code: int = 0, plugin: bytes = b"") -> None:
        self._control.send(REPORT.pack(what, number, code, plugin))


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker ends this process by closing its end
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    parser.preload()
    gc.set_threshold(50_000, 20, 100)
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as control:
        Server(control, ParserConfig(*sys.argv[2:])).run()


if __name__ == "__main__":
    main()
