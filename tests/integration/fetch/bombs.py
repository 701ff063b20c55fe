"""Small bodies that unfold to gigabytes of zeros, one per codec. Run as a script, it decodes one and tells the cost."""

import gzip
import resource
import sys
import zlib

import brotli  # type: ignore[import-untyped]

from forager.errors import TooLargeError
from forager.fetch.decode import decode

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ZEROS = bytes(100_000_000)
LIMIT = 10_000_000


def build(codec: str) -> bytes:
    match codec:
        case "gzip":
            return gzip.compress(ZEROS) * 100
        case "deflate":
            return _deflate(zlib.MAX_WBITS)
        case "raw-deflate":
            return _deflate(-zlib.MAX_WBITS)
        case "br":
            return bytes(brotli.compress(ZEROS * 5, quality=1))
        case "br, br":
            return bytes(brotli.compress(brotli.compress(ZEROS * 5, quality=9), quality=9))
        case "gzip, br":
            return bytes(brotli.compress(gzip.compress(ZEROS), quality=5))
        case "zstd":
            return squeeze_zstd(ZEROS) * 100
        case "gzip, gzip":
            return gzip.compress(gzip.compress(ZEROS) * 100)
        case _:
            raise ValueError(codec)


def squeeze_zstd(data: bytes) -> bytes:
    return zstd.compress(data)


def _deflate(wbits: int) -> bytes:
    """After a full flush the next block depends on nothing before it, so one can be repeated."""
    squeeze = zlib.compressobj(wbits=wbits)
    first = squeeze.compress(ZEROS) + squeeze.flush(zlib.Z_FULL_FLUSH)
    again = squeeze.compress(ZEROS) + squeeze.flush(zlib.Z_FULL_FLUSH)
    return first + again * 99


def main(codec: str) -> None:
    # The peak while building must not hide the peak while decoding.
    bomb = sys.stdin.buffer.read()
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        decode(bomb, codec.removeprefix("raw-"), LIMIT)
        print("survived")  # noqa: T201
    except TooLargeError:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
