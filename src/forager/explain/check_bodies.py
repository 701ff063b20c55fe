"""Checks that the bodies and images exist that the database lists as stored. Compares names and sizes; the content of
bodies is verified when they are read."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from forager.db.types import Connection
from forager.errors import StoreError
from forager.images.retention import stored_files
from forager.storage import store as bodies
from forager.storage.location import Location
from forager.storage.refs import OPEN, key_of

NAME = "bodies_stored"
PURPOSE = (
    "Every body and image on record has its file in the store, and every record of an archive that a task refers to is"
    " within it."
)
AT_ONCE = 5000
QUESTIONS = 16
"""Number of concurrent lookups: a bucket has a high latency."""
NOT_TOLD = frozenset({"store_away", "store_refused", "no_bucket", "plugin_failed"})
"""Errors without a usable response from the store: nothing is known about the file."""
PROVEN = frozenset({"missing", "damaged", "not_ours", "bad_ref", "bad_key"})
"""Errors that prove a file missing or damaged. Any other, such as a permission error, says nothing about its
content."""
READABLE = "bodies_readable"
READABLE_PURPOSE = "Every body and image on record can be read: no permission, disk or bucket stands in the way."


@dataclass(slots=True)
class Files:
    """The result of comparing names and sizes, as descriptions."""

    looked_at: int = 0
    missing: list[str] = field(default_factory=list)
    """Missing or truncated files."""
    unreadable: list[str] = field(default_factory=list)

    def add(self, names: Sequence[str], errors: Sequence[StoreError | None]) -> None:
        self.looked_at += len(names)
        for name, error in zip(names, errors, strict=True):
            if error is not None and error.reason in PROVEN:
                self.missing.append(f"{name} is not in the store")
            elif error is not None:
                self.unreadable.append(format_read_error(error))


def format_read_error(error: StoreError) -> str:
    return f"could not be read: {error}"


async def find_missing(conn: Connection, place: Location) -> Files:
    """Returns the files that are missing, truncated, or unreadable."""
    ends = await bodies.ends_of_archives(conn)
    files = Files()
    async for portion in bodies.stored_names(conn, at_once=AT_ONCE):
        names = [name for name, _ in portion]
        files.add(
            names, await asyncio.to_thread(_look_at, names, lambda name: _of_body(place, name, ends.get(name, 0)))
        )
    async for keys in stored_files(conn, at_once=AT_ONCE):
        files.add(keys, await asyncio.to_thread(_look_at, keys, lambda key: _find_read_error(place, key, 0, 0)))
    return files


def _look_at(names: Sequence[str], look: Callable[[str], StoreError | None]) -> list[StoreError | None]:
    with ThreadPoolExecutor(QUESTIONS) as threads:
        return list(threads.map(look, names))


def _of_body(place: Location, name: str, until: int) -> StoreError | None:
    """Returns the error of a body file, if any. A file that is still being written has another suffix, and may be
    renamed between two lookups."""
    key = key_of(name)
    error: StoreError | None = None
    for candidate in (key, key + OPEN, key) if name.endswith(".gz") else (key,):
        error = _find_read_error(place, candidate, max(until - 1, 0), min(until, 1))
        if error is None or error.reason != "missing":
            return error
    return error


def _find_read_error(place: Location, key: str, start: int, length: int) -> StoreError | None:
    try:
        place.get(key, start, length)
    except StoreError as error:
        if error.reason in NOT_TOLD:
            raise
        return error
    return None
