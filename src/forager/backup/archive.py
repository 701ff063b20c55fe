"""A backup of the whole instance: the database as one consistent dump, stored files, settings without secrets.

    forager-20260116T020000Z/
        manifest.json      written last: a folder without it is not a backup
        database.dump      PostgreSQL's custom format
        files.jsonl.gz     every stored file with its size and checksum
        files/             bodies, images, archive files: links on the same disk, else copies
        forager.toml       the settings that are not defaults

It is made in a folder that ends in `.part` and renamed when it is complete, verified and on disk. Files are collected
before the dump, so that none is deleted meanwhile, and again after it, so that all files the dump refers to are there.
"""

import asyncio
import contextlib
import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from forager import __version__, clock
from forager.backup import files
from forager.backup.files import CollectedFiles, Older
from forager.db import dump, schema
from forager.errors import ConfigurationError, NotFoundError, StoreError, UsageError
from forager.storage.files import (
    PART,
    digest,
    make_folder,
    sync_file,
    sync_folder,
    sync_tree,
    translate_errors,
    write_atomic,
)

FOLDER = "backups"
NAME = re.compile(r"forager-(\d{8}T\d{6}Z)")
MANIFEST, DUMP, LIST, FILES, SETTINGS = "manifest.json", "database.dump", "files.jsonl.gz", "files", "forager.toml"
LOCK = ".backup.lock"
FORMAT = 1
ADVICE = "No backup was made; older ones are as they were."
MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class BackupOrder:
    """What to back up, and where."""

    dsn: str
    server_major: int
    sources: Mapping[str, Path]
    """Name in the backup → folder."""
    settings: str
    """As TOML, without secrets."""
    may_link: bool = True
    key_marks: tuple[str, ...] = ()
    """Fingerprints of the webhook signing keys, which do not reveal them."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A complete backup, as its manifest describes it."""

    path: Path
    made_at: datetime
    forager: str
    revision: str
    server_major: int
    tables: int
    database_bytes: int
    file_count: int
    file_bytes: int
    checksums: Mapping[str, str]
    key_marks: tuple[str, ...] = ()
    url: str | None = None
    """The URL of one in a bucket."""

    @property
    def where(self) -> str:
        return self.url or str(self.path)


def name_now() -> str:
    return f"forager-{clock.now():%Y%m%dT%H%M%SZ}"


async def make(order: BackupOrder, target: Path, *, revision: str) -> Backup:
    """Makes a backup at exactly this path, which must not exist yet."""
    _reject_existing(target)
    with translate_errors(target, ADVICE), lock_folder(target.parent):
        part = target.with_name(target.name + PART)
        try:
            files.remove(part)
            make_folder(part)
            await _fill(order, part, target, revision=revision)
            part.rename(target)
            sync_folder(target.parent)
        except BaseException:
            files.remove(part)
            raise
    return read(target)


async def _fill(order: BackupOrder, part: Path, target: Path, *, revision: str) -> None:
    gathered, last = CollectedFiles(), newest(target.parent)
    older = Older(last.path / FILES, await asyncio.to_thread(files.read_list, last.path / LIST)) if last else Older()
    gather = partial(files.gather, order.sources, part / FILES, gathered, older=older, may_link=order.may_link)
    make_folder(part / FILES)
    try:
        await asyncio.to_thread(gather, also_growing=False)
        await dump.dump(order.dsn, order.server_major, part / DUMP)
        await asyncio.to_thread(gather, also_growing=True)
    except asyncio.CancelledError:
        gathered.is_stopped = True
        raise
    tables = await dump.verify(part / DUMP, order.server_major)
    await asyncio.to_thread(_write_manifest, order, part, gathered, revision=revision, tables=tables)


def _write_manifest(order: BackupOrder, part: Path, gathered: CollectedFiles, *, revision: str, tables: int) -> None:
    (part / DUMP).chmod(0o600)
    sync_file(part / DUMP)
    write_atomic(part / SETTINGS, order.settings.encode())
    listed = files.write_list(part / LIST, gathered)
    manifest = {
        "format": FORMAT,
        "made_at": clock.now().isoformat(),
        "forager": __version__,
        "schema_revision": revision,
        "server_major": order.server_major,
        "tables": tables,
        "database_bytes": (part / DUMP).stat().st_size,
        "file_count": len(gathered.files),
        "file_bytes": gathered.size_bytes,
        "webhook_keys": order.key_marks,
        "sha256": {DUMP: digest(part / DUMP).hex(), LIST: listed.hex(), SETTINGS: digest(part / SETTINGS).hex()},
    }
    sync_tree(part)
    write_atomic(part / MANIFEST, json.dumps(manifest, indent=2).encode() + b"\n")
    sync_folder(part)


@contextlib.contextmanager
def lock_folder(folder: Path, lock: str = LOCK) -> Iterator[None]:
    """Ensures that one process at a time makes backups in a folder: a second one is rejected. A kill releases the
    lock."""
    make_folder(folder)
    handle = os.open(folder / lock, os.O_RDONLY | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"Another backup is being made in {folder}: wait until it is done.") from None
        yield
    finally:
        os.close(handle)


def _reject_existing(target: Path) -> None:
    if target.exists():
        raise UsageError(f"{target} exists already: name a folder that does not, or one to put the backup in.")


# Reading ------------------------------------------------------------------------------------------------------------


def read(path: Path) -> Backup:
    """Returns what the manifest says; raises if there is none."""
    try:
        return parse_manifest((path / MANIFEST).read_bytes(), path)
    except FileNotFoundError:
        raise NotFoundError(f"{path} is no backup: it has no {MANIFEST}. `forager backups` lists them.") from None
    except NotADirectoryError:
        raise NotFoundError(f"{path} is no backup: it is not a folder.") from None


def parse_manifest(manifest: bytes, path: Path, url: str | None = None) -> Backup:
    where = url or path
    try:
        found = json.loads(manifest.decode())
        if found["format"] != FORMAT:
            raise ConfigurationError(f"{where} was made by a newer Forager ({found['forager']}): restore it with that.")
        return Backup(
            path,
            datetime.fromisoformat(found["made_at"]),
            found["forager"],
            found["schema_revision"],
            found["server_major"],
            found["tables"],
            found["database_bytes"],
            found["file_count"],
            found["file_bytes"],
            found["sha256"],
            tuple(found.get("webhook_keys", ())),
            url,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(
            f"{where}/{MANIFEST} cannot be understood ({error}): take another backup.", "damaged"
        ) from None


def list_backups(folder: Path) -> list[Backup]:
    """Returns complete backups, oldest first."""
    found = []
    for path in sorted(folder.glob("forager-*")) if folder.is_dir() else ():
        if NAME.fullmatch(path.name):
            with contextlib.suppress(NotFoundError, StoreError):
                found.append(read(path))
    return found


def newest(folder: Path) -> Backup | None:
    return (list_backups(folder) or [None])[-1]  # type: ignore[list-item]


async def verify(backup: Backup) -> list[str]:
    """Reads everything from end to end; returns what is wrong, in words."""
    troubles = [
        f"{name} is missing or damaged"
        for name, checksum in backup.checksums.items()
        if not _is(backup, name, checksum)
    ]
    if troubles:
        return troubles
    try:
        await dump.verify(backup.path / DUMP, backup.server_major)
    except StoreError as error:
        troubles.append(str(error))
    return troubles + await asyncio.to_thread(_verify_files, backup)


def _is(backup: Backup, name: str, checksum: str) -> bool:
    path = backup.path / name
    return name in {DUMP, LIST, SETTINGS} and path.is_file() and digest(path).hex() == checksum


def _verify_files(backup: Backup) -> list[str]:
    return files.verify_files(backup.path / FILES, files.read_list(backup.path / LIST))


def remove_old(folder: Path, *, older_than_s: float) -> list[Path]:
    """Removes older dated backups of this folder, never the newest; and what killed backups left."""
    with lock_folder(folder):
        for left in folder.glob(f"forager-*{PART}"):
            files.remove(left)
        since = clock.now() - timedelta(seconds=older_than_s)
        old = [backup.path for backup in list_backups(folder)[:-1] if stamp(backup.path.name) < since]
        for path in old:
            (path / MANIFEST).unlink()  # first, so that an incomplete backup does not look complete
            files.remove(path)
        return old


def stamp(name: str) -> datetime:
    found = NAME.fullmatch(name)
    assert found is not None
    return datetime.strptime(found[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)


# Restoring ----------------------------------------------------------------------------------------------------------


def reject_invalid(backup: Backup, *, server_major: int | None = None) -> None:
    if backup.revision not in schema.revisions():
        raise ConfigurationError(
            f"{backup.where} was made by a newer Forager ({backup.forager}, schema {backup.revision}): "
            "restore it with that."
        )
    if server_major is not None and server_major < backup.server_major:
        raise ConfigurationError(
            f"{backup.where} is from PostgreSQL {backup.server_major}, and this server is {server_major}: "
            "restore it into one that is as new."
        )


def reject_used_home(home: Path, *, but: frozenset[str] = frozenset()) -> None:
    """Rejects a home that is not empty: a restore never overwrites anything. Settings may exist already, and `but`."""
    if home.exists() and not home.is_dir():
        raise UsageError(f"{home} is no folder: name one that is empty, or does not exist yet.")
    used = sorted(path.name for path in home.iterdir() if path.name not in {SETTINGS, *but}) if home.is_dir() else []
    if used:
        named = ", ".join(used[:MOST_NAMED]) + (" …" if len(used) > MOST_NAMED else "")
        raise UsageError(f"{home} is not empty ({named}): restore into a folder that is empty, or does not exist yet.")


async def put_back_files(backup: Backup, home: Path) -> None:
    listed = await asyncio.to_thread(files.read_list, backup.path / LIST)
    with translate_errors(home, "The restore is not whole: run it again."):
        await asyncio.to_thread(files.put_back, backup.path / FILES, listed, home)
        await asyncio.to_thread(sync_tree, home)


async def put_back_database(backup: Backup, dsn: str, server_major: int) -> None:
    await dump.restore(dsn, server_major, backup.path / DUMP)
