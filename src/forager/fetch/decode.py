"""Undoes Content-Encoding within bounds: at most three layers, and no layer may grow past the limit.

What a damaged stream gave before it broke is kept and said to be truncated. Never touches the network.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import brotli  # type: ignore[import-untyped]
from isal import igzip_lib

from forager.errors import DecodeError, TooLargeError
from forager.fetch.models import Fetched

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ACCEPTED = "gzip, deflate, br, zstd"
MOST_LAYERS = 3
MOST_MEMBERS = 256
"""Streams glued together in one body; each costs a copy of the rest, so a million tiny ones would be a trap."""
SALVAGE_STEP_BYTES = 512
SLICE_BYTES = 64 * 1024
"""Of the wire at a time: a decompressor keeps a copy of all it was given and has not used yet."""
STEP_BYTES = 1024 * 1024
"""Of the plain bytes at a time: a larger piece is made in a buffer that doubles as it grows."""
BROTLI_STEP_BYTES = 256 * 1024
ZSTD_OPTIONS = {int(zstd.DecompressionParameter.window_log_max): 23}
"""8 MiB, the window RFC 9659 allows for HTTP; the library's own limit of 128 MiB would be a memory bomb."""
UNDECODABLE = frozenset({"compress", "x-compress", "dcb", "dcz", "sdch", "exi", "pack200-gzip", "aes128gcm"})

IsalError: type[Exception] = igzip_lib.error  # type: ignore[assignment]  # isal's stubs call the class an instance
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
Wire = bytes | bytearray
"""As it came: what is still in the buffer it was gathered in need not be copied first."""
BROKEN: tuple[type[Exception], ...] = (IsalError, brotli.error, zstd.ZstdError, EOFError)


class Stream(Protocol):
    """One compressed stream, as isal and zstd both spell it."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: Wire, max_length: int) -> bytes: ...


class BrotliStream:
    """Brotli in the same spelling.

    Brotli's own `can_accept_more_data` says that all input was taken, not that all output was given: up to 16 MB may
    wait in its window. Only a call that returns nothing tells that the output is drained.
    """

    unused_data = b""

    def __init__(self) -> None:
        self._decompressor = brotli.Decompressor()
        self._is_drained = True

    @property
    def eof(self) -> bool:
        return bool(self._decompressor.is_finished())

    @property
    def needs_input(self) -> bool:
        return self._is_drained

    def decompress(self, data: Wire, max_length: int) -> bytes:
        parts: list[bytes] = []
        size, self._is_drained = 0, False
        while size < max_length and not (self._is_drained or self.eof):
            part = self._decompressor.process(data, output_buffer_limit=min(BROTLI_STEP_BYTES, max_length - size))
            self._is_drained, data = not part, b""
            parts.append(part)
            size += len(part)
        return b"".join(parts) if len(parts) != 1 else parts[0]


def decompress(fetched: Fetched) -> Fetched:
    """With the plain body. Raises DecodeError and TooLargeError as `decode` does."""
    if fetched.coding is None:
        return fetched
    body, is_cut = decode(fetched.body, *fetched.coding)
    return replace(fetched, body=body, is_truncated=fetched.is_truncated or is_cut, coding=None)


def decode(body: Wire, content_encoding: str, max_bytes: int, *, may_cut: bool = False) -> tuple[bytes, bool]:
    """The plain bytes, and whether they break off early. `may_cut` turns the limit from an error into a cut."""
    codings = [
        coding for part in content_encoding.split(",") if (coding := part.strip().lower()) not in {"", "identity"}
    ]
    if len(codings) > MOST_LAYERS:
        raise DecodeError(f"the body is compressed {len(codings)} times over; {MOST_LAYERS} is the limit")
    is_truncated = False
    for coding in reversed(codings):
        if not body:
            break
        body, is_cut = _decode_one(coding, body, max_bytes, may_cut)
        is_truncated = is_truncated or is_cut
    return bytes(body), is_truncated


def _decode_one(coding: str, data: Wire, max_bytes: int, may_cut: bool) -> tuple[Wire, bool]:
    makers = _makers(coding, data)
    if not makers:
        return data, False
    for make in makers:
        parts, is_cut = _expand(make, data, max_bytes)
        if sum(map(len, parts)) > max_bytes:
            if may_cut:
                return b"".join(parts)[:max_bytes], True
            raise TooLargeError(f"the body grows past the limit of {max_bytes:,} bytes when decompressed")
        plain = b"".join(parts) if len(parts) > 1 else parts[0]
        if plain or not is_cut:
            return plain, is_cut
    raise DecodeError(f"the body says it is compressed with {coding}, but nothing of it can be decompressed")


def _makers(coding: str, data: Wire) -> list[Callable[[], Stream]]:
    """What could read this coding, best guess first; nothing for a word that names no compression (`utf-8`, `none`)."""
    match coding:
        case "gzip" | "x-gzip":
            return [_gzip]
        case "deflate":
            # RFC 9110 means zlib, many servers send raw deflate, some gzip.
            if data.startswith(GZIP_MAGIC):
                return [_gzip]
            has_zlib_header = len(data) > 1 and data[0] & 15 == 8 and int.from_bytes(data[:2], "big") % 31 == 0
            return [_zlib, _raw_deflate] if has_zlib_header else [_raw_deflate]
        case "br":
            return [BrotliStream]
        case "zstd":
            return [_zstd]
        case _ if coding in UNDECODABLE:
            raise DecodeError(f"the body is compressed with {coding}, which was not asked for")
        case _:
            return []


def _expand(make: Callable[[], Stream], data: Wire, max_bytes: int) -> tuple[list[bytes], bool]:
    """In pieces, at most one byte more than the limit, which tells the caller that there is more."""
    parts: list[bytes] = []
    room, start = max_bytes + 1, 0
    for _ in range(MOST_MEMBERS):
        stream = make()
        try:
            member, end = _read_member(stream, data, start, room)
        except BROKEN:
            parts.append(_decode_partial(make, data[start:] if start else data, room))
            return parts, True
        parts += member
        room -= sum(map(len, member))
        if room <= 0 or not stream.eof:
            break
        start = end
        if not data[start : start + 4].startswith((GZIP_MAGIC, ZSTD_MAGIC)):
            break
    return parts or [b""], not stream.eof


def _read_member(stream: Stream, data: Wire, start: int, room: int) -> tuple[list[bytes], int]:
    """What one stream holds, and where it ends."""
    parts: list[bytes] = []
    while start < len(data) and room > 0 and not stream.eof:
        piece = data[start : start + SLICE_BYTES]
        start += len(piece)
        while room > 0 and not stream.eof:
            parts.append(stream.decompress(piece, min(room, STEP_BYTES)))
            room -= len(parts[-1])
            piece = b""
            if stream.needs_input:
                break
    return parts, start - len(stream.unused_data)


def _decode_partial(make: Callable[[], Stream], data: Wire, room: int) -> bytes:
    """In steps, because the step that meets the damage loses its output: coarse ones up to it, then byte by byte."""
    _, coarse_bytes = _feed(make(), data, 0, SALVAGE_STEP_BYTES, room)
    stream = make()
    plain = stream.decompress(data[:coarse_bytes], room)
    if stream.eof or len(plain) >= room:
        return plain
    rest, _ = _feed(stream, data, coarse_bytes, 1, room - len(plain))
    return plain + rest


def _feed(stream: Stream, data: Wire, start: int, step: int, room: int) -> tuple[bytes, int]:
    """What came out until the stream broke or ended, and how many bytes were taken by then."""
    parts: list[bytes] = []
    while start < len(data) and room > 0 and not stream.eof:
        try:
            plain = stream.decompress(data[start : start + step], room)
        except BROKEN:
            break
        parts.append(plain)
        room -= len(plain)
        start += step
    return b"".join(parts), start


def _gzip() -> Stream:
    return igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP)


def _zlib() -> Stream:
    return igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_ZLIB)


def _raw_deflate() -> Stream:
    return igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_DEFLATE)


def _zstd() -> Stream:
    return zstd.ZstdDecompressor(options=ZSTD_OPTIONS)
