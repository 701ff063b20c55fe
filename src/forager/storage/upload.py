"""Uploads a file, or what is being written, to a bucket, in parts if it is large. A killed upload leaves no object.

The request is signed with a checksum of its content, so a server accepts all of it as it was sent, or rejects it.
"""

import contextlib
import io
import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from forager.errors import ConfigurationError, StoreError
from forager.storage.bucket import UPLOAD_S, Bucket, connect, translate_error

PART_BYTES = 8 * 1024 * 1024
MOST_PARTS = 9_000
PARTS_AT_ONCE = 4
"""So that an upload takes 32 MB of memory, however large the file is."""


class StoppedError(Exception):
    """The upload takes longer than the time limit."""


def never() -> bool:
    return False


def upload(bucket: Bucket, path: Path, key: str, *, is_late: Callable[[], bool] = never) -> None:
    """Uploads the file. Raises StoreError, and StoppedError as soon as the time limit has passed."""
    size = path.stat().st_size
    part = max(PART_BYTES, size // MOST_PARTS)
    try:
        store = connect(bucket, timeout_s=UPLOAD_S)
        if size <= part:
            store.put(key, path.read_bytes())
        else:
            store.put(key, _parts(path, part, is_late), chunk_size=part, max_concurrency=PARTS_AT_ONCE)
        stored = store.head(key)["size"]
    except (ConfigurationError, StoppedError):
        raise
    except Exception as error:
        if is_late():
            raise StoppedError from error
        raise translate_error(error, bucket, key) from None
    if stored != size:
        raise StoreError(f"{key} in {bucket} has {stored:,} bytes instead of {size:,}.", "damaged")


def _parts(path: Path, part: int, is_late: Callable[[], bool]) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while piece := stream.read(part):
            if is_late():
                raise StoppedError
            yield piece


@contextlib.contextmanager
def open_upload(bucket: Bucket, key: str) -> Iterator[BinaryIO]:
    """Opens an object for writing: what is written is uploaded in parts meanwhile. The object appears when the block
    ends; after an error, or a kill, there is none, or the one that was there before. Raises StoreError."""
    writer = _Uploader(bucket, key)
    try:
        yield cast("BinaryIO", writer)
    except BaseException:
        writer.abort()
        raise
    writer.finish()


class _AbortedError(Exception):
    """The caller gave up: the parts that were uploaded are discarded."""


class _Uploader(io.RawIOBase):
    """A file whose parts a thread uploads. Memory: the parts in flight, and as many as wait."""

    def __init__(self, bucket: Bucket, key: str) -> None:
        self._bucket, self._key = bucket, key
        self._store = connect(bucket, timeout_s=UPLOAD_S)
        self._part = bytearray()
        self._size = 0
        self._parts: queue.Queue[bytes | None] = queue.Queue(maxsize=1)
        self._is_aborted = False
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._upload, name="upload", daemon=True)
        self._thread.start()

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._size

    def write(self, content: Any, /) -> int:
        view = memoryview(content).cast("B")
        for start in range(0, len(view), PART_BYTES):
            self._part += view[start : start + PART_BYTES]
            if len(self._part) >= PART_BYTES:
                self._send(bytes(self._part))
                self._part.clear()
        self._size += len(view)
        return len(view)

    def finish(self) -> None:
        if self._part:
            self._send(bytes(self._part))
        self._send(None)
        self._thread.join()
        self._raise()
        try:
            stored = self._store.head(self._key)["size"]
        except Exception as error:
            raise translate_error(error, self._bucket, self._key) from None
        if stored != self._size:
            raise StoreError(
                f"{self._key} in {self._bucket} has {stored:,} bytes instead of {self._size:,}.", "damaged"
            )

    def abort(self) -> None:
        self._is_aborted = True
        while self._thread.is_alive():
            with contextlib.suppress(queue.Full):
                self._parts.put(None, timeout=0.1)
        self._thread.join()

    def _send(self, part: bytes | None) -> None:
        """Waits for the thread; raises what stopped it."""
        while self._thread.is_alive():
            with contextlib.suppress(queue.Full):
                self._parts.put(part, timeout=0.1)
                return
        self._raise()

    def _raise(self) -> None:
        if self._error is not None:
            raise translate_error(self._error, self._bucket, self._key) from None

    def _upload(self) -> None:
        """A small object is one request; of a large one the library uploads parts, and discards them if the iterator
        raises."""
        try:
            first = self._parts.get()
            if first is None or len(first) < PART_BYTES:
                self._check_abort()
                self._store.put(self._key, first or b"")
                return
            self._store.put(self._key, self._iter_parts(first), chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE)
        except _AbortedError:
            return
        except Exception as error:
            if not self._is_aborted:
                self._error = error

    def _iter_parts(self, part: bytes | None) -> Iterator[bytes]:
        while part is not None:
            self._check_abort()
            yield part
            part = self._parts.get()
        self._check_abort()

    def _check_abort(self) -> None:
        if self._is_aborted:
            raise _AbortedError
