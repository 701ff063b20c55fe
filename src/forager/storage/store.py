"""One short function per statement of `queries.sql`. Opens no transactions: the caller does."""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection
from forager.storage.body_store import StoreResult

SQL = statements.load("forager.storage")
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


class BodyCount(NamedTuple):
    what: str
    bodies: int


class PageBody(NamedTuple):
    page_id: int
    body_ref: str


class ArchiveEnd(NamedTuple):
    name: str
    until: int


class DroppedFile(NamedTuple):
    name: str
    dropped_at: datetime


class StoredName(NamedTuple):
    name: str
    kind: str


READ_BODIES = Query(SQL["read_bodies"], BodyCount)
NEWEST_BODIES = Query(SQL["newest_bodies"], PageBody)
DROP_UNUSED = Query(SQL["drop_unused"], str)
FIND_DROPPED = Query(SQL["find_dropped"], DroppedFile)
STORED_NAMES = Query(SQL["stored_names"], StoredName)
ENDS_OF_ARCHIVES = Query(SQL["ends_of_archives"], ArchiveEnd)


async def note_bodies(conn: Connection, shelved: Iterable[StoreResult]) -> None:
    """Records every stored file once, with the bytes that were added to it."""
    sizes: dict[tuple[str, str], tuple[int, int]] = {}
    for item in shelved:
        if item.name is None:
            continue
        key = item.name, item.kind
        size, stored = sizes.get(key, (0, 0))
        if item.kind == "archive":
            sizes[key] = size + item.size_bytes, stored + item.stored_bytes
        else:
            sizes[key] = max(size, item.size_bytes), max(stored, item.stored_bytes)
    if sizes:
        names, kinds = zip(*sizes, strict=True)
        before, after = zip(*sizes.values(), strict=True)
        await conn.execute(SQL["note_bodies"], names, kinds, before, after)


async def count_bodies(conn: Connection, run: int, shelved: Iterable[StoreResult]) -> None:
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for item in shelved:
        for at, more in enumerate((1, item.size_bytes, item.stored_bytes)):
            counts[item.what][at] += more
    if counts:
        await conn.execute(SQL["count_bodies"], run, list(counts), *map(list, zip(*counts.values(), strict=True)))


async def read_bodies(conn: Connection, run: int) -> dict[str, int]:
    """Returns `stored`, `known`, or `lost:` with the reason → how many."""
    return dict(await READ_BODIES.fetch(conn, run))


async def newest_bodies(conn: Connection, page_ids: Sequence[int]) -> dict[int, str]:
    """Returns page → its body, for those that have one."""
    return dict(await NEWEST_BODIES.fetch(conn, page_ids))


async def drop_old(conn: Connection, *, older_than_s: float, limit: int) -> int:
    return len(await conn.fetch(SQL["drop_old"], older_than_s, limit))


async def drop_unused(conn: Connection, names: Sequence[str]) -> list[str]:
    return await DROP_UNUSED.fetch(conn, names)


async def find_dropped(conn: Connection, *, after: tuple[datetime, str], limit: int) -> list[DroppedFile]:
    return await FIND_DROPPED.fetch(conn, *after, limit)


async def note_deleted(conn: Connection, names: Sequence[str]) -> None:
    await conn.execute(SQL["note_deleted"], names)


async def describe(conn: Connection, *, limit: int | None) -> dict[str, Any]:
    """Returns what is stored, by kind and by domain, and what was lost."""
    return {
        "kinds": [dict(row) for row in await conn.fetch(SQL["total_bodies"])],
        "domains": [dict(row) for row in await conn.fetch(SQL["bodies_by_domain"], limit)],
        "lost": [dict(row) for row in await conn.fetch(SQL["lost_bodies"])],
    }


async def stored_names(conn: Connection, *, at_once: int) -> AsyncIterator[list[StoredName]]:
    """Yields names and kinds of all files that must exist, in batches."""
    name = ""
    while files := await STORED_NAMES.fetch(conn, name, at_once):
        name = files[-1].name
        yield files


async def ends_of_archives(conn: Connection) -> dict[str, int]:
    return dict(await ENDS_OF_ARCHIVES.fetch(conn))
