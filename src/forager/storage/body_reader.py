"""Reads stored bodies piece by piece: one of 200 MB takes a few MB of memory. Calls block and run in threads.

A body is verified before its first byte is returned: a large one is read twice, a small one is held.
"""

import hashlib
import itertools
import json
import sys
from base64 import b32encode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

from isal import igzip_lib

from forager.errors import StoreError
from forager.storage import text
from forager.storage.location import Location
from forager.storage.refs import OPEN, SnapshotRef, TextRef, WarcRef, parse
from forager.storage.warc_record import NOT_MODIFIED, REFERS_TO

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PIECE_BYTES = 1024 * 1024
HELD_BYTES = 4 * PIECE_BYTES
"""A body up to this size is read once."""
LARGEST_HEAD = 32 * PIECE_BYTES
"""What comes before a body: its headers, and a screenshot with a snapshot."""
LARGEST_BODY = 1024 * PIECE_BYTES
"""A body that claims to be larger is damaged, or made to fill the memory."""
END_OF_HEAD = b"\r\n\r\n"
OK = 200
TEXT_TYPE = "text/markdown; charset=utf-8"


class BodyInfo(NamedTuple):
    """What is known of a stored body."""

    status_code: int
    content_type: str
    """As the server named it, with its charset; empty: it named none."""
    digest: str
    """Of the body as it was parsed: `sha256:` and base 32."""
    size_bytes: int
    stored_bytes: int
    """Of its file or record, compressed; of a repeated body, of the record that refers to it."""
    is_revisit: bool = False
    """The record refers to an earlier one with the same body."""


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Head(NamedTuple):
    """What comes before a body."""

    status_code: int
    content_type: str
    stored_bytes: int
    digest: str | None
    """That its bytes must have."""
    is_revisit: bool = False


@dataclass(frozen=True, slots=True)
class OpenBody:
    """A verified body. `chunks` may be called more than once."""

    info: BodyInfo
    _held: tuple[bytes, ...] | None
    _again: partial[Iterator[bytes]]

    def chunks(self) -> Iterator[bytes]:
        return iter(self._held) if self._held is not None else self._again()

    def read(self, most_bytes: int) -> bytes:
        """Returns all of it. Raises StoreError if it is larger."""
        if self.info.size_bytes > most_bytes:
            raise StoreError(f"The body has {self.info.size_bytes:,} bytes, more than {most_bytes:,}.", "too_large")
        return b"".join(self.chunks())


class BodyReader:
    def __init__(self, location: Location) -> None:
        self._location = location

    def describe(self, ref: str) -> BodyInfo:
        """Returns what is known of a body, which is read and verified for it. Raises StoreError."""
        return self.open(ref).info

    def open(self, ref: str) -> OpenBody:
        """Opens a body after it was verified. Raises StoreError, with the reason `missing` or `damaged`."""
        head, chunks = self._read(ref)
        held: list[bytes] = []
        checksum, size = hashlib.sha256(), 0
        for chunk in chunks:
            checksum.update(chunk)
            size += len(chunk)
            if size <= HELD_BYTES:
                held.append(chunk)
            else:
                held.clear()
        digest = "sha256:" + b32encode(checksum.digest()).decode()
        if head.digest is not None and head.digest != digest:
            raise StoreError("A body of the archive is not what its digest says.", "damaged")
        info = BodyInfo(head.status_code, head.content_type, digest, size, head.stored_bytes, head.is_revisit)
        return OpenBody(info, tuple(held) if size <= HELD_BYTES else None, partial(self._again, ref))

    def _again(self, ref: str) -> Iterator[bytes]:
        yield from self._read(ref)[1]

    def _read(self, ref: str) -> tuple[_Head, Iterator[bytes]]:
        match found := parse(ref):
            case SnapshotRef():
                return self._read_snapshot(found)
            case TextRef():
                return self._read_text(found)
            case WarcRef():
                return self._read_record(found)

    def _read_text(self, ref: TextRef) -> tuple[_Head, Iterator[bytes]]:
        """Returns a stored text as Markdown: its body was not kept."""
        size = self._location.size(ref.key)
        content = text.unpack(self._location.get(ref.key), ref).encode()
        return _Head(OK, TEXT_TYPE, size, None), iter([content] if content else [])

    def _read_snapshot(self, ref: SnapshotRef) -> tuple[_Head, Iterator[bytes]]:
        size = self._location.size(ref.key)
        content = _inflate(zstd.ZstdDecompressor(), self._pieces(ref.key, 0, size))
        line, body = _split(_verified(content, ref.name), b"\n")
        try:
            head: dict[str, Any] = json.loads(line)
            content_type = str(head["headers"].get("content-type", ""))
            return _Head(int(head["status_code"]), content_type, size, None), body
        except (ValueError, KeyError, TypeError, AttributeError):
            raise _damaged(ref.name) from None

    def _read_record(self, ref: WarcRef) -> tuple[_Head, Iterator[bytes]]:
        fields, block = self._open_record(ref)
        head, body = _http_head(block)
        digest = fields.get("WARC-Payload-Digest")
        if REFERS_TO not in fields:
            return _Head(*head, ref.length, digest), body
        original = parse(fields[REFERS_TO])
        if not isinstance(original, WarcRef):
            raise StoreError("A record of the archive refers to no record.", "bad_ref")
        own, body = _http_head(self._open_record(original)[1])
        if fields.get("WARC-Profile") == NOT_MODIFIED:
            head = own
        return _Head(*head, ref.length, digest, is_revisit=True), body

    def _open_record(self, ref: WarcRef) -> tuple[dict[str, str], Iterator[bytes]]:
        """Returns the fields of a record, and its block without what follows it."""
        content = _inflate(igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP), self._record_pieces(ref))
        head, rest = _split(content, END_OF_HEAD)
        version, *lines = head.decode("utf-8", "replace").split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines if ": " in line)
        length = fields.get("Content-Length", "")
        if not version.startswith("WARC/1.") or not length.isdigit():
            raise StoreError("A record of the archive is damaged.", "damaged")
        return fields, _first(rest, int(length))

    def _record_pieces(self, ref: WarcRef) -> Iterator[bytes]:
        """The file has another name while a worker writes it; it may be closed in between."""
        for key in (ref.key, ref.key + OPEN, ref.key):
            try:
                first = self._location.get(key, ref.offset, min(PIECE_BYTES, ref.length))
            except StoreError as error:
                if error.reason != "missing":
                    raise
                continue
            yield first
            if ref.length > PIECE_BYTES:
                yield from self._rest_of_record(ref)
            return
        raise StoreError(f"The archive file {ref.name} is not there.", "missing")

    def _rest_of_record(self, ref: WarcRef) -> Iterator[bytes]:
        for start in range(PIECE_BYTES, ref.length, PIECE_BYTES):
            part = WarcRef(ref.name, ref.offset + start, min(PIECE_BYTES, ref.length - start))
            yield from self._record_pieces(part)

    def _pieces(self, key: str, start: int, end: int) -> Iterator[bytes]:
        for at in range(start, end, PIECE_BYTES):
            yield self._location.get(key, at, min(PIECE_BYTES, end - at))


def _inflate(stream: _Decompressor, pieces: Iterator[bytes]) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        data = piece
        while True:
            try:
                chunk = stream.decompress(data, PIECE_BYTES)
            except Exception as error:
                raise StoreError("A stored body cannot be decompressed.", "damaged") from error
            data = b""
            size += len(chunk)
            if size > LARGEST_BODY:
                raise StoreError("A stored body is larger than any that is stored.", "damaged")
            if chunk:
                yield chunk
            if stream.eof:
                return
            if stream.needs_input:
                break
    raise StoreError("A stored body ends early.", "damaged")


def _verified(content: Iterator[bytes], name: str) -> Iterator[bytes]:
    checksum = hashlib.sha256()
    for chunk in content:
        checksum.update(chunk)
        yield chunk
    if checksum.hexdigest() != name:
        raise _damaged(name)


def _damaged(name: str) -> StoreError:
    return StoreError(f"The stored body {name[:16]}… is damaged: it is not what its hash says.", "damaged")


def _split(content: Iterator[bytes], mark: bytes) -> tuple[bytes, Iterator[bytes]]:
    """Returns what comes before a mark, and the rest."""
    buffer = bytearray()
    for chunk in content:
        searched = max(len(buffer) - len(mark), 0)
        buffer += chunk
        if (at := buffer.find(mark, searched)) >= 0:
            rest = bytes(memoryview(buffer)[at + len(mark) :])
            return bytes(memoryview(buffer)[:at]), itertools.chain([rest] if rest else [], content)
        if len(buffer) > LARGEST_HEAD:
            break
    raise StoreError("A stored body has no head.", "damaged")


def _first(content: Iterator[bytes], length: int) -> Iterator[bytes]:
    """Yields this number of bytes, and reads to the end."""
    for chunk in content:
        if length:
            taken = chunk[:length]
            length -= len(taken)
            yield taken
    if length:
        raise StoreError("A record of the archive is damaged.", "damaged")


def _http_head(block: Iterator[bytes]) -> tuple[tuple[int, str], Iterator[bytes]]:
    """Returns status code and content type of an HTTP response, and its body."""
    head, body = _split(block, END_OF_HEAD)
    status_line, *lines = head.split(b"\r\n")
    try:
        status_code = int(status_line.split(b" ")[1])
    except (IndexError, ValueError):
        raise StoreError("A record of the archive is damaged.", "damaged") from None
    for line in lines:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-type":
            return (status_code, value.strip().decode("utf-8", "replace")), body
    return (status_code, ""), body
