"""Verifies stored bodies, archive records and images: reads each of them and compares its checksum.

Reads a few files at once in threads, and rows in batches, so that memory does not grow with the store.
"""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from forager.db import statements
from forager.db.types import Connection, Row
from forager.errors import StoreError
from forager.explain.check_bodies import NOT_TOLD, PROVEN, format_read_error
from forager.storage import snapshot, text, warc_record
from forager.storage.location import Location
from forager.storage.refs import OPEN, SnapshotRef, TextRef, WarcRef, parse

SQL = statements.load("forager.explain", "check_content.sql")
NAME = "bodies_intact"
PURPOSE = "Every stored body, record of an archive and image is, to the last bit, what was stored."
AT_ONCE = 256
READERS = 8
MOST_NAMED = 100_000
"""Maximum number of damaged items that are remembered for a repair."""
MOST_EXAMPLES = 3


FIRST: Mapping[str, str | int] = {"snapshot": "", "record": 0, "image": 0}
"""Kind of stored item → the key that sorts before all others."""


@dataclass(slots=True)
class Content:
    looked_at: int = 0
    broken: int = 0
    examples: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    """Descriptions of items that could not be read; whether they are damaged is unknown."""
    names: list[str] = field(default_factory=list)
    """Refs of damaged bodies."""
    images: list[int] = field(default_factory=list)

    def add(self, kind: str, row: Row, error: StoreError) -> None:
        if error.reason not in PROVEN:
            self.unreadable.append(format_read_error(error))
            return
        self.broken += 1
        if len(self.examples) < MOST_EXAMPLES:
            name = f"image {row['key']}" if kind == "image" else row["ref"][:90]
            self.examples.append(f"{name}: {error}")
        if kind == "image" and len(self.images) < MOST_NAMED:
            self.images.append(row["key"])
        elif kind != "image" and len(self.names) < MOST_NAMED:
            self.names.append(row["ref"])


async def read_all(conn: Connection, place: Location) -> Content:
    """Reads everything that must be in the store once. The connection is in no transaction: reading takes hours, and
    items that are legitimately deleted meanwhile are not damaged."""
    content = Content()
    with ThreadPoolExecutor(READERS) as threads:
        for kind in FIRST:
            async for rows in _batches(conn, kind):
                content.looked_at += len(rows)
                suspects = await _look_at(threads, place, rows)
                for row, error in await _confirm(threads, conn, place, kind, [row for row, _ in suspects]):
                    content.add(kind, row, error)
    return content


async def verify_bodies(place: Location, refs: Sequence[str]) -> list[str]:
    """Checks these bodies again and returns those proven to be missing or damaged."""
    with ThreadPoolExecutor(READERS) as threads:
        bad = await _look_at(threads, place, [{"ref": ref, "content_hash": None} for ref in refs])
    return [row["ref"] for row, error in bad if error.reason in PROVEN]


async def verify_images(conn: Connection, place: Location, images: Sequence[int]) -> list[int]:
    """Checks these images again and returns those proven to be missing or damaged."""
    rows = await conn.fetch(SQL["still_image"], images)
    with ThreadPoolExecutor(READERS) as threads:
        return [row["key"] for row, error in await _look_at(threads, place, rows) if error.reason in PROVEN]


async def _batches(conn: Connection, kind: str) -> Any:
    after = FIRST[kind]
    while rows := await conn.fetch(SQL[f"every_{kind}"], after, AT_ONCE):
        after = rows[-1]["key"]
        yield rows


async def _look_at(
    threads: ThreadPoolExecutor, place: Location, rows: Sequence[Row | Mapping[str, Any]]
) -> list[tuple[Any, StoreError]]:
    """Returns the rows whose files are not as they should be, each with its error."""
    errors = await asyncio.to_thread(lambda: list(threads.map(lambda row: _find_error(place, row), rows)))
    return [(row, error) for row, error in zip(rows, errors, strict=True) if error is not None]


async def _confirm(
    threads: ThreadPoolExecutor, conn: Connection, place: Location, kind: str, suspects: Sequence[Any]
) -> list[tuple[Any, StoreError]]:
    """Checks failed rows again, and queries again whether they must still exist: retention or a purge may have deleted
    a file while it was read."""
    if not suspects:
        return []
    found = await _look_at(threads, place, await _still(conn, kind, suspects))
    left = {row["key"]: row["ref"] for row in await _still(conn, kind, [row for row, _ in found])}
    return [(row, error) for row, error in found if left.get(row["key"]) == row["ref"]]


async def _still(conn: Connection, kind: str, rows: Sequence[Row]) -> Sequence[Any]:
    found: Sequence[Any] = await conn.fetch(SQL[f"still_{kind}"], [row["key"] for row in rows])
    return found


def _find_error(place: Location, row: Row | Mapping[str, Any]) -> StoreError | None:
    """Returns what is wrong with a body or an image. An unavailable store says nothing about it."""
    try:
        if row["content_hash"] is not None:
            _verify_image(place, row)
        else:
            _verify_body(place, parse(row["ref"]))
    except StoreError as error:
        if error.reason in NOT_TOLD:
            raise
        return error
    except (ValueError, KeyError) as error:
        return StoreError(f"its content makes no sense ({type(error).__name__}).", "damaged")
    return None


def _verify_body(place: Location, ref: SnapshotRef | TextRef | WarcRef) -> None:
    if isinstance(ref, SnapshotRef):
        snapshot.unpack(place.get(ref.key), ref, "")
    elif isinstance(ref, TextRef):
        text.unpack(place.get(ref.key), ref)
    else:
        _verify_record(place, ref)


def _verify_record(place: Location, ref: WarcRef) -> None:
    record = warc_record.read(_bytes(place, ref))
    if record.kind == "response":
        warc_record.to_fetched(record)


def _bytes(place: Location, ref: WarcRef) -> bytes:
    """Reads the bytes of a record. A file that is still being written has another suffix."""
    try:
        return place.get(ref.key, ref.offset, ref.length)
    except StoreError as error:
        if error.reason != "missing":
            raise
        return place.get(ref.key + OPEN, ref.offset, ref.length)


def _verify_image(place: Location, row: Row | Mapping[str, Any]) -> None:
    if hashlib.sha256(place.get(row["ref"])).digest() != row["content_hash"]:
        raise StoreError("the image is damaged: it is not what its checksum says.", "damaged")
