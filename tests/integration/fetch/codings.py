"""Encoders for every content coding, at several qualities, in one piece or flushed piece by piece."""

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from random import Random

import brotli  # type: ignore[import-untyped]

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Encode = Callable[[Iterable[bytes]], bytes]
"""Compresses pieces into one stream; each piece is flushed, as servers that stream their pages do."""


def text(size: int, seed: int = 0) -> bytes:
    """Words in random order: it compresses about as well as HTML, and not by repetition alone."""
    rnd = Random(seed)
    words = [bytes(rnd.choices(b"abcdefghijklmnopqrstuvwxyz", k=rnd.randint(2, 9))) for _ in range(2000)]
    return b" ".join(rnd.choices(words, k=size // 5))[:size]


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def _deflate(level: int, wbits: int, parts: Iterable[bytes]) -> bytes:
    encoder = zlib.compressobj(level, zlib.DEFLATED, wbits)
    return b"".join(encoder.compress(part) + encoder.flush(zlib.Z_SYNC_FLUSH) for part in parts) + encoder.flush()


def _brotli(quality: int, parts: Iterable[bytes]) -> bytes:
    encoder = brotli.Compressor(quality=quality)
    return b"".join(encoder.process(part) + encoder.flush() for part in parts) + bytes(encoder.finish())


def _zstd(level: int, parts: Iterable[bytes]) -> bytes:
    encoder = zstd.ZstdCompressor(level=level)
    return b"".join(encoder.compress(part, encoder.FLUSH_BLOCK) for part in parts) + encoder.flush()


def _chain(*encoders: Encode) -> Encode:
    def encode(parts: Iterable[bytes]) -> bytes:
        for encoder in encoders:
            data = encoder(parts)
            parts = pieces(data, len(data) or 1)
        return data

    return encode


def encoders() -> dict[tuple[str, str], Encode]:
    """By content coding and a name for the variant. Brotli's best quality is left to small bodies: it is slow."""
    gzip, zlib_, raw = zlib.MAX_WBITS | 16, zlib.MAX_WBITS, -zlib.MAX_WBITS
    table: dict[tuple[str, str], Encode] = {}
    for level in (1, 6, 9):
        table["gzip", f"level {level}"] = partial(_deflate, level, gzip)
        table["deflate", f"zlib, level {level}"] = partial(_deflate, level, zlib_)
        table["deflate", f"raw, level {level}"] = partial(_deflate, level, raw)
    table |= {("br", f"quality {quality}"): partial(_brotli, quality) for quality in (0, 1, 5, 9)}
    table |= {("zstd", f"level {level}"): partial(_zstd, level) for level in (1, 3, 9)}
    table["gzip, br", "chain"] = _chain(partial(_deflate, 1, gzip), partial(_brotli, 1))
    table["br, gzip", "chain"] = _chain(partial(_brotli, 1), partial(_deflate, 1, gzip))
    table["br, zstd, deflate", "chain"] = _chain(partial(_brotli, 1), partial(_zstd, 1), partial(_deflate, 1, zlib_))
    return table


best_brotli: Encode = partial(_brotli, 11)
