"""Backup and restore from Settings: what belongs to an instance, where it goes, and what a restored copy needs."""

import asyncio
import contextlib
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from forager.accounts import audit
from forager.accounts.identity import operator
from forager.backup import archive as backup
from forager.backup import bucket as backup_bucket
from forager.backup import files as backup_files
from forager.backup.archive import Backup, BackupOrder
from forager.config.keys import SECRET_FILE
from forager.config.loader import to_toml
from forager.config.settings import SECRETS, Settings
from forager.db import embedded, migrate, schema, unfinished
from forager.db.database import locate, open_database
from forager.db.dsn import place_of
from forager.db.pool import close, connect
from forager.db.types import Pool
from forager.db.unfinished import Marker
from forager.engine.recovery import free_lost
from forager.errors import ConfigurationError, StoreError
from forager.explain.check import PromiseResult, check
from forager.logs import log
from forager.parsing.extractors.load import FOLDER as EXTRACTORS
from forager.retention import archive_file as cold_file
from forager.retention.service import cold_folder
from forager.scheduler.text import things
from forager.stats import store as stats
from forager.storage.body_store import FOLDER as BODIES
from forager.storage.bucket_folder import BucketFolder
from forager.storage.factory import bucket_at
from forager.storage.factory import get_location as place_of_bodies
from forager.storage.files import translate_errors
from forager.webhooks.delivery import KEY_FILE, key_marks

if TYPE_CHECKING:
    from forager.instance import Forager

T = TypeVar("T")
APPLICATION = "forager backup"
LEFT_OUT = ("home", "archive.folder", "archive.bucket", "backup.folder", "backup.bucket")
BUCKET = "s3://"
STAGED = "bucket-"
"""Name prefix of a backup that is local only until it is in a bucket."""
STAGE = "restore.part"
"""In the home that is restored: files downloaded from a bucket, until they are at their final path."""
BESIDE = frozenset({KEY_FILE, SECRET_FILE, STAGE, unfinished.NAME})
"""What may exist in a home that is restored into."""


@dataclass(frozen=True, slots=True)
class Restored:
    backup: Backup
    freed: int
    """Domains that workers of the original held."""
    verdicts: list[PromiseResult]
    has_new_key: bool
    """Webhooks are signed with another key than those of the original: their receivers need the new one."""


def backup_folder(settings: Settings) -> Path:
    return settings.backup.folder or settings.home / backup.FOLDER


def stored_folders(settings: Settings) -> dict[str, Path]:
    """Returns the folders in which an instance stores files, to report their size."""
    bodies = settings.home / BODIES
    return {
        "bodies and images": bodies,
        "of them images": bodies / "images",
        "of them thumbnails": bodies / "thumbnails",
        "cold": cold_folder(settings),
        "backups": backup_folder(settings),
    }


async def back_up(
    settings: Settings, dsn: str, target: Path | None = None, *, may_link: bool = True
) -> tuple[Backup, list[Path]]:
    """Makes a backup; returns it and the old ones that were removed: only in the backup folder, and once the new one is
    complete."""
    order, revision = await _order(settings, dsn, may_link=may_link)
    folder = backup_folder(settings)
    made = await backup.make(order, _resolve_target(target, folder), revision=revision)
    gone = await asyncio.to_thread(_remove_old, folder, settings.backup.retention) if target is None else []
    log().info("backup made", action="backup.made", path=str(made.path), removed=len(gone))
    return made, gone


def _resolve_target(target: Path | None, folder: Path) -> Path:
    """Returns the path: an existing folder gets a dated backup in it; anything else is the backup's own name."""
    if target is None:
        return folder / backup.name_now()
    return target.absolute() / backup.name_now() if target.is_dir() else target.absolute()


def _remove_old(folder: Path, older_than_s: float) -> list[Path]:
    return backup.remove_old(folder, older_than_s=older_than_s)


async def back_up_to_bucket(settings: Settings, dsn: str, url: str) -> tuple[Backup, int]:
    """Makes a backup in a bucket; returns it and how many files were sent that were not there yet. Keeps nothing
    locally."""
    there, folder, name = bucket_folder(settings, url), backup_folder(settings), backup.name_now()
    await asyncio.to_thread(there.folders)  # reports a mistake about the bucket before the dump
    with translate_errors(folder, backup.ADVICE), backup.lock_folder(folder, backup_bucket.LOCK):
        for left in folder.glob(f"{STAGED}*"):
            backup_files.remove(left)
        order, revision = await _order(settings, dsn, may_link=True)
        made = await backup.make(order, folder / f"{STAGED}{name}", revision=revision)
        try:
            sent = await _in_thread(partial(backup_bucket.put, made, there, name))
        finally:
            backup_files.remove(made.path)
    log().info("backup made", action="backup.made", path=f"{there}/{name}", files=sent)
    return await asyncio.to_thread(backup_bucket.read, there, name), sent


def bucket_folder(settings: Settings, url: str) -> BucketFolder:
    return BucketFolder(bucket_at(settings, url))


async def _in_thread(work: Callable[..., T]) -> T:
    """Runs work in a thread. A thread cannot be cancelled: a flag stops it after the current file."""
    stopped = threading.Event()
    try:
        return await asyncio.to_thread(partial(work, is_stopped=stopped.is_set))
    except asyncio.CancelledError:
        stopped.set()
        raise


async def run_backup(forager: "Forager") -> str:
    """Makes a backup, copies it and removes old ones; returns a one-line summary."""
    made, gone = await back_up(forager.settings, forager.database.dsn)
    sent = await _copy(forager.settings, made)
    removed = f"; {things(len(gone), 'old one')} removed" if gone else ""
    return f"{made.path.name}: {things(made.tables, 'table')} and {things(made.file_count, 'file')}{removed}{sent}"


async def _copy(settings: Settings, made: Backup) -> str:
    """Copies to the bucket of backups, where old ones are removed by the same rule as locally."""
    if settings.backup.bucket is None:
        return ""
    there = bucket_folder(settings, settings.backup.bucket)
    try:
        with backup.lock_folder(made.path.parent, backup_bucket.LOCK):
            sent = await _in_thread(partial(backup_bucket.put, made, there, made.path.name))
            old_s = settings.backup.retention
            gone = await asyncio.to_thread(partial(backup_bucket.remove_old, there, older_than_s=old_s))
    except StoreError as error:
        raise StoreError(f"{error} The backup itself is whole, in {made.path}.", error.reason) from None
    removed = f", {things(len(gone), 'old one')} removed" if gone else ""
    return f"; copied to {there} with {things(sent, 'new file')}{removed}"


async def _order(settings: Settings, dsn: str, *, may_link: bool) -> tuple[BackupOrder, str]:
    connection = await connect(dsn, application=APPLICATION)
    try:
        major, revision = connection.get_server_version().major, await schema.revision_of(connection)
    finally:
        await close(connection)
    assert revision is not None, "the database was opened before"
    sources = {
        BODIES: settings.home / BODIES,
        cold_file.FOLDER: cold_folder(settings),
        EXTRACTORS: settings.home / EXTRACTORS,
    }
    return BackupOrder(dsn, major, sources, as_toml(settings), may_link, key_marks(settings)), revision


def as_toml(settings: Settings) -> str:
    """Returns what is not a default as a settings file, without secrets and this instance's folders and buckets."""
    first = f"# Settings of the instance in {settings.home}, without its secrets ({', '.join(sorted(SECRETS))}).\n"
    return first + to_toml(settings, without=LEFT_OUT)


# Looking ------------------------------------------------------------------------------------------------------------


def find_backups(settings: Settings, place: str) -> list[Backup]:
    """Lists backups in a folder, or in a bucket."""
    if place.startswith(BUCKET):
        return backup_bucket.list_backups(bucket_folder(settings, place))
    return backup.list_backups(Path(place))


async def look_at(settings: Settings, found: Backup) -> list[str]:
    """Reads everything from end to end; returns what is wrong, in words."""
    if found.url is None:
        return await backup.verify(found)
    prefix, _, name = found.url.rpartition("/")
    there = bucket_folder(settings, prefix)
    with tempfile.TemporaryDirectory(prefix="forager-verify-") as folder:
        try:
            return await backup.verify(await _in_thread(partial(backup_bucket.fetch, there, name, Path(folder, "it"))))
        except StoreError as error:
            return [str(error)]


# Restoring ----------------------------------------------------------------------------------------------------------


async def restore(settings: Settings, source: Path | str, *, by: str = "cli") -> Restored:
    """Restores into the settings' home and database, both empty, or left by a killed restore. Nothing is written before
    all of it was verified, except the copy of what comes from a bucket."""
    if isinstance(source, str):
        return await _restore_from_bucket(settings, source, by=by)
    found = backup.read(source)
    _check_backup(settings, found)
    with _marked(settings, found) as marker:
        return await _restore(settings, found, marker, by=by)


async def _restore_from_bucket(settings: Settings, url: str, *, by: str) -> Restored:
    prefix, _, name = url.rstrip("/").rpartition("/")
    there = bucket_folder(settings, prefix)
    found = await asyncio.to_thread(backup_bucket.read, there, name)
    _check_backup(settings, found)
    stage = settings.home / STAGE
    with translate_errors(stage, "Nothing was restored."), _marked(settings, found) as marker:
        backup_files.remove(stage)
        try:
            fetched = await _in_thread(partial(backup_bucket.fetch, there, name, stage))
            return await _restore(settings, replace(fetched, url=found.url), marker, by=by)
        finally:
            backup_files.remove(stage)


def _check_backup(settings: Settings, found: Backup) -> None:
    backup.reject_invalid(found)
    if unfinished.find(settings.home) is None:
        backup.reject_used_home(settings.home, but=BESIDE)


@contextlib.contextmanager
def _marked(settings: Settings, found: Backup) -> Iterator[Marker]:
    """Marks the home: until the marker is removed, commands that use it report that this instance is incomplete."""
    with (
        translate_errors(settings.home, "Nothing was restored."),
        unfinished.mark(settings.home, found.where) as marker,
    ):
        yield marker


async def _restore(settings: Settings, found: Backup, marker: Marker, *, by: str) -> Restored:
    if troubles := await backup.verify(found):
        named = "; ".join(troubles[: backup.MOST_NAMED])
        raise ConfigurationError(f"{found.where} is damaged ({named}): take another backup.")
    if marker.before is not None:
        await asyncio.to_thread(_clear_home, settings.home)
    if settings.database.url is None:
        marker.begin()
    async with locate(settings, is_restoring=True) as dsn:
        major = await _check_target_database(found, dsn, marker)
        marker.begin(None if settings.database.url is None else place_of(dsn))
        await backup.put_back_files(found, settings.home)
        await backup.put_back_database(found, dsn, major)
        if schema.is_older(found.revision):  # an external database, too: it was empty a moment ago
            await migrate.upgrade(dsn)
        async with open_database(settings, size=2, application="forager restore", is_restoring=True) as database:
            freed = await _free_leases(database.pool)
            await _note(database.pool, found, by=by)
            verdicts = await _check(database.pool, settings)
    marker.remove()
    has_new_key = bool(found.key_marks) and not set(found.key_marks) & set(key_marks(settings))
    return Restored(found, freed, verdicts, has_new_key)


def _clear_home(home: Path) -> None:
    """Removes what a killed restore left, and keeps what may exist before a restore."""
    embedded.stop(home)
    for path in home.iterdir():
        if path.is_dir() and not path.is_symlink() and path.name not in {STAGE, backup.FOLDER}:
            backup_files.remove(path)
        elif not path.is_dir() and path.name not in {backup.SETTINGS, *BESIDE}:
            path.unlink()


async def _check_target_database(found: Backup, dsn: str, marker: Marker) -> int:
    """Returns the major version of the server, whose database must be empty and new enough. Empties one that a killed
    restore had found empty."""
    connection = await connect(dsn, application="forager restore")
    try:
        before = marker.before
        if before is not None and before.database == place_of(dsn):
            async with connection.transaction():
                await schema.empty(connection, place_of(dsn), before.since)
        await schema.check_empty(connection, place_of(dsn))
        major: int = connection.get_server_version().major
    finally:
        await close(connection)
    backup.reject_invalid(found, server_major=major)
    return major


async def _note(pool: Pool, found: Backup, *, by: str) -> None:
    async with pool.acquire() as conn:
        told = {"made_at": found.made_at, "tables": found.tables, "files": found.file_count}
        await audit.note(conn, operator(by), "backup.restore", kind="backup", object_id=found.where, details=told)


async def _free_leases(pool: Pool) -> int:
    """Releases all leases: workers of the original do not know this copy."""
    async with pool.acquire() as conn, conn.transaction():
        await stats.mark_all_dead(conn)
        return len(await free_lost(conn, dead_after_s=0.0, delay_s=0.0))


async def _check(pool: Pool, settings: Settings) -> list[PromiseResult]:
    async with pool.acquire() as conn, conn.transaction(isolation="repeatable_read", readonly=True):
        return await check(conn, place_of_bodies(settings), settings.home / cold_file.FOLDER)
