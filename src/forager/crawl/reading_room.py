"""Pages are read beside the worker, in processes of their own: its one core is for the network and the database.

A page that kills its reader, or keeps it too long, is read again by the next one, the sanitising way
(`extract.flatten`), and is not asked for a third time. The others that lay on the dead reader's desk are read by its
successor. `reader` is the other side.

A process that does not start is our own fault: pages that wait for one go on waiting, the worker is paused, and another
start is tried after 0.2, 0.4 … 5 s.
"""

import asyncio
import pickle
import socket
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

from forager.crawl.pauses import Pauses
from forager.crawl.reader import ANSWER, ORDER, Manner, Order, unpack
from forager.crawl.stop import StopRequest, cancel
from forager.errors import DecodeError, ParserCrashError, ParserUnavailableError
from forager.interpreter import python_module
from forager.observe import log
from forager.records import Fetched, PauseReason, Reading

DESK_PAGES = 128
"""Handed to a reader at once: as many as it reads while the worker does something else, writing a batch for one, and
does not see to the line."""
LINE_BYTES = 2 * 1024 * 1024
"""The line's own store, as far as the system grants it. By default four pages fill it, and the reader waits whenever
the worker is busy with something else."""
LARGE_BYTES = 256 * 1024
"""Larger pages have a reader of their own, one at a time, from the first of them on: some take seconds, and the pages
of other sites are not to stand behind them."""
MOST_DEATHS = 2
START_S = 120.0
FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 5.0
"""Between two starts that fail."""
MOST_WORDS = 2000
"""Characters that are kept of what a process wrote to its standard error."""


class ReadingRoom:
    def __init__(
        self, manner: Manner, readers: int, *, pauses: Pauses | None = None, stop: StopRequest | None = None
    ) -> None:
        self._manner = manner
        self._pauses = pauses or Pauses()
        self._stop = stop or StopRequest()
        """Who waits for a process that does not start waits no longer than until somebody asks to stop."""
        self._failing: set[int] = set()
        """Places whose process did not start the last time."""
        self._has_failed = asyncio.Event()
        self._places: list[asyncio.Task[_Reader] | None] = [None] * (readers + 1)
        """Each with its reader, or with one that is being fetched; the last is for large pages."""
        self._seats = asyncio.Semaphore(readers * DESK_PAGES)
        self._large_seat = asyncio.Semaphore(1)

    async def read(self, fetched: Fetched, *, parser_name: str = "auto") -> Reading:
        """Raises DecodeError as reading does, ParserCrashError when two readers died of the page, and
        ParserUnavailableError when somebody asks to stop while no reader starts."""
        deaths, is_large = 0, len(fetched.body) > LARGE_BYTES
        async with self._large_seat if is_large else self._seats:
            while deaths < MOST_DEATHS:
                index = len(self._places) - 1 if is_large else self._least_busy()
                reader = _seated(self._places[index]) or await self._reader_at(index)
                try:
                    return await reader.read(fetched, parser_name, is_sanitized=deaths > 0)
                except _ReaderDiedError as death:
                    deaths += death.was_reading_it
        raise ParserCrashError(f"the page killed {MOST_DEATHS} readers")

    async def warm_up(self) -> None:
        """The readers are there, with their language models loaded; or it is known that one does not start. Then the
        worker is paused, and says so once it works."""
        ends = {asyncio.create_task(self._start_all()), asyncio.create_task(self._wait_for_failure())}
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancel(ends)

    async def _start_all(self) -> None:
        await asyncio.gather(*map(self._reader_at, range(len(self._places) - 1)))

    async def _wait_for_failure(self) -> None:
        await self._has_failed.wait()

    def _least_busy(self) -> int:
        if len(self._places) == 2:  # one reader, besides that for large pages
            return 0
        loads = [reader.load if (reader := _seated(place)) else 0 for place in self._places[:-1]]
        return loads.index(min(loads))

    async def _reader_at(self, index: int) -> "_Reader":
        """Whoever is cancelled while it waits for a new reader leaves it to the others."""
        place = self._places[index]
        if place is None or (place.done() and _seated(place) is None):
            place = self._places[index] = asyncio.create_task(self._replace(index, place))
        return await asyncio.shield(place)

    async def _replace(self, index: int, before: "asyncio.Task[_Reader] | None") -> "_Reader":
        if before is not None and before.exception() is None:
            await _bury(before.result())
        wait_s = FIRST_WAIT_S
        while True:
            try:
                reader = await _Reader.start(self._manner)
            except _NotStartedError as error:
                self._note_failure(index, str(error))
            else:
                self._note_start(index)
                return reader
            await self._wait_or_stop(wait_s)
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)

    def _note_failure(self, index: int, how: str) -> None:
        log().info("parser process does not start", action="parser.not_started", how=how)
        self._failing.add(index)
        self._pauses.begin(PauseReason.NO_PARSER, how)
        self._has_failed.set()

    def _note_start(self, index: int) -> None:
        self._failing.discard(index)
        if not self._failing:
            self._pauses.end(PauseReason.NO_PARSER)

    async def _wait_or_stop(self, wait_s: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await self._stop.wait_asked()
            raise ParserUnavailableError("no parser process starts, and the worker is to stop")

    async def close(self) -> None:
        for place in self._places:
            if place is not None and not place.done():
                place.cancel()
                await asyncio.wait([place])
            elif reader := _seated(place):
                await reader.close()
            elif place is not None and not place.cancelled() and place.exception() is None:
                await _bury(place.result())


def _seated(place: "asyncio.Task[_Reader] | None") -> "_Reader | None":
    """The living reader of a place."""
    if place is None or not place.done() or place.cancelled() or place.exception() is not None:
        return None
    return None if place.result().is_dead else place.result()


async def _bury(reader: "_Reader") -> None:
    """Every death is told, also that of the last page's reader, whom nobody follows."""
    log().warning("reader died", action="reader.died", how=await reader.close())


@asynccontextmanager
async def open_room(
    manner: Manner, readers: int, *, pauses: Pauses | None = None, stop: StopRequest | None = None
) -> AsyncIterator[ReadingRoom | None]:
    """None where the worker reads by itself."""
    if not readers:
        yield None
        return
    room = ReadingRoom(manner, readers, pauses=pauses, stop=stop)
    try:
        yield room
    finally:
        await room.close()


class _ReaderDiedError(Exception):
    def __init__(self, *, was_reading_it: bool) -> None:
        super().__init__()
        self.was_reading_it = was_reading_it


class _NotStartedError(Exception):
    """A process that did not come to the point of reading; its text says how it ended."""


class _Reader(asyncio.Protocol):
    """One process. Its answers come in the order of the questions."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._asked: deque[asyncio.Future[bytes]] = deque()
        self._unread = bytearray()
        self._transport: asyncio.Transport | None = None
        self._process: Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self._words = ""
        """The last it wrote to its standard error."""
        self.is_dead = False

    @property
    def load(self) -> int:
        return len(self._asked)

    @classmethod
    async def start(cls, manner: Manner) -> "_Reader":
        """Ready to read. One that does not even start is our own fault, not that of a page."""
        self = cls()
        try:
            ready = await self._launch(manner)
            async with asyncio.timeout(START_S):
                await ready
        except (_ReaderDiedError, TimeoutError):
            raise _NotStartedError(await self.close()) from None
        except OSError as error:  # no more processes, files or memory
            await self.close()
            raise _NotStartedError(error.strerror or str(error)) from error
        except BaseException:
            await self.close()
            raise
        return self

    async def _launch(self, manner: Manner) -> asyncio.Future[bytes]:
        """Starts the process; what is returned is done when it is ready."""
        ours, theirs = socket.socketpair()
        with theirs:
            for end in (ours, theirs):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LINE_BYTES)
            await self._loop.create_unix_connection(lambda: self, sock=ours)
            ready = self._expect()
            self._process = await asyncio.create_subprocess_exec(
                *python_module("forager.crawl.reader"),
                *(str(theirs.fileno()), str(manner.keyword_words), manner.robots_agent),
                stdin=DEVNULL,
                stderr=PIPE,
                pass_fds=(theirs.fileno(),),
            )
        self._listening = self._loop.create_task(self._listen(self._process))
        return ready

    async def _listen(self, process: Process) -> None:
        """What it writes to its standard error goes to the log, never to a terminal."""
        assert process.stderr is not None
        while words := await process.stderr.read(65536):
            text = words.decode("utf-8", "replace")
            self._words = (self._words + text)[-MOST_WORDS:]
            log().info("parser process wrote", action="parser.stderr", pid=process.pid, words=text[:MOST_WORDS])

    async def read(self, fetched: Fetched, parser_name: str, *, is_sanitized: bool = False) -> Reading:
        if self.is_dead or self._transport is None:
            raise _ReaderDiedError(was_reading_it=False)
        order = pickle.dumps(
            tuple(Order(fetched.url, dict(fetched.headers), fetched.is_truncated, parser_name, is_sanitized)),
            protocol=5,
        )
        answer = self._expect()
        self._transport.writelines([ORDER.pack(len(order), len(fetched.body)), order, fetched.body])
        kind, value = cast("tuple[str, Any]", pickle.loads(await answer))  # noqa: S301 (from our own reader)
        if kind == "reading":
            return unpack(value)
        if kind == "unreadable":
            raise DecodeError(value)
        bug = RuntimeError(value[0])
        bug.add_note(value[1])
        raise bug

    def _expect(self) -> asyncio.Future[bytes]:
        answer = self._loop.create_future()
        self._asked.append(answer)
        return answer

    async def close(self) -> str:
        """How it ended."""
        self.is_dead = True
        if self._transport is not None:
            self._transport.abort()
        if self._process is None:
            return "not started"
        with suppress(ProcessLookupError):
            self._process.kill()
        code = await self._process.wait()
        if self._listening is not None:
            await asyncio.wait({self._listening}, timeout=1.0)  # a grandchild could keep the pipe open
            self._listening.cancel()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        last = self._words.strip().rpartition("\n")[2].strip()[:200]
        return f"{how}: {last}" if last else how

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._unread += data
        while len(self._unread) >= ANSWER.size:
            (length,) = ANSWER.unpack_from(self._unread)
            end = ANSWER.size + length
            if len(self._unread) < end:
                return
            answer = bytes(self._unread[ANSWER.size : end])
            del self._unread[:end]
            asked = self._asked.popleft()
            if not asked.done():
                asked.set_result(answer)

    def connection_lost(self, _error: Exception | None) -> None:
        """It read the first that is unanswered when it died; a visit that was cancelled meanwhile needs no answer."""
        self.is_dead = True
        for index, asked in enumerate(self._asked):
            if not asked.done():
                asked.set_exception(_ReaderDiedError(was_reading_it=index == 0))
        self._asked.clear()
