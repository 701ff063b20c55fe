"""Rows in the format of a plug-in. Its code runs in a thread, which gets the rows in batches and writes meanwhile:
memory stays the same, and the rows are read by the task that owns the cursor.

A plug-in that raises, or that leaves rows, fails the export: what it had written does not appear.
"""

import asyncio
import io
import queue
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from typing import Any, BinaryIO, cast

from forager.errors import PluginFailedError
from forager.export.formats import HOOK, PluginFormat
from forager.export.streams import OnRows, Rows
from forager.plugins import registry
from forager.plugins.threads import run_in_thread

ROWS_AT_ONCE = 500
BATCHES = 2
"""In memory: the one that is written, and the next one."""
PIECE_BYTES, PIECES = 64 * 1024, 8
"""Written, and not read yet."""
Batch = list[dict[str, Any]]


async def write_with_plugin(
    target: BinaryIO,
    rows: Rows,
    types: Mapping[str, str],
    chosen: PluginFormat,
    on_rows: OnRows = lambda _rows: None,
) -> int:
    """Writes all rows; returns how many there were. Raises PluginFailedError."""
    feed, output = _Feed(), _Output(target)
    work = asyncio.ensure_future(
        run_in_thread(lambda: _run(chosen, feed, dict(types), output), timeout_s=None),
    )
    work.add_done_callback(lambda _: feed.slots.release())
    try:
        count = 0
        async for batch in _batches(rows):
            await feed.slots.acquire()
            if work.done():
                break
            feed.send(batch)
            count += len(batch)
            on_rows(count)
        feed.send(None)
        await work
    except BaseException:
        feed.stop()
        output.stop()
        work.cancel()
        raise
    output.stop()
    return count


def _run(chosen: PluginFormat, feed: "_Feed", types: Mapping[str, str], output: "_Output") -> None:
    try:
        chosen.exporter.write(iter(feed), types, cast("BinaryIO", output))
        if not feed.is_done:
            raise ValueError("it did not take all rows")
    except BaseException as error:
        if output.error is not None:  # the disk or the bucket, and not the plug-in
            raise output.error from None
        if not feed.is_stopped:
            registry.current().note(chosen.plugin, HOOK, error)
        text = " ".join(str(error).split())[:500].rstrip(".")
        said = f"{type(error).__name__}: {text}" if text else type(error).__name__
        raise PluginFailedError(
            f"The plug-in {chosen.plugin} failed to write the format {chosen.exporter.name}: {said}."
        ) from error


async def _batches(rows: Rows) -> AsyncIterator[Batch]:
    batch: Batch = []
    async for row in rows:
        batch.append(row)
        if len(batch) == ROWS_AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


class _StoppedError(Exception):
    """The export ended before the plug-in did."""


class _Feed:
    """Batches on their way to the thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._batches: queue.SimpleQueue[Batch | None] = queue.SimpleQueue()
        self.slots = asyncio.Semaphore(BATCHES)
        """One is free for each batch that may be sent."""
        self.is_done = self.is_stopped = False

    def send(self, batch: Batch | None) -> None:
        self._batches.put(batch)

    def stop(self) -> None:
        self.is_stopped = True
        self._batches.put(None)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while (batch := self._batches.get()) is not None:
            yield from batch
            self._loop.call_soon_threadsafe(self.slots.release)
        if self.is_stopped:
            raise _StoppedError("the export was ended")
        self.is_done = True


class _Output(io.RawIOBase):
    """The file that a plug-in writes: it cannot close it, nor write to it later."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self._size = 0
        self._is_stopped = False
        self.error: BaseException | None = None
        """What the target raised."""

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._size

    def stop(self) -> None:
        self._is_stopped = True

    def write(self, content: Any, /) -> int:
        view = memoryview(content).cast("B")
        if self._is_stopped:
            raise _StoppedError("the export was ended")
        try:
            self._target.write(view)
        except BaseException as error:
            self.error = self.error or error
            raise
        self._size += len(view)
        return len(view)


async def stream_with_plugin(rows: Rows, types: Mapping[str, str], chosen: PluginFormat) -> AsyncGenerator[bytes]:
    """Yields what a plug-in writes, while it writes. Raises PluginFailedError."""
    pipe = _Pipe()
    writing = asyncio.ensure_future(write_with_plugin(cast("BinaryIO", pipe), rows, types, chosen))
    writing.add_done_callback(lambda _: pipe.pieces.put_nowait(None))
    try:
        while (piece := await pipe.pieces.get()) is not None:
            pipe.room.release()
            yield piece
        await writing
        yield pipe.rest()
    finally:
        pipe.stop()
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)


class _Pipe(io.RawIOBase):
    """A file that is read while it is written: the thread of the writer waits where nobody reads."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._piece = bytearray()
        self._is_stopped = False
        self.pieces: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.room = threading.Semaphore(PIECES)

    def writable(self) -> bool:
        return True

    def write(self, content: Any, /) -> int:
        self._piece += content
        if len(self._piece) >= PIECE_BYTES:
            self.room.acquire()
            if self._is_stopped:
                raise _StoppedError("nobody reads any more")
            self._loop.call_soon_threadsafe(self.pieces.put_nowait, self.rest())
        return len(content)

    def rest(self) -> bytes:
        piece = bytes(self._piece)
        self._piece.clear()
        return piece

    def stop(self) -> None:
        self._is_stopped = True
        self.room.release()
