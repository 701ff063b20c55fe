"""Checks that the archive files exist to which, according to the database, visits and minute statistics were moved.
Compares names and sizes; `archive verify` reads the content."""

import asyncio
from pathlib import Path

from forager.db.types import Connection
from forager.frontier import history
from forager.retention import minute_archive as cold_stats
from forager.retention.archive_upload import READABLE
from forager.stats import series
from forager.storage.bucket_folder import BucketFolder

NAME = "cold_files"
PURPOSE = "Every cold file that visits or minutes moved to is there, and as large as it was when it was verified."


async def find_missing(conn: Connection, folder: Path, copies: BucketFolder | None = None) -> tuple[int, list[str]]:
    """Returns the number of files checked, and descriptions of those that are missing or differ in size. A file with a
    copy in the bucket is not missing: it can be restored from there."""
    slices = {each.file: each.stored_bytes for each in await history.list_parts(conn) if each.status in READABLE}
    missing = await asyncio.to_thread(_missing, folder, slices)
    days = await series.list_rolled_days(conn)
    missing += [cold_stats.name_of(day) for day in await cold_stats.missing_days(conn, folder)]
    if missing and copies is not None:
        there = await asyncio.to_thread(copies.files)
        missing = [name for name in missing if name not in there or slices.get(name) not in {None, there[name][0]}]
    return len(slices) + len(days), [f"{name} is not in {folder} as it was" for name in missing]


def _missing(folder: Path, sizes: dict[str, int]) -> list[str]:
    return [name for name, size_bytes in sizes.items() if _size(folder / name) != size_bytes]


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
