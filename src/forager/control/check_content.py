"""Are stored bodies, records of archives and images what they were? Reads each of them and compares its checksum.

A few files at once in threads, and rows by a cursor, so that memory does not grow with the store.
"""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from forager.archive import snapshot, warc_record
from forager.archive.place import Place
from forager.archive.refs import OPEN, SnapshotRef, WarcRef, parse
from forager.control.check_bodies import NOT_TOLD
from forager.db import statements
from forager.errors import StoreError

SQL = statements.load("forager.control", "content.sql")
NAME = "bodies_intact"
PURPOSE = "Every stored body, record of an archive and image is, to the last bit, what was stored."
AT_ONCE = 256
READERS = 8
MOST_NAMED = 100_000
"""Of damaged ones so many are remembered, for a repair."""
MOST_EXAMPLES = 3


@dataclass(slots=True)
class Content:
    looked_at: int = 0
    broken: int = 0
    examples: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """Refs of damaged bodies."""
    images: list[int] = field(default_factory=list)

    def add(self, troubles: Sequence[str | None]) -> None:
        self.looked_at += len(troubles)
        bad = [trouble for trouble in troubles if trouble]
        self.broken += len(bad)
        self.examples += bad[: max(0, MOST_EXAMPLES - len(self.examples))]


async def read_all(conn: Any, place: Place) -> Content:
    """Everything that has to be in the store, read once."""
    content = Content()
    with ThreadPoolExecutor(READERS) as threads:
        async for rows in _portions(conn, "every_snapshot"):
            refs = [f"snapshot:{row['name']}" for row in rows]
            await _read(threads, content, refs, lambda ref: _trouble(place, ref))
        async for rows in _portions(conn, "every_record"):
            await _read(threads, content, [row["body_ref"] for row in rows], lambda ref: _trouble(place, ref))
        async for rows in _portions(conn, "every_image"):
            troubles = await asyncio.to_thread(lambda: list(threads.map(lambda row: _image_trouble(place, row), rows)))  # noqa: B023
            content.add(troubles)
            bad = [row["id"] for row, trouble in zip(rows, troubles, strict=True) if trouble]
            content.images += bad[: MOST_NAMED - len(content.images)]
    return content


async def _portions(conn: Any, name: str) -> Any:
    rows: list[Any] = []
    async for row in conn.cursor(SQL[name], prefetch=AT_ONCE):
        rows.append(row)
        if len(rows) == AT_ONCE:
            yield rows
            rows = []
    if rows:
        yield rows


async def _read(
    threads: ThreadPoolExecutor, content: Content, refs: Sequence[str], look: Callable[[str], str | None]
) -> None:
    troubles = await asyncio.to_thread(lambda: list(threads.map(look, refs)))
    content.add(troubles)
    bad = [ref for ref, trouble in zip(refs, troubles, strict=True) if trouble]
    content.names += bad[: MOST_NAMED - len(content.names)]


def _trouble(place: Place, ref: str) -> str | None:
    """What is wrong with a body, in words. A store that does not answer says nothing about it."""
    try:
        found = parse(ref)
        if isinstance(found, SnapshotRef):
            snapshot.unpack(place.get(found.key), found, "")
        else:
            _verify_record(place, found)
    except StoreError as error:
        if error.reason in NOT_TOLD:
            raise
        return f"{ref[:90]}: {error}"
    except (ValueError, KeyError) as error:
        return f"{ref[:90]}: cannot be read ({type(error).__name__})"
    return None


def _verify_record(place: Place, ref: WarcRef) -> None:
    record = warc_record.read(_bytes(place, ref))
    if record.kind == "response":
        warc_record.to_fetched(record)


def _bytes(place: Place, ref: WarcRef) -> bytes:
    """A file that is still written has another ending."""
    try:
        return place.get(ref.key, ref.offset, ref.length)
    except StoreError as error:
        if error.reason != "missing":
            raise
        return place.get(ref.key + OPEN, ref.offset, ref.length)


def _image_trouble(place: Place, row: Any) -> str | None:
    try:
        content = place.get(row["body_ref"])
    except StoreError as error:
        if error.reason in NOT_TOLD:
            raise
        return f"image {row['id']}: {error}"
    return None if hashlib.sha256(content).digest() == row["content_hash"] else f"image {row['id']} is damaged"
