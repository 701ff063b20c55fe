"""Decodes Content-Encoding within bounds: at most three layers, and no layer may grow past the limit.

What a damaged stream yielded before it broke is kept and marked as truncated. Never touches the network.
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
"""Maximum number of concatenated streams in one body; each costs a copy of the rest, so a million tiny ones would
exhaust the CPU."""
SALVAGE_STEP_BYTES = 512
SLICE_BYTES = 64 * 1024
"""Compressed bytes per step: a decompressor keeps a copy of all input that it has not consumed yet."""
STEP_BYTES = 1024 * 1024
"""Decompressed bytes per step: a larger piece is built in a buffer that doubles as it grows."""
BROTLI_STEP_BYTES = 256 * 1024
ZSTD_OPTIONS = {int(zstd.DecompressionParameter.window_log_max): 23}
"""8 MiB, the window RFC 9659 allows for HTTP; the library's own limit of 128 MiB would be a memory bomb."""
UNDECODABLE = frozenset({"compress", "x-compress", "dcb", "dcz", "sdch", "exi", "pack200-gzip", "aes128gcm"})

IsalError: type[Exception] = igzip_lib.error  # type: ignore[assignment]  # isal's stubs call the class an instance
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
Wire = bytes | bytearray
"""Compressed bytes as received: data still in its receive buffer need not be copied first."""
BROKEN: tuple[type[Exception], ...] = (IsalError, brotli.error, zstd.ZstdError, EOFError)


class Stream(Protocol):
    """One compressed stream, with the interface that isal and zstd share."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: Wire, max_length: int) -> bytes: ...


class BrotliStream:
    """Brotli with the same interface.

    Brotli's own `can_accept_more_data` means that all input was consumed, not that all output was returned: up to 16 MB
    may remain in its window. Only a call that returns nothing shows that the output is drained.
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


def decode_beginning(body: bytes, content_encoding: str, max_bytes: int = 256 * 1024) -> bytes:
    """Returns what can be decompressed of the beginning of a body, at most `max_bytes`; empty if nothing can."""
    try:
        return decode(body, content_encoding, max_bytes, may_cut=True)[0]
    except (DecodeError, TooLargeError):
        return b""


def decompress(fetched: Fetched) -> Fetched:
    """Returns the response with its decompressed body. Raises DecodeError and TooLargeError as `decode` does."""
    if fetched.coding is None:
        return fetched
    body, is_cut = decode(fetched.body, *fetched.coding)
    return replace(fetched, body=body, is_truncated=fetched.is_truncated or is_cut, coding=None)


def decode(body: Wire, content_encoding: str, max_bytes: int, *, may_cut: bool = False) -> tuple[bytes, bool]:
    """Returns the decompressed bytes, and whether they are truncated. With `may_cut` the body is cut at the limit
    instead of raising an error."""
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
    """Returns the decoders that may read this coding, best guess first; none for a word that names no compression
    (`utf-8`, `none`)."""
    match coding:
        case "gzip" | "x-gzip":
            return [_gzip]
        case "deflate":
            # RFC 9110 specifies zlib; many servers send raw deflate, some gzip.
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
    """Decompresses in pieces, up to one byte more than the limit, which shows the caller that there is more."""
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
    """Returns the content of one stream, and where the stream ends."""
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
    """Decodes a damaged stream in steps, because the step that reaches the damage loses its output: large steps up
    to it, then byte by byte."""
    _, coarse_bytes = _feed(make(), data, 0, SALVAGE_STEP_BYTES, room)
    stream = make()
    plain = stream.decompress(data[:coarse_bytes], room)
    if stream.eof or len(plain) >= room:
        return plain
    rest, _ = _feed(stream, data, coarse_bytes, 1, room - len(plain))
    return plain + rest


def _feed(stream: Stream, data: Wire, start: int, step: int, room: int) -> tuple[bytes, int]:
    """Returns the output until the stream broke or ended, and how many bytes were consumed by then."""
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
