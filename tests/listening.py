"""A listening port for servers of tests that leaves nothing behind.

A task that waits for something only it knows, for a client that has hung up, is held by nobody: the collector takes it
with its open socket, and a warning falls on whatever test runs at that moment. So all talks are held here, and stopping
waits until the last socket is closed.
"""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Listener:
    """Answers each connection with `talk`, and cuts it when that ends."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._server: asyncio.Server | None = None
        self._talks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def start(self, host: str, port: int = 0, *, tls: ssl.SSLContext | None = None) -> int:
        """The port it listens at."""
        self._server = await asyncio.start_server(self._welcome, host, port, ssl=tls, limit=2**20)
        found: int = self._server.sockets[0].getsockname()[1]
        return found

    async def stop(self) -> None:
        """Calls are refused from now on, open ones are cut."""
        if self._server is None:
            return
        self._server.close()
        await asyncio.sleep(0)  # whoever was just let in says hello
        while self._talks:
            cut = list(self._talks)
            for task in cut:
                task.cancel()
            await asyncio.wait(cut)
        await self._server.wait_closed()
        self._server = None

    def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._host(reader, writer))
        self._talks[task] = writer
        task.add_done_callback(self._part)

    async def _host(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError, ssl.SSLError, asyncio.CancelledError):
            await self._talk(reader, writer)
        writer.transport.abort()
        with contextlib.suppress(OSError, ssl.SSLError):
            await writer.wait_closed()

    def _part(self, task: asyncio.Task[None]) -> None:
        self._talks.pop(task).transport.abort()


@contextlib.asynccontextmanager
async def listening(
    talk: Talk, host: str = "127.0.0.1", port: int = 0, *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """The port, until the block ends."""
    listener = Listener(talk)
    try:
        yield await listener.start(host, port, tls=tls)
    finally:
        await listener.stop()
