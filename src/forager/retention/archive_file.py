"""An archive file: visits of one kind and month as gzipped CSV with a header, and a manifest that describes it.

Standard tools read it (`zcat`, `COPY … FROM`). It is written to a temporary file, made durable and read back before it
gets its name. Calls block and run in threads, except `write`, which takes a chunk at a time.
"""

import contextlib
import csv
import gzip
import io
import json
import os
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

from forager import __version__, clock
from forager.errors import StoreError
from forager.storage.files import PART, digest, make_folder, publish, write_atomic

FOLDER = "cold"
LEVEL = 6
csv.field_size_limit(1024**3)


@dataclass(frozen=True, slots=True)
class Content:
    """The result of reading a file back."""

    ids: "array[int]"
    columns: tuple[str, ...]
    size_bytes: int
    """Before compression."""
    stored_bytes: int
    sha256: bytes


def name_of(slice_id: int, kind: str, month: date) -> str:
    """Path below the archive folder: `failures/2026-01/failures-2026-01-000012.csv.gz`."""
    return f"{kind}/{month:%Y-%m}/{kind}-{month:%Y-%m}-{slice_id:06}.csv.gz"


def manifest_path(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(".csv.gz") + ".json")


class Writer:
    """Writes CSV chunk by chunk; `finish` makes it durable under its temporary name."""

    def __init__(self, path: Path) -> None:
        make_folder(path.parent)
        self._path = path.with_name(path.name + PART)
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self._raw = os.fdopen(handle, "wb")
        self._gzip = gzip.GzipFile(filename="", mode="wb", fileobj=self._raw, compresslevel=LEVEL, mtime=0)

    async def write(self, piece: bytes) -> None:
        self._gzip.write(piece)

    def finish(self) -> None:
        try:
            self._gzip.close()
            self._raw.flush()
            os.fsync(self._raw.fileno())
        finally:
            self._raw.close()

    def abandon(self) -> None:
        self._raw.close()
        self._path.unlink(missing_ok=True)


def read_back(path: Path) -> Content:
    """Verifies every byte of a file: that it can be decompressed, that its ids grow, and its checksum."""
    try:
        with gzip.open(path, "rb") as packed:
            counted = _Counted(packed)
            rows = csv.reader(io.TextIOWrapper(io.BufferedReader(counted), encoding="utf-8", newline=""))
            columns = tuple(next(rows, ()))
            ids = array("q", (int(row[0]) for row in rows if _check_columns(row, columns)))
    except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError, ValueError, csv.Error) as error:
        raise StoreError(f"{path} is damaged: {error}.", "damaged") from None
    if any(after <= before for before, after in pairwise(ids)):
        raise StoreError(f"{path} is damaged: its visits are not in order.", "damaged")
    return Content(ids, columns, counted.size, path.stat().st_size, digest(path))


def _check_columns(row: list[str], columns: tuple[str, ...]) -> bool:
    if len(row) != len(columns):
        raise ValueError(f"a line has {len(row)} columns instead of {len(columns)}")
    return True


class _Counted(io.RawIOBase):
    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        found: int = self._stream.readinto(into)
        self.size += found
        return found


def check_part(path: Path) -> Content:
    return read_back(path.with_name(path.name + PART))


def publish_file(path: Path, content: Content, *, slice_id: int, kind: str, month: date, revision: str) -> None:
    """Gives a verified file its manifest and its name."""
    manifest = {
        "slice": slice_id,
        "kind": kind,
        "month": f"{month:%Y-%m}",
        "rows": len(content.ids),
        "first_id": content.ids[0],
        "last_id": content.ids[-1],
        "size_bytes": content.size_bytes,
        "stored_bytes": content.stored_bytes,
        "sha256": content.sha256.hex(),
        "schema_revision": revision,
        "columns": content.columns,
        "made_at": clock.now().isoformat(),
        "made_by": f"Forager {__version__}",
    }
    write_atomic(manifest_path(path), json.dumps(manifest, indent=2).encode() + b"\n")
    publish(path)


def discard(path: Path) -> None:
    """Deletes a file whose visits are all still in the database, or that was purged."""
    for gone in (path, path.with_name(path.name + PART), manifest_path(path)):
        with contextlib.suppress(NotADirectoryError):
            gone.unlink(missing_ok=True)


def verify(path: Path, *, sha256: bytes | None, row_count: int) -> Content:
    """Raises unless the file is the one that was written."""
    if not path.is_file():
        raise StoreError(f"{path} is missing: bring it back from a backup.", "missing")
    content = read_back(path)
    if content.sha256 != sha256 or len(content.ids) != row_count:
        raise StoreError(f"{path} is not the file that was written: bring it back from a backup.", "damaged")
    return content


def read_rows(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)
