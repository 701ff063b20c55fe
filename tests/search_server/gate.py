"""A gate before the search server, on a port of its own: shut, cut in the middle of a request, deaf, holding back."""

import asyncio
import contextlib
from collections.abc import AsyncIterator


class Gate:
    def __init__(self, host: str, port: int) -> None:
        self._target = host, port
        self._server: asyncio.Server | None = None
        self._port = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self.cut_after: int | None = None
        """Bytes of requests that still pass; then everything is cut."""
        self.is_deaf = False
        """Requests pass, answers do not: the connection is cut instead."""
        self.passing = asyncio.Event()
        """Unset: requests are held back, and go on when it is set, whoever has left meanwhile."""
        self.passing.set()
        self.held = asyncio.Event()
        """A request is being held back."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def open(self) -> None:
        self.cut_after, self.is_deaf = None, False
        self.passing.set()
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
            self._port = self._server.sockets[0].getsockname()[1]

    async def shut(self) -> None:
        """Nobody is there: what is open is cut, and who dials is refused."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in list(self._writers):
            writer.transport.abort()
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind_reader, behind = await asyncio.open_connection(*self._target)
        self._writers |= {writer, behind}
        try:
            there = asyncio.create_task(self._carry_requests(reader, behind))
            back = asyncio.create_task(self._carry_answers(behind_reader, writer))
            await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
            if there.done() and not self.passing.is_set():
                await there
            for task in (there, back):
                task.cancel()
            await asyncio.gather(there, back, return_exceptions=True)
        finally:
            for each in (writer, behind):
                each.transport.abort()
                self._writers.discard(each)

    async def _carry_requests(self, reader: asyncio.StreamReader, behind: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                if not self.passing.is_set():
                    await self._hold(reader, behind, data)
                    return
                if self.cut_after is not None:
                    data, self.cut_after = data[: self.cut_after], max(0, self.cut_after - len(data))
                behind.write(data)
                await behind.drain()
                if self.cut_after == 0:
                    return

    async def _hold(self, reader: asyncio.StreamReader, behind: asyncio.StreamWriter, data: bytes) -> None:
        """The whole request, also of one who hangs up; its answer is heard to the end, so that it was carried out."""
        head, _, rest = data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split()[0])
        while len(rest) < length:
            more = await reader.read(65536)
            rest, data = rest + more, data + more
        self.held.set()
        await self.passing.wait()
        behind.write(data)
        await behind.drain()
        await asyncio.sleep(0.5)

    async def _carry_answers(self, behind: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await behind.read(65536):
                if self.is_deaf:
                    return
                writer.write(data)
                await writer.drain()


@contextlib.asynccontextmanager
async def open_gate(url: str) -> AsyncIterator[Gate]:
    host, _, port = url.removeprefix("http://").partition(":")
    gate = Gate(host, int(port))
    await gate.open()
    try:
        yield gate
    finally:
        await gate.shut()
