"""The worker's side of its parser processes: the server that forks them, and the channel to each process."""

import asyncio
import os
import pickle
import socket
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import deque
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple, cast

from forager import errors
from forager.engine.parser_limits import describe_exit
from forager.engine.parser_protocol import (
    COMMAND,
    JOB_HEADER,
    KILL,
    NOT_STARTED,
    REPORT,
    RESULT_HEADER,
    SERVER_READY,
    START_ISOLATED,
    START_SHARED,
    Job,
    ParserConfig,
    unpack,
)
from forager.fetch.models import Fetched
from forager.interpreter import python_module
from forager.logs import log
from forager.parsing.models import ParseOptions, Reading

SOCKET_BYTES = 2 * 1024 * 1024
"""Socket buffer size, as far as the system grants it. With the default a few pages fill it, and the parser waits
whenever the worker is busy with something else."""
START_S = 120.0
REPORT_S = 5.0
"""Maximum time between the exit of a process and the server's report of it."""
MOST_STDERR_CHARS = 2000
UNKNOWN_EXIT = -9
"""Used as the exit code of a process whose server is gone: the page is not to blame."""


class NotStartedError(Exception):
    """A parser process or its server did not start; the message says why."""


class RequeueError(Exception):
    """The process ended, or has been busy with another page for long: another process must read the page."""


class ParserCrashedError(Exception):
    """The process ended while it was reading the page."""

    def __init__(self, exit_code: int, plugin: str = "") -> None:
        super().__init__(describe_exit(exit_code))
        self.exit_code = exit_code
        self.plugin = plugin
        """The plug-in it was calling; empty if it was calling none."""


class Exit(NamedTuple):
    """How a process ended."""

    code: int
    plugin: str = ""
    """The plug-in it was calling."""


class ParserServer:
    """The process that forks the parser processes."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._control, self._theirs = socket.socketpair()
        self._control.setblocking(False)
        self._numbers = count(1)
        self._exits: dict[int, asyncio.Future[Exit]] = {}
        self._killed: set[int] = set()
        """Processes that were killed at our request."""
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._reports = b""
        self._process: Process | None = None
        self._logging: asyncio.Task[None] | None = None
        self._stderr = ""
        """The last output on its standard error."""
        self.is_dead = False

    @classmethod
    async def start(cls, config: ParserConfig) -> "ParserServer":
        """Starts the server; returns when it is ready to fork, with the language model loaded."""
        try:
            self = cls()
        except OSError as error:  # no file descriptors left
            raise NotStartedError(error.strerror or str(error)) from error
        try:
            await self._launch(config)
            async with asyncio.timeout(START_S):
                await self._ready
        except (EOFError, TimeoutError):
            raise NotStartedError(await self.close()) from None
        except OSError as error:  # no processes, file descriptors or memory left
            await self.close()
            raise NotStartedError(error.strerror or str(error)) from error
        except BaseException:
            await self.close()
            raise
        return self

    async def _launch(self, config: ParserConfig) -> None:
        with self._theirs:
            self._process = await asyncio.create_subprocess_exec(
                *python_module("forager.engine.parser_server"),
                *(str(self._theirs.fileno()), *config),
                stdin=DEVNULL,
                stderr=PIPE,
                pass_fds=(self._theirs.fileno(),),
            )
        self._loop.add_reader(self._control.fileno(), self._receive)
        self._logging = self._loop.create_task(self._log_stderr(self._process))

    async def _log_stderr(self, process: Process) -> None:
        """Writes the standard error of the server and its processes to the log, never to a terminal."""
        assert process.stderr is not None
        while words := await process.stderr.read(65536):
            text = words.decode("utf-8", "replace")
            self._stderr = (self._stderr + text)[-MOST_STDERR_CHARS:]
            log().info("parser process wrote", action="parser.stderr", pid=process.pid, words=text[:MOST_STDERR_CHARS])

    async def open_process(self, *, is_isolated: bool = False) -> "ParserProcess":
        """Starts a new process and returns when it is ready. A failed start is our own fault, not that of a page."""
        number = next(self._numbers)
        exit_code = self._exits[number] = self._loop.create_future()
        try:
            ours, theirs = socket.socketpair()
            process = ParserProcess(self, number, exit_code)
            with theirs:
                for end in (ours, theirs):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BYTES)
                await self._loop.create_unix_connection(lambda: process, sock=ours)
                self._command(START_ISOLATED if is_isolated else START_SHARED, number, theirs)
        except OSError as error:
            self._exits.pop(number, None)
            raise NotStartedError(error.strerror or str(error)) from error
        try:
            async with asyncio.timeout(START_S):
                await process.wait_ready()
        except (RequeueError, ParserCrashedError, TimeoutError):
            process.close()
            raise NotStartedError(await self._describe(exit_code)) from None
        except BaseException:
            process.close()
            raise
        return process

    async def _describe(self, exit_code: asyncio.Future[Exit]) -> str:
        if self.is_dead:
            return self._describe_end(self._process.returncode if self._process else None)
        done, _ = await asyncio.wait({exit_code}, timeout=REPORT_S)
        return self._describe_end(exit_code.result().code if done else None)

    def kill(self, number: int) -> None:
        """Kills a process if it still runs."""
        if number in self._exits:
            with suppress(OSError):
                self._command(KILL, number)
                self._killed.add(number)

    def _command(self, what: bytes, number: int, sock: socket.socket | None = None) -> None:
        if self.is_dead:
            raise BrokenPipeError("the parser server has ended")
        fds = [sock.fileno()] if sock else []
        socket.send_fds(self._control, [COMMAND.pack(what, number)], fds)

    def _receive(self) -> None:
        try:
            came = self._control.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            came = b""
        if not came:
            self._end()
            return
        self._reports += came
        while len(self._reports) >= REPORT.size:
            what, number, code, plugin = REPORT.unpack_from(self._reports)
            self._reports = self._reports[REPORT.size :]
            if what == SERVER_READY:
                self._ready.set_result(None)
                continue
            if what == NOT_STARTED:
                self._stderr = os.strerror(code)
            elif code and number not in self._killed:
                log().warning("parser process died", action="parser.died", how=describe_exit(code))
            self._killed.discard(number)
            if (exit_code := self._exits.pop(number, None)) is not None:
                exit_code.set_result(Exit(code, plugin.rstrip(b"\0").decode("utf-8", "replace")))

    def _end(self) -> None:
        """Handles the end of the server. Its processes run until their channels are closed; their exits are no longer
        reported."""
        self.is_dead = True
        self._loop.remove_reader(self._control.fileno())
        if not self._ready.done():
            self._ready.set_exception(EOFError())
            self._ready.exception()  # retrieves the exception if no caller waits any more
        for exit_code in self._exits.values():
            exit_code.set_result(Exit(UNKNOWN_EXIT))
        self._exits.clear()

    async def close(self) -> str:
        """Ends the server and its processes; returns how it ended."""
        if not self.is_dead:
            self._end()
        self._control.close()
        self._theirs.close()
        if self._process is None:
            return "not started"
        try:
            async with asyncio.timeout(REPORT_S):
                code = await self._process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            code = await self._process.wait()
        if self._logging is not None:
            await asyncio.wait({self._logging}, timeout=1.0)  # a grandchild could keep the pipe open
            self._logging.cancel()
        return self._describe_end(code)

    def _describe_end(self, code: int | None) -> str:
        how = describe_exit(code) if code is not None else "it did not answer"
        last = self._stderr.strip().rpartition("\n")[2].strip()[:200]
        return f"{how}: {last}" if last else how


class ParserProcess(asyncio.Protocol):
    """The channel to one parser process. Results come in the order of the jobs."""

    def __init__(self, server: ParserServer, number: int, exit_code: asyncio.Future[Exit]) -> None:
        self._loop = asyncio.get_running_loop()
        self._server = server
        self._number = number
        self._exit_code = exit_code
        self._jobs: deque[asyncio.Future[memoryview]] = deque()
        self._unread = bytearray()
        self._transport: asyncio.Transport | None = None
        self._first_since = 0.0
        """When the process started on the first of its jobs."""
        self.jobs_done = 0
        self.is_closed = False
        self.is_detached = False

    @property
    def load(self) -> int:
        return len(self._jobs)

    @property
    def first_s(self) -> float:
        """Returns how long the process has been reading its current page."""
        return self._loop.time() - self._first_since if self._jobs else 0.0

    async def wait_ready(self) -> None:
        await self._expect()

    async def read(self, fetched: Fetched, options: ParseOptions, *, left_out: tuple[str, ...] = ()) -> Reading | None:
        """Returns None for a body that is empty when decompressed. Raises what parsing raises, ParserCrashedError when
        the process ends while it reads this page, and RequeueError when it ends, or takes long, while it reads another
        one."""
        if self.is_closed or self._transport is None:
            raise RequeueError
        job = pickle.dumps(
            tuple(Job(fetched.url, dict(fetched.headers), fetched.is_truncated, options, fetched.coding, left_out)),
            protocol=5,
        )
        result = self._expect()
        self._transport.writelines([JOB_HEADER.pack(len(job), len(fetched.body)), job, fetched.body])
        try:
            kind, value = cast("tuple[str, Any]", pickle.loads(await result))  # noqa: S301 (from our own process)
        except ParserCrashedError:
            raise ParserCrashedError(*await self._wait_exit()) from None
        match kind:
            case "reading":
                return unpack(value)
            case "empty":
                return None
            case "unreadable":
                raise getattr(errors, value[0])(value[1])
        bug = RuntimeError(value[0])
        bug.add_note(value[1])
        raise bug

    async def _wait_exit(self) -> Exit:
        done, _ = await asyncio.wait({self._exit_code}, timeout=REPORT_S)
        return self._exit_code.result() if done else Exit(UNKNOWN_EXIT)

    def _expect(self) -> asyncio.Future[memoryview]:
        if not self._jobs:
            self._first_since = self._loop.time()
        result = self._loop.create_future()
        self._jobs.append(result)
        return result

    def detach(self) -> None:
        """Lets the process finish its current page and exit; the jobs behind it go to another process."""
        self.is_detached = True
        first = self._jobs.popleft()
        for job in self._jobs:
            if not job.done():
                job.set_exception(RequeueError())
        self._jobs = deque([first])

    def kill(self) -> None:
        """Kills the process, and so ends reading its page. If its server is gone, it does not wait for the exit."""
        self._server.kill(self._number)
        if self._server.is_dead:
            self.close()

    def close(self) -> None:
        """Closes the channel; the process exits at the latest when its current page is read."""
        self.is_closed = True
        if self._transport is not None:
            self._transport.abort()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._unread += data
        frames, start = memoryview(self._unread), 0
        while len(frames) - start >= RESULT_HEADER.size:
            (length,) = RESULT_HEADER.unpack_from(frames, start)
            end = start + RESULT_HEADER.size + length
            if len(frames) < end:
                break
            self._take_result(frames[start + RESULT_HEADER.size : end])
            start = end
            if self.is_detached:
                self.close()
                return
        if start:
            self._unread = self._unread[start:]  # a new buffer: results are views of the old one

    def _take_result(self, result: memoryview) -> None:
        self._first_since = self._loop.time()
        self.jobs_done += 1
        job = self._jobs.popleft()
        if not job.done():
            job.set_result(result)

    def connection_lost(self, _error: Exception | None) -> None:
        """Fails the pending jobs. The process died on the first job without a result; a visit that was cancelled
        meanwhile needs none."""
        self.is_closed = True
        for index, job in enumerate(self._jobs):
            if not job.done():
                job.set_exception(RequeueError() if index else ParserCrashedError(0))
        self._jobs.clear()
