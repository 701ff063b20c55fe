"""Moves old visits from the database to archive files, part by part, and reads them back.

    writing ──► moving ──► moved          a kill in `writing` leaves a row and perhaps a file: both are removed
       │           └─ resumes where it was stopped: rows in the file and still in the database are deleted
       └─ nothing left the database yet

A file is verified before its first visit leaves the database, and visits leave in small transactions with pauses
between them, so that a crawl can continue. At each moment every visit is in the database, or in a verified file, or in
both. With a bucket a file is also copied there first.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import islice
from pathlib import Path

from forager.db.types import Connection
from forager.errors import NotFoundError, StoreError, UsageError
from forager.frontier import history
from forager.frontier.details import unpack_items
from forager.frontier.history import ArchivePlan, Restored, RestoredPage, Retention, Slice
from forager.logs import log
from forager.retention import archive_file as cold_file
from forager.retention import archive_upload as cold_copies
from forager.retention import minute_archive as cold_stats
from forager.search import index as search
from forager.storage.bucket_folder import BucketFolder
from forager.storage.files import digest, translate_errors

SLICE_ROWS = 100_000
AT_ONCE = 1000
"""Visits deleted in one transaction, which takes some 20 ms."""
PAUSE_S = 0.02
ADVICE = "Nothing is lost: what is not in a verified file stays in the database."


@dataclass(slots=True)
class Moved:
    """What one archiving run did."""

    slices: int = 0
    rows: int = 0
    stored_bytes: int = 0
    finished: int = 0
    """Parts of an earlier run that was stopped."""
    copied: int = 0
    """Files of earlier runs that had no copy in the bucket yet."""
    months: set[date] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Found:
    """The result of checking one file."""

    file: str
    trouble: str | None
    copy_trouble: str | None = None
    """The result for its copy in the bucket, if there is one."""


OnMoved = Callable[[Moved], None]


@contextlib.asynccontextmanager
async def lock_archive(conn: Connection) -> AsyncIterator[None]:
    """Ensures that one process archives or purges at a time."""
    if not await history.lock_archiving(conn):
        raise UsageError("Another Forager is archiving or purging right now: wait until it is done.")
    try:
        yield
    finally:
        await history.unlock_archiving(conn)


async def plan(conn: Connection, retention: Retention) -> list[ArchivePlan]:
    """Returns what `move` would move now. Changes nothing."""
    return await history.plan(conn, retention)


async def move(
    conn: Connection,
    folder: Path,
    retention: Retention,
    *,
    by: str,
    copies: BucketFolder | None = None,
    slice_rows: int = SLICE_ROWS,
    pause_s: float = PAUSE_S,
    on_moved: OnMoved = lambda _moved: None,
) -> Moved:
    """Archives everything that is old enough, oldest month first. If it is stopped, the next call resumes."""
    moved = Moved()
    async with lock_archive(conn):
        await _finish(conn, folder, moved, copies=copies, pause_s=pause_s)
        if copies is not None:
            moved.copied = await cold_copies.catch_up(conn, folder, copies)
        for planned in await history.plan(conn, retention):
            after: int | None = 0
            while after is not None:
                after = await _move_slice(
                    conn,
                    folder,
                    retention,
                    planned,
                    moved,
                    after=after,
                    by=by,
                    copies=copies,
                    most=slice_rows,
                    pause_s=pause_s,
                )
                on_moved(moved)
    return moved


async def _move_slice(
    conn: Connection,
    folder: Path,
    retention: Retention,
    planned: ArchivePlan,
    moved: Moved,
    *,
    after: int,
    by: str,
    copies: BucketFolder | None,
    most: int,
    pause_s: float,
) -> int | None:
    """Returns the last id of the part; None if there was nothing more."""
    slice_id, revision = await history.begin_slice(conn, planned.kind, planned.month, by=by)
    name = cold_file.name_of(slice_id, planned.kind, planned.month)
    path = folder / name
    try:
        with translate_errors(path, ADVICE):
            content = await _write(conn, path, retention, planned, after=after, limit=most)
            if content.ids:
                settle = cold_file.publish_file
                await asyncio.to_thread(
                    settle,
                    path,
                    content,
                    slice_id=slice_id,
                    kind=planned.kind,
                    month=planned.month,
                    revision=revision,
                )
                if copies is not None:
                    await asyncio.to_thread(cold_copies.copy, copies, folder, name, content.sha256)
    except (StoreError, asyncio.CancelledError):
        if copies is None:  # otherwise a copy may be under way: the next run deletes it, with the row that names it
            await _discard(conn, slice_id, path)
        raise
    if not content.ids:
        await _discard(conn, slice_id, path)
        return None
    await history.finish_part(
        conn,
        slice_id,
        file=name,
        row_count=len(content.ids),
        first_id=content.ids[0],
        last_id=content.ids[-1],
        size_bytes=content.size_bytes,
        stored_bytes=content.stored_bytes,
        sha256=content.sha256,
    )
    await _leave(conn, slice_id, planned.kind, content.ids, pause_s=pause_s)
    moved.slices += 1
    moved.rows += len(content.ids)
    moved.stored_bytes += content.stored_bytes
    moved.months.add(planned.month)
    log().info("slice moved", action="cold.moved", slice=slice_id, file=name, rows=len(content.ids))
    return content.ids[-1] if len(content.ids) == most else None


async def _write(
    conn: Connection, path: Path, retention: Retention, planned: ArchivePlan, *, after: int, limit: int
) -> cold_file.Content:
    writer = cold_file.Writer(path)
    try:
        await history.copy_old(
            conn, retention, planned.kind, planned.month, after=after, limit=limit, output=writer.write
        )
        await asyncio.to_thread(writer.finish)
    except BaseException:
        writer.abandon()
        raise
    return await asyncio.to_thread(cold_file.check_part, path)


async def _discard(conn: Connection, slice_id: int, path: Path) -> None:
    await asyncio.to_thread(cold_file.discard, path)
    await history.delete_part(conn, slice_id)


async def _leave(conn: Connection, slice_id: int, kind: str, ids: Sequence[int], *, pause_s: float) -> None:
    is_pages = kind == history.PAGES
    for portion in _batches(ids):
        async with conn.transaction():
            if is_pages:
                await search.delete_index_pages(conn, await history.delete_archived_signals(conn, slice_id, portion))
            else:
                await history.delete_archived_tasks(conn, slice_id, portion)
        await asyncio.sleep(pause_s)
    if not is_pages and any([await history.count_existing(conn, portion) for portion in _batches(ids, 10 * AT_ONCE)]):
        raise StoreError(f"Visits of slice {slice_id} could not leave the database. {ADVICE}")
    await history.close_slice(conn, slice_id)


def _batches(ids: Sequence[int], size: int = AT_ONCE) -> Iterator[Sequence[int]]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size]


async def _finish(
    conn: Connection, folder: Path, moved: Moved, *, copies: BucketFolder | None = None, pause_s: float
) -> None:
    """Completes what an earlier run left unfinished."""
    for left in await history.list_pending_parts(conn):
        if left.status == "writing":
            name = cold_file.name_of(left.id, left.kind, left.month)
            if copies is not None:
                await asyncio.to_thread(cold_copies.discard, copies, [name])
            await _discard(conn, left.id, folder / name)
            continue
        path = folder / left.file
        with translate_errors(path, ADVICE):
            await _restore_copy(copies, path, left.file)
            content = await asyncio.to_thread(cold_file.verify, path, sha256=left.sha256, row_count=left.row_count)
        await _leave(conn, left.id, left.kind, content.ids, pause_s=pause_s)
        moved.finished += 1


# Reading archive files ----------------------------------------------------------------------------------------------


async def list_archive_parts(conn: Connection, month: date | None = None) -> list[Slice]:
    return await history.list_parts(conn, month)


async def verify(
    conn: Connection, folder: Path, month: date | None = None, *, copies: BucketFolder | None = None
) -> list[Found]:
    """Verifies every file and its copy from end to end against the database."""
    slices = [each for each in await history.list_parts(conn, month) if each.status in cold_copies.READABLE]
    found = [await asyncio.to_thread(_look_at, folder, each, copies) for each in slices]
    missing = await cold_stats.missing_days(conn, folder, month)
    return found + await asyncio.to_thread(_look_at_stats, folder, month, missing, copies)


def _look_at(folder: Path, each: Slice, copies: BucketFolder | None) -> Found:
    trouble = None
    try:
        cold_file.verify(folder / each.file, sha256=each.sha256, row_count=each.row_count)
    except (StoreError, OSError) as error:
        trouble = str(error)
    of_copy = cold_copies.verify_copy(copies, each.file, each.sha256) if copies is not None else None
    return Found(each.file, trouble, of_copy)


def _look_at_stats(
    folder: Path, month: date | None, missing: Sequence[date], copies: BucketFolder | None
) -> list[Found]:
    there = [
        Found(
            each.file,
            None if cold_stats.read(folder / each.file) is not None else f"{folder / each.file} is damaged.",
            None if copies is None else cold_copies.verify_copy(copies, each.file, digest(folder / each.file)),
        )
        for each in cold_stats.find(folder, month)
    ]
    gone = [cold_stats.name_of(day) for day in missing]
    return there + [Found(name, f"{folder / name} is missing: bring it back from a backup.") for name in gone]


async def _restore_copy(copies: BucketFolder | None, path: Path, name: str) -> None:
    if copies is not None:
        await asyncio.to_thread(cold_copies.download, copies, path, name)


async def restore(conn: Connection, folder: Path, month: date, *, copies: BucketFolder | None = None) -> int:
    """Loads a month into `restored_tasks` and `restored_pages`, all of its files or none. Returns the number of
    rows."""
    slices = [each for each in await history.list_parts(conn, month) if each.status == "moved"]
    if not slices:
        raise NotFoundError(f"Nothing of {month:%Y-%m} is in archive files; `forager archive list` lists them.")
    total = 0
    async with conn.transaction():
        await history.drop_restored(conn, month)
        for each in slices:
            path = folder / each.file
            with translate_errors(path, "Nothing was restored."):
                await _restore_copy(copies, path, each.file)
                await asyncio.to_thread(cold_file.verify, path, sha256=each.sha256, row_count=each.row_count)
                total += await _restore(conn, each, cold_file.read_rows(path))
    return total


async def _restore(conn: Connection, each: Slice, rows: Iterator[dict[str, str]]) -> int:
    total = 0
    while portion := list(islice(rows, AT_ONCE)):
        if each.kind == history.PAGES:
            await history.restore_pages(conn, [_restored_page(each.id, row) for row in portion])
        else:
            await history.restore(conn, [_restored(each.id, row) for row in portion])
        total += len(portion)
    return total


async def drop_restored(conn: Connection, month: date | None) -> int:
    return await history.drop_restored(conn, month)


def _restored(slice_id: int, row: dict[str, str]) -> Restored:
    fields = {name: value for name, value in row.items() if value}
    return Restored(
        slice_id,
        int(row["id"]),
        int(row["page_id"]),
        int(row["domain_id"]),
        row["domain"],
        row["url"],
        row["outcome"],
        int(row["status_code"]) if row["status_code"] else None,
        row["error_code"] or None,
        datetime.fromisoformat(row["completed_at"]),
        json.dumps(fields),
    )


def _restored_page(slice_id: int, row: dict[str, str]) -> RestoredPage:
    fields = {name: value for name, value in row.items() if value}
    if packed := fields.get("structured_data"):
        fields["structured_data"] = json.dumps(unpack_items(bytes.fromhex(packed.removeprefix("\\x"))))
    return RestoredPage(
        slice_id,
        int(row["id"]),
        int(row["domain_id"]),
        row["domain"],
        row["url"],
        row["title"] or None,
        datetime.fromisoformat(row["fetched_at"]),
        json.dumps(fields),
    )
