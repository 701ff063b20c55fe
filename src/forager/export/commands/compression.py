"""Files that are compressed while they are written: `.gz` and `.zst`."""

import contextlib
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, BinaryIO, cast

from forager.errors import UsageError

GZIP_LEVEL = 2
"""ISA-L: about twenty times as fast as zlib's usual level, for a tenth more bytes."""
ZSTD_LEVEL = 3


class Packing(StrEnum):
    NONE = ""
    GZIP = ".gz"
    ZSTD = ".zst"


def of(path: str | None) -> Packing:
    name = (path or "").lower()
    return next((packed for packed in (Packing.GZIP, Packing.ZSTD) if name.endswith(packed)), Packing.NONE)


def without_ending(path: str) -> str:
    return path[: len(path) - len(of(path))]


def reject_compression(packed: Packing) -> None:
    if packed is not Packing.NONE:
        raise UsageError(
            "Parquet is compressed inside; write it to a file that ends with .parquet, without --compress."
        )


@contextlib.contextmanager
def pack(target: BinaryIO, packed: Packing) -> Iterator[BinaryIO]:
    """What is written here arrives in the target, compressed; the target stays open."""
    match packed:
        case Packing.NONE:
            yield target
        case Packing.GZIP:
            from isal import igzip

            opened: Any = igzip.IGzipFile
            with opened(filename="", mode="wb", fileobj=target, compresslevel=GZIP_LEVEL, mtime=0) as stream:
                yield stream
        case Packing.ZSTD:
            import sys

            if sys.version_info >= (3, 14):
                from compression import zstd
            else:
                from backports import zstd
            with zstd.ZstdFile(target, mode="wb", level=ZSTD_LEVEL) as stream:
                yield cast("BinaryIO", stream)
