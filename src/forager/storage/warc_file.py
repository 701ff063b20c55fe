"""WARC files of one worker: appended to in batches, made durable, rolled by size and age, repaired after a kill.

A file is named `….warc.gz.open` and locked while a worker writes it. A worker that starts later and can lock one has
found a dead worker's file: complete records stay, a torn tail is cut, and it is closed like any other. Each file has an
index beside it, which is sorted when the file is closed.
"""

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from isal import igzip_lib

from forager import clock
from forager.errors import StoreError
from forager.logs import log
from forager.storage import cdxj, warc_record
from forager.storage.local import translate_error
from forager.storage.models import StoredBody
from forager.storage.refs import OPEN, WarcRef

INDEX = ".cdxj"
READ_AT_ONCE = 1024 * 1024


class Limits(NamedTuple):
    most_bytes: int
    longest_s: float


class WarcFile:
    """One file that is open for writing."""

    def __init__(self, folder: Path, name: str, info: bytes) -> None:
        self.name = name
        self.opened_at = clock.monotonic()
        self._path = folder / (name + OPEN)
        self._descriptor = _create_locked(self._path)
        self._index = os.open(
            folder / (name + INDEX), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
        self.size = 0
        try:
            self._write(info)
        except OSError:
            self.abandon()
            raise
        _sync_folder(folder)

    def append(self, stored_bodies: Sequence[StoredBody]) -> list[WarcRef]:
        """Appends all or nothing: after an error the file is as long as before."""
        before, refs = self.size, []
        end = before
        for stored in stored_bodies:
            start = end + len(stored.lead)
            end = start + len(stored.blob)
            refs.append(WarcRef(self.name, start, len(stored.blob)))
        try:
            self._write(b"".join(part for stored in stored_bodies for part in (stored.lead, stored.blob)))
            lines = [
                cdxj.with_offset(stored.index, self.name, ref.offset, ref.length)
                for stored, ref in zip(stored_bodies, refs, strict=True)
            ]
            _write_all(self._index, "".join(f"{line}\n" for line in lines).encode())
        except OSError:
            os.ftruncate(self._descriptor, before)
            self.size = before
            raise
        return refs

    def close(self) -> None:
        self.abandon()
        finalize(self._path)

    def abandon(self) -> None:
        os.close(self._index)
        os.close(self._descriptor)

    def _write(self, content: bytes) -> None:
        os.lseek(self._descriptor, self.size, os.SEEK_SET)
        _write_all(self._descriptor, content)
        os.fsync(self._descriptor)
        self.size += len(content)


class WarcWriter:
    """Writes archived bodies. Creates no file before the first body."""

    def __init__(self, folder: Path, limits: Limits, make_info: Callable[[str, datetime], bytes]) -> None:
        self._folder = folder
        self._limits = limits
        self._make_info = make_info
        self._file: WarcFile | None = None
        self.sizes: dict[str, int] = {}
        """File → its size, of those written since the last call."""

    def write(self, stored_bodies: Sequence[StoredBody]) -> list[WarcRef]:
        try:
            file = self._file or self._open()
            refs = file.append(stored_bodies)
            self.sizes[file.name] = file.size
            self._roll()
        except OSError as error:
            self._drop()
            raise translate_error(error, "warc") from error
        return refs

    def close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _open(self) -> WarcFile:
        first = not self._folder.exists()
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not first:
            repair_all(self._folder)
        now = clock.now()
        name = f"forager-{now:%Y%m%d%H%M%S}-{os.urandom(4).hex()}.warc.gz"
        self._file = WarcFile(self._folder, name, self._make_info(name, now))
        return self._file

    def _roll(self) -> None:
        file = self._file
        if file is None:
            return
        if file.size >= self._limits.most_bytes or clock.monotonic() - file.opened_at >= self._limits.longest_s:
            self.close()

    def _drop(self) -> None:
        """Leaves a file that could not be written to the next repair; its complete records stay valid."""
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                file.abandon()


def finalize(path: Path) -> None:
    """Sorts the index and gives the file its final name."""
    final = path.with_name(path.name.removesuffix(OPEN))
    index = final.with_name(final.name + INDEX)
    size = path.stat().st_size
    lines = sorted({line for line in _read_valid_lines(index) if (cdxj.end_of(line) or 0) <= size})
    fresh = index.with_name(index.name + ".new")
    fresh.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    fresh.replace(index)
    path.replace(final)
    _sync_folder(path.parent)


def repair_all(folder: Path) -> list[str]:
    """Closes files of dead workers and returns their names. A live worker keeps its lock."""
    mended = []
    for path in sorted(folder.glob("*" + OPEN)):
        with contextlib.suppress(FileNotFoundError, BlockingIOError):
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if path.exists():  # otherwise another worker was faster
                    _repair(path, descriptor)
                    mended.append(path.name.removesuffix(OPEN))
            finally:
                os.close(descriptor)
    return mended


def _repair(path: Path, descriptor: int) -> None:
    name = path.name.removesuffix(OPEN)
    index = path.with_name(name + INDEX)
    size = os.fstat(descriptor).st_size
    ends = [cdxj.end_of(line) or 0 for line in _read_valid_lines(index)]
    good_end, lines = max((end for end in ends if end <= size), default=0), []
    for start, end, member in _members(descriptor, good_end):
        good_end = end
        if line := _line_of(warc_record.read(member), name, start, end - start):
            lines.append(line)
    if good_end == 0:
        path.unlink()
        index.unlink(missing_ok=True)
        return
    if good_end < size:
        os.ftruncate(descriptor, good_end)
        os.fsync(descriptor)
        log().warning("torn archive cut", action="archive.mended", file=name, bytes=size - good_end)
    with index.open("a", encoding="utf-8") as stream:
        stream.writelines(f"{line}\n" for line in lines)
    finalize(path)


def _line_of(record: warc_record.Record, name: str, offset: int, length: int) -> str | None:
    if record.kind not in {"response", "revisit"}:
        return None
    fields = record.headers
    status_code = int(record.block.split(b" ", 2)[1])
    content_type = next(
        (
            line.partition(b":")[2].decode("latin-1")
            for line in record.block.partition(b"\r\n\r\n")[0].split(b"\r\n")
            if line.lower().startswith(b"content-type:")
        ),
        "",
    )
    at = datetime.fromisoformat(fields["WARC-Date"])
    digest, is_revisit = fields.get("WARC-Payload-Digest", ""), record.kind == "revisit"
    line = cdxj.index_line(fields["WARC-Target-URI"], at, status_code, content_type, digest, is_revisit=is_revisit)
    return cdxj.with_offset(line, name, offset, length)


def _members(descriptor: int, start: int) -> Iterator[tuple[int, int, bytes]]:
    """Yields complete records from a record's beginning on: where each begins and ends, and its bytes."""
    while True:
        member = _read_gzip_member(descriptor, start)
        if member is None:
            return
        try:
            warc_record.read(member)
        except StoreError:
            return
        yield start, start + len(member), member
        start += len(member)


def _read_gzip_member(descriptor: int, start: int) -> bytes | None:
    stream = igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP)
    pieces: list[bytes] = []
    at = start
    while not stream.eof:
        piece = os.pread(descriptor, READ_AT_ONCE, at)
        if not piece:
            return None
        try:
            stream.decompress(piece)
        except Exception:
            return None
        pieces.append(piece)
        at += len(piece)
    taken = at - start - len(stream.unused_data)
    return b"".join(pieces)[:taken]


def _create_locked(path: Path) -> int:
    """Opens a file for this worker alone. A worker that repairs files may take it for a dead worker's before we lock
    it: then it no longer exists."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    if not path.exists():
        os.close(descriptor)
        return _create_locked(path)
    return descriptor


def _read_valid_lines(index: Path) -> list[str]:
    try:
        text = index.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    return [line for line in text.split("\n") if cdxj.end_of(line) is not None]


def _write_all(descriptor: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
