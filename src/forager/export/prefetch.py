"""Buffers rows of an export for a client that may be slow: they are read from the database at its full speed, into an
unnamed file, and sent from there.

So a snapshot, which keeps vacuum from removing rows deleted since, lasts as long as the database needs and not as long
as the client takes. Only if a client is `ahead_bytes` behind does the database wait for it.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import IO, Any

MOST_AHEAD = 1024**3
SHARE_OF_DISK = 20
"""One export takes at most a twentieth of the free space."""
PIECE_BYTES = 256 * 1024


class ReadBuffer:
    """Calls `on_read` as soon as everything is read, or no client wants it any more."""

    def __init__(
        self,
        pieces: AsyncIterator[bytes],
        folder: Path,
        on_read: Callable[[], Awaitable[None]],
        *,
        within_s: float,
        ahead_bytes: int | None = None,
    ) -> None:
        self._pieces = pieces
        self._on_read = on_read
        self._within_s = within_s
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder, prefix="export-")  # noqa: SIM115 (`close` does it)
        free = shutil.disk_usage(folder).free // SHARE_OF_DISK
        self._ahead_bytes = min(MOST_AHEAD, free) if ahead_bytes is None else ahead_bytes
        self._written = self._sent = 0
        self._has_grown, self._has_room = asyncio.Event(), asyncio.Event()
        self._in_threads: set[asyncio.Future[Any]] = set()
        self._reading = asyncio.create_task(self._read())
        self._reading.add_done_callback(lambda _task: self._has_grown.set())

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yields what was read, in order. An error while reading is raised at the position of the missing rows."""
        while True:
            if self._written == self._sent:
                if self._reading.done():
                    self._reading.result()
                    return
                self._has_grown.clear()
                await self._has_grown.wait()
                continue
            size = min(PIECE_BYTES, self._written - self._sent)
            piece: bytes = await self._in_thread(os.pread, self._file.fileno(), size, self._sent)
            self._sent += len(piece)
            self._has_room.set()
            yield piece

    async def close(self) -> None:
        self._reading.cancel()
        await asyncio.gather(self._reading, *self._in_threads, return_exceptions=True)
        self._file.close()

    async def _read(self) -> None:
        try:
            async with asyncio.timeout(self._within_s):
                async for piece in self._pieces:
                    while self._written - self._sent >= self._ahead_bytes:
                        self._has_room.clear()
                        await self._has_room.wait()
                    await self._in_thread(_write_at, self._file.fileno(), piece, self._written)
                    self._written += len(piece)
                    self._has_grown.set()
        finally:
            await self._on_read()

    async def _in_thread(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Never abandons a running call: its file descriptor could belong to another file by then."""
        future = asyncio.ensure_future(asyncio.to_thread(work, *arguments))
        self._in_threads.add(future)
        future.add_done_callback(self._in_threads.discard)
        return await asyncio.shield(future)


def _write_at(file: int, piece: bytes, position: int) -> None:
    view = memoryview(piece)
    while view:
        size = os.pwrite(file, view, position)
        view, position = view[size:], position + size
