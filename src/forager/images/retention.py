"""One short function per statement of `retention.sql`. Opens no transactions: the caller does."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection

SQL = statements.load("forager.images", "retention.sql")
Place = tuple[datetime, int]
BEGINNING: Place = (datetime(1970, 1, 1, tzinfo=UTC), 0)


class Old(NamedTuple):
    images: int
    size_bytes: int
    """Bytes of files that no other image uses."""


COUNT_OLD = Query(SQL["count_old"], Old)


async def drop_old(conn: Connection, *, after: Place, limit: int, keep_s: float | None) -> tuple[Place | None, int]:
    """Returns the end of the batch, None after the last one; and how many of its images dropped their file."""
    rows = await conn.fetch(SQL["drop_old"], *after, limit, keep_s)
    if not rows:
        return None, 0
    return (rows[-1]["stored_at"], rows[-1]["id"]), sum(row["is_dropped"] for row in rows)


async def count_old(conn: Connection, *, keep_s: float | None) -> Old:
    return await COUNT_OLD.one(conn, keep_s)


async def has_rule(conn: Connection) -> bool:
    is_ruled: bool = await conn.fetchval(SQL["has_rule"])
    return is_ruled


async def live_files(conn: Connection, contents: Sequence[bytes]) -> set[str]:
    """Returns keys in the store."""
    return {row["ref"] for row in await conn.fetch(SQL["live_files"], contents)}


async def list_seen_expired(
    conn: Connection, *, after: int, limit: int, by_default: bool
) -> list[tuple[int, str, bytes]]:
    """Returns id, URL and key."""
    return [tuple(row) for row in await conn.fetch(SQL["list_seen_expired"], after, limit, by_default)]


async def stored_files(conn: Connection, *, at_once: int) -> AsyncIterator[list[str]]:
    """Yields the keys of all files that must exist, in batches."""
    after = 0
    while rows := await conn.fetch(SQL["stored_files"], after, at_once):
        after = rows[-1]["id"]
        yield [ref for row in rows for ref in (row["body_ref"], row["thumbnail_ref"]) if ref is not None]
