"""Yields the plain bytes of a list, decompressed if its first two bytes say gzip. Holds one chunk at a time.

Decompression bombs are cut off: a list of domains compresses to a quarter, a bomb to a thousandth.
"""

import itertools
import zlib
from collections.abc import Iterable, Iterator

from forager.errors import BadListError

GZIP_MAGIC = b"\x1f\x8b"
PIECE_BYTES = 256 * 1024
MOST_GROWTH = 100
FREE_BYTES = 16 * 1024 * 1024
"""The compression ratio is not checked below this size."""


def unpack(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Raises BadListError if the compressed data is truncated, corrupt, or expands too much."""
    source = iter(pieces)
    head = b""
    while len(head) < len(GZIP_MAGIC) and (piece := next(source, b"")):
        head += piece
    whole = itertools.chain((head,), source) if head else source
    return _gunzip(whole) if head.startswith(GZIP_MAGIC) else iter(whole)


def _gunzip(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Also reads several concatenated streams, as `cat a.gz b.gz` produces them."""
    stream = zlib.decompressobj(wbits=31)
    taken = given = 0
    for piece in pieces:
        taken += len(piece)
        data = piece
        while data:
            if stream.eof:
                if not data.strip(b"\0"):  # padding
                    break
                stream = zlib.decompressobj(wbits=31)
            try:
                plain = stream.decompress(data, PIECE_BYTES)
            except zlib.error:
                raise BadListError("the compressed data is damaged here; the rest is not read") from None
            given += len(plain)
            if given > max(FREE_BYTES, taken * MOST_GROWTH):
                raise BadListError(f"the compressed data grows more than {MOST_GROWTH}-fold; the rest is not read")
            yield plain
            data = stream.unconsumed_tail or stream.unused_data
    if not stream.eof:
        raise BadListError("the compressed data breaks off here; the rest is missing")
