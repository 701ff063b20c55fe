"""Moves closed tasks from the history to archive files. One short function per statement of `history.sql`.

The database permits their deletion only while their archive part has the status `moving`, which it gets once its file
was verified.
"""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple

from pydantic import with_config

from forager.db import statements
from forager.db.query import Query
from forager.db.rows import RECORD
from forager.db.types import Connection

SQL = statements.load("forager.frontier", "history.sql")
LOCK = 0x466F72436F6C64
"""The advisory lock for archiving and purging."""
PAGES = "pages"
"""The kind of archive parts that hold page signals; the others hold visits."""
RESTORED_PAGES = ("slice_id", "id", "domain_id", "domain", "url", "title", "fetched_at", "fields")
RESTORED = (
    "slice_id",
    "id",
    "page_id",
    "domain_id",
    "domain",
    "url",
    "outcome",
    "status_code",
    "error_code",
    "completed_at",
    "fields",
)


class Retention(NamedTuple):
    """How long data stays in the database unless its domain overrides it."""

    visit_s: float
    failure_s: float
    page_s: float | None = None
    """For signals of pages that no longer exist; None keeps them for ever."""


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class ArchivePlan:
    """What may leave now, of one kind and month."""

    kind: str
    month: date
    row_count: int
    size_bytes: int
    domains: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class PendingPart:
    id: int
    kind: str
    month: date
    status: str
    file: str
    row_count: int
    sha256: bytes | None


@dataclass(frozen=True, slots=True)
class Slice:
    """One cold file as the database knows it."""

    id: int
    kind: str
    month: date
    status: str
    file: str
    row_count: int
    moved: int
    first_id: int
    last_id: int
    size_bytes: int
    stored_bytes: int
    sha256: bytes | None
    revision: str
    created_by: str
    created_at: datetime
    moved_at: datetime | None
    restored: int


class BegunPart(NamedTuple):
    """An archive part that is about to be written, with the schema's revision."""

    id: int
    revision: str


class Restored(NamedTuple):
    """A visit that was restored from an archive."""

    slice_id: int
    id: int
    page_id: int
    domain_id: int
    domain: str
    url: str
    outcome: str
    status_code: int | None
    error_code: str | None
    completed_at: datetime
    fields: str


class RestoredPage(NamedTuple):
    """Page signals that were restored from an archive."""

    slice_id: int
    id: int
    domain_id: int
    domain: str
    url: str
    title: str | None
    fetched_at: datetime
    fields: str


async def lock_archiving(conn: Connection) -> bool:
    is_ours: bool = await conn.fetchval(SQL["lock_archiving"], LOCK)
    return is_ours


async def unlock_archiving(conn: Connection) -> None:
    await conn.execute(SQL["unlock_archiving"], LOCK)


async def plan(conn: Connection, retention: Retention) -> list[ArchivePlan]:
    return [ArchivePlan(**row) for row in await conn.fetch(SQL["plan_slices"], *retention)]


async def copy_old(
    conn: Connection,
    retention: Retention,
    kind: str,
    month: date,
    *,
    after: int,
    limit: int,
    output: Callable[[bytes], Coroutine[Any, Any, None]],
) -> None:
    """Writes CSV with a header, in id order."""
    what: tuple[object, ...]
    if kind == PAGES:
        statement, what = "read_old_pages", (retention.page_s, month, after, limit)
    else:
        statement, what = "read_old", (retention.visit_s, retention.failure_s, kind, month, after, limit)
    await conn.copy_from_query(SQL[statement], *what, output=output, format="csv", header=True)


BEGIN_SLICE = Query(SQL["begin_slice"], BegunPart)


async def begin_slice(conn: Connection, kind: str, month: date, *, by: str) -> BegunPart:
    return await BEGIN_SLICE.one(conn, kind, month, by)


async def finish_part(
    conn: Connection,
    slice_id: int,
    *,
    file: str,
    row_count: int,
    first_id: int,
    last_id: int,
    size_bytes: int,
    stored_bytes: int,
    sha256: bytes,
) -> None:
    await conn.execute(
        SQL["finish_part"], slice_id, file, row_count, first_id, last_id, size_bytes, stored_bytes, sha256
    )


async def delete_part(conn: Connection, slice_id: int) -> None:
    await conn.execute(SQL["delete_part"], slice_id)


async def delete_archived_tasks(conn: Connection, slice_id: int, task_ids: Sequence[int]) -> int:
    """Deletes archived tasks in the caller's transaction. Returns the number deleted by this call: none if it is
    repeated."""
    await conn.execute(SQL["open_slice"], str(slice_id))
    left: int = await conn.fetchval(SQL["delete_archived_tasks"], slice_id, task_ids)
    return left


async def delete_archived_signals(conn: Connection, slice_id: int, page_ids: Sequence[int]) -> list[int]:
    """Deletes archived signals in the caller's transaction. Returns the pages affected by this call: none if it is
    repeated."""
    return [row["id"] for row in await conn.fetch(SQL["delete_archived_signals"], slice_id, page_ids)]


async def count_existing(conn: Connection, task_ids: Sequence[int]) -> int:
    found: int = await conn.fetchval(SQL["still_there"], task_ids)
    return found


async def close_slice(conn: Connection, slice_id: int) -> None:
    await conn.execute(SQL["close_slice"], slice_id)


async def list_parts(conn: Connection, month: date | None = None) -> list[Slice]:
    return [Slice(**row) for row in await conn.fetch(SQL["list_parts"], month)]


async def list_pending_parts(conn: Connection) -> list[PendingPart]:
    return [PendingPart(**row) for row in await conn.fetch(SQL["list_pending_parts"])]


async def purge_parts(conn: Connection, slice_ids: Sequence[int]) -> None:
    await conn.execute(SQL["purge_slice"], slice_ids)


async def restore(conn: Connection, rows: Iterable[Restored]) -> None:
    await conn.copy_records_to_table("restored_tasks", records=rows, columns=RESTORED)


async def restore_pages(conn: Connection, rows: Iterable[RestoredPage]) -> None:
    await conn.copy_records_to_table("restored_pages", records=rows, columns=RESTORED_PAGES)


async def drop_restored(conn: Connection, month: date | None = None) -> int:
    dropped: int = await conn.fetchval(SQL["drop_restored"], month)
    return dropped


async def merge_archived_counts(conn: Connection, elder: int, others: Sequence[int]) -> None:
    """Merges the archived counts of domains that are merged."""
    await conn.execute(SQL["merge_archived_counts"], elder, others)
