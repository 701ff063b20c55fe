"""A wire to a real server that a test can cut, or hold still: it passes bytes from a port of its own to the server and
back.

Cut, it refuses calls and drops those that were open, as a server does that is being restarted elsewhere. Held, the
other end is there and says nothing. It lives in a thread, so that it also serves processes a test waits for.
"""

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.listening import Listener

Dial = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


class Wire:
    def __init__(self, dial: Dial, url: str) -> None:
        self._dial = dial
        self._url = url
        self._loop = asyncio.new_event_loop()
        self._listener = Listener(self._take)
        self._flows = asyncio.Event()
        self._flows.set()
        self.port = 0

    @property
    def url(self) -> str:
        """The server's own, but for the way to it."""
        return self._url.format(place=f"127.0.0.1:{self.port}")

    def cut(self) -> None:
        self._do(self._listener.stop())

    def mend(self) -> None:
        self._do(self._repair())

    def hold(self) -> None:
        self._loop.call_soon_threadsafe(self._flows.clear)

    def let_go(self) -> None:
        self._loop.call_soon_threadsafe(self._flows.set)

    async def _repair(self) -> None:
        self.port = await self._listener.start("127.0.0.1", self.port)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await self._dial()
        ways = {asyncio.create_task(self._pass(*way)) for way in ((reader, far_writer), (far_reader, writer))}
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            far_writer.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                await self._flows.wait()
                writer.write(data)
                await writer.drain()

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    def run(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    def stop(self) -> None:
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)


@contextlib.contextmanager
def a_wire(dial: Dial, url: str) -> Iterator[Wire]:
    """`url` has `{place}` where the host and the port of the server would be."""
    wire = Wire(dial, url)
    thread = threading.Thread(target=wire.run, daemon=True)
    thread.start()
    try:
        wire.mend()
        yield wire
    finally:
        wire.stop()
        thread.join(10)


@contextlib.contextmanager
def a_wire_to_database(dsn: str) -> Iterator[Wire]:
    """To a server that is reached by the socket file its DSN names."""
    parts = urlsplit(dsn)
    query = parse_qs(parts.query)
    door = f"{query['host'][0]}/.s.PGSQL.{query['port'][0]}"
    with a_wire(
        lambda: asyncio.open_unix_connection(door), f"postgresql://{parts.username}@{{place}}{parts.path}"
    ) as wire:
        yield wire
