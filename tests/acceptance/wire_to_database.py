"""A wire to the database that a test can cut: it passes bytes from a TCP port to the server's own door and back.

Cut, it refuses connections and drops those that were open, as a server does that is being restarted elsewhere.
"""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.listening import Listener


class Wire:
    def __init__(self, dsn: str) -> None:
        parts = urlsplit(dsn)
        query = parse_qs(parts.query)
        self._door = f"{query['host'][0]}/.s.PGSQL.{query['port'][0]}"
        self._user, self._database = parts.username, parts.path
        self._loop = asyncio.new_event_loop()
        self._listener = Listener(self._take)
        self.port = 0

    @property
    def dsn(self) -> str:
        return f"postgresql://{self._user}@127.0.0.1:{self.port}{self._database}"

    def cut(self) -> None:
        self._do(self._cut())

    def mend(self) -> None:
        self._do(self._mend())

    async def _mend(self) -> None:
        self.port = await self._listener.start("127.0.0.1", self.port)

    async def _cut(self) -> None:
        await self._listener.stop()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with _dialled(self._door) as (far_reader, far_writer):
            there, back = _pass_on(reader, far_writer), _pass_on(far_reader, writer)
            ways = {asyncio.create_task(there), asyncio.create_task(back)}
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    def run(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    def stop(self) -> None:
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)


@contextlib.contextmanager
def a_wire(dsn: str) -> Iterator[Wire]:
    wire = Wire(dsn)
    thread = threading.Thread(target=wire.run, daemon=True)
    thread.start()
    try:
        wire.mend()
        yield wire
    finally:
        wire.stop()
        thread.join(10)


@contextlib.asynccontextmanager
async def _dialled(door: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_unix_connection(door)
    async with _hanging_up(writer):
        yield reader, writer


@contextlib.asynccontextmanager
async def _hanging_up(writer: asyncio.StreamWriter) -> AsyncIterator[None]:
    try:
        yield
    finally:
        writer.transport.abort()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
