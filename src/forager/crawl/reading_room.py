"""Pages are read beside the worker, in processes of their own: its one core is for the network and the database.

A page that kills its reader is handed to the next one once more, and is not asked for a third time. The others that
lay on the dead reader's desk are read by its successor. `reader` is the other side.
"""

import asyncio
import pickle
import socket
from asyncio.subprocess import DEVNULL, Process
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

from forager.crawl.reader import ANSWER, ORDER, Manner, Order, unpack
from forager.errors import DecodeError, ParserCrashError
from forager.interpreter import python_module
from forager.observe import log
from forager.records import Fetched, Reading

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


class ReadingRoom:
    def __init__(self, manner: Manner, readers: int) -> None:
        self._manner = manner
        self._places: list[asyncio.Task[_Reader] | None] = [None] * (readers + 1)
        """Each with its reader, or with one that is being fetched; the last is for large pages."""
        self._seats = asyncio.Semaphore(readers * DESK_PAGES)
        self._large_seat = asyncio.Semaphore(1)

    async def read(self, fetched: Fetched, *, parser_name: str = "auto") -> Reading:
        """Raises DecodeError as reading does, and ParserCrashError when two readers died of the page."""
        deaths, is_large = 0, len(fetched.body) > LARGE_BYTES
        async with self._large_seat if is_large else self._seats:
            while deaths < MOST_DEATHS:
                index = len(self._places) - 1 if is_large else self._least_busy()
                reader = _seated(self._places[index]) or await self._reader_at(index)
                try:
                    return await reader.read(fetched, parser_name)
                except _ReaderDiedError as death:
                    deaths += death.was_reading_it
        raise ParserCrashError(f"the page killed {MOST_DEATHS} readers")

    async def warm_up(self) -> None:
        """The readers are there, with their language models loaded."""
        await asyncio.gather(*map(self._reader_at, range(len(self._places) - 1)))

    def _least_busy(self) -> int:
        if len(self._places) == 2:  # one reader, besides that for large pages
            return 0
        loads = [reader.load if (reader := _seated(place)) else 0 for place in self._places[:-1]]
        return loads.index(min(loads))

    async def _reader_at(self, index: int) -> "_Reader":
        """Whoever is cancelled while it waits for a new reader leaves it to the others."""
        place = self._places[index]
        if place is None or (place.done() and _seated(place) is None):
            place = self._places[index] = asyncio.create_task(self._replace(place))
        return await asyncio.shield(place)

    async def _replace(self, before: "asyncio.Task[_Reader] | None") -> "_Reader":
        if before is not None and before.exception() is None:
            await _bury(before.result())
        return await _Reader.start(self._manner)

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
async def open_room(manner: Manner, readers: int) -> AsyncIterator[ReadingRoom | None]:
    """None where the worker reads by itself."""
    if not readers:
        yield None
        return
    room = ReadingRoom(manner, readers)
    try:
        yield room
    finally:
        await room.close()


class _ReaderDiedError(Exception):
    def __init__(self, *, was_reading_it: bool) -> None:
        super().__init__()
        self.was_reading_it = was_reading_it


class _Reader(asyncio.Protocol):
    """One process. Its answers come in the order of the questions."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._asked: deque[asyncio.Future[bytes]] = deque()
        self._unread = bytearray()
        self._transport: asyncio.Transport | None = None
        self._process: Process | None = None
        self.is_dead = False

    @property
    def load(self) -> int:
        return len(self._asked)

    @classmethod
    async def start(cls, manner: Manner) -> "_Reader":
        """Ready to read. One that does not even start is our own fault, not that of a page."""
        self = cls()
        ours, theirs = socket.socketpair()
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LINE_BYTES)
        with theirs:
            await self._loop.create_unix_connection(lambda: self, sock=ours)
            ready = self._expect()
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *python_module("forager.crawl.reader"),
                    *(str(theirs.fileno()), str(manner.keyword_words), manner.robots_agent),
                    stdin=DEVNULL,
                    pass_fds=(theirs.fileno(),),
                )
            except BaseException:
                await self.close()
                raise
        try:
            async with asyncio.timeout(START_S):
                await ready
        except (_ReaderDiedError, TimeoutError):
            how = await self.close()
            raise RuntimeError(f"a process to read pages in does not start ({how})") from None
        except BaseException:
            await self.close()
            raise
        return self

    async def read(self, fetched: Fetched, parser_name: str) -> Reading:
        if self.is_dead or self._transport is None:
            raise _ReaderDiedError(was_reading_it=False)
        order = pickle.dumps(
            tuple(Order(fetched.url, dict(fetched.headers), fetched.is_truncated, parser_name)), protocol=5
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
        return f"signal {-code}" if code < 0 else f"exit code {code}"

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
