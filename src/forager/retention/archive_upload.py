"""Copies of archive files in a bucket, under the same names.

A part has its copy, read back, before its first visit leaves the database. Files from before a bucket was configured,
and per-minute stats, are copied in the next nightly run, which also deletes copies that a purge could not reach. A
missing local file is restored from its copy. Calls block and run in threads, except `catch_up`.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from forager.db.types import Connection
from forager.errors import StoreError
from forager.frontier import history
from forager.frontier.history import Slice
from forager.logs import log
from forager.retention import archive_file as cold_file
from forager.retention import minute_archive as cold_stats
from forager.storage.bucket_folder import BucketFile, BucketFolder
from forager.storage.files import PART, digest, make_folder, publish, sync_file

READABLE = frozenset({"moving", "moved"})


async def catch_up(conn: Connection, folder: Path, there: BucketFolder) -> int:
    """Copies files that have no copy yet, and returns how many."""
    known = await asyncio.to_thread(there.files)
    slices = await history.list_parts(conn)
    await asyncio.to_thread(_finish_deletes, folder, there, [each for each in slices if each.status == "purged"], known)
    lacking = [each for each in slices if each.status in READABLE and each.file not in known]
    copied = await asyncio.to_thread(_copy_parts, folder, there, lacking)
    return copied + await asyncio.to_thread(_copy_stats, folder, there, known)


def _finish_deletes(folder: Path, there: BucketFolder, slices: Sequence[Slice], known: dict[str, BucketFile]) -> None:
    for each in slices:
        cold_file.discard(folder / each.file)
    discard(there, [each.file for each in slices], known)


def _copy_parts(folder: Path, there: BucketFolder, slices: Sequence[Slice]) -> int:
    copied = 0
    for each in slices:
        path = folder / each.file
        if path.is_file() and digest(path) == each.sha256:
            copy(there, folder, each.file, each.sha256)
            copied += 1
        else:
            log().warning("cold file not copied", action="cold.not_copied", file=each.file, error="missing or damaged")
    return copied


def _copy_stats(folder: Path, there: BucketFolder, known: dict[str, BucketFile]) -> int:
    lacking = [each for each in cold_stats.find(folder) if _is_newer(folder / each.file, known.get(each.file))]
    for each in lacking:
        there.put(folder / each.file, each.file)
    return len(lacking)


def _is_newer(path: Path, copied: BucketFile | None) -> bool:
    """Returns whether the file changed since: a day's file is rewritten while its minutes are still in the database."""
    found = path.stat()
    written_at = datetime.fromtimestamp(found.st_mtime, UTC)
    return copied is None or copied.size_bytes != found.st_size or copied.modified_at < written_at


def copy(there: BucketFolder, folder: Path, name: str, sha256: bytes | None) -> None:
    """Copies a part's file with its manifest, and reads it back."""
    if there.look(name) is not None and there.digest(name) != sha256:
        raise StoreError(
            f"{there}/{name} is there already and is not ours: give each instance a bucket or folder of its own"
            " (archive.bucket). Nothing is lost: what has no copy stays in the database.",
            "taken",
        )
    manifest = cold_file.manifest_path(folder / name)
    there.put(manifest, str(Path(name).with_name(manifest.name)))
    there.put(folder / name, name)
    if there.digest(name) != sha256:
        raise StoreError(f"{there}/{name} is not what was sent there: look at the S3 server.", "damaged")


def discard(there: BucketFolder, names: Sequence[str], known: dict[str, BucketFile] | None = None) -> None:
    """Deletes copies of files that were purged, or whose visits are all still in the database."""
    both = [
        each for name in names for each in (name, str(Path(name).with_name(cold_file.manifest_path(Path(name)).name)))
    ]
    if gone := [name for name in both if known is None or name in known]:
        there.delete(gone)


def download(there: BucketFolder, path: Path, name: str) -> None:
    """Restores a missing local file, which gets its name once all of it is on disk."""
    if path.exists():
        return
    make_folder(path.parent)
    part = path.with_name(path.name + PART)
    there.get(name, part)
    sync_file(part)
    publish(path)


def verify_copy(there: BucketFolder, name: str, sha256: bytes | None) -> str | None:
    """Reads a copy from end to end and returns what is wrong with it, in words."""
    try:
        return None if there.digest(name) == sha256 else f"{there}/{name} is not the file that was written."
    except StoreError as error:
        return str(error)
