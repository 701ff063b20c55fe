"""Backup and restore from Settings: what belongs to an instance, where it goes, and what a copy needs to live."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forager.app.archiving import cold_folder
from forager.app.bodies import place_of as place_of_bodies
from forager.app.webhooks import KEY_FILE, key_marks
from forager.archive.shelf import FOLDER as BODIES
from forager.control import backup, cold_file
from forager.control.backup import Backup, BackupOrder
from forager.control.check import Verdict, check
from forager.crawl.recover import free_lost
from forager.db import open_database, schema
from forager.db.database import locate
from forager.db.dsn import place_of
from forager.db.pool import close, connect
from forager.errors import ConfigurationError
from forager.observe import log
from forager.schedule.words import things
from forager.settings import SECRETS, Settings
from forager.stats import store as stats

if TYPE_CHECKING:
    from forager.app import Forager

APPLICATION = "forager backup"


@dataclass(frozen=True, slots=True)
class Restored:
    backup: Backup
    freed: int
    """Domains that workers of the original held."""
    verdicts: list[Verdict]
    has_new_key: bool
    """Webhooks are signed otherwise than those of the original, and whoever verifies them has to hear of it."""


def backup_folder(settings: Settings) -> Path:
    return settings.backup_folder or settings.home / backup.FOLDER


def stored_folders(settings: Settings) -> dict[str, Path]:
    """Where an instance keeps files, for who wants to know how large they are."""
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
    """The backup, and which old ones were removed: only in the folder of backups, and once the new one is whole."""
    order, revision = await _order(settings, dsn, may_link=may_link)
    folder = backup_folder(settings)
    made = await backup.make(order, _choose(target, folder), revision=revision)
    gone = await asyncio.to_thread(_remove_old, folder, settings.backup_retention_s) if target is None else []
    log().info("backup made", action="backup.made", path=str(made.path), removed=len(gone))
    return made, gone


def _choose(target: Path | None, folder: Path) -> Path:
    """A folder that exists gets a dated backup in it; anything else is the backup's own name."""
    if target is None:
        return folder / backup.name_now()
    return target.absolute() / backup.name_now() if target.is_dir() else target.absolute()


def _remove_old(folder: Path, older_than_s: float) -> list[Path]:
    return backup.remove_old(folder, older_than_s=older_than_s)


async def back_up_nightly(forager: "Forager") -> str:
    """The duty: in one line what was done."""
    made, gone = await back_up(forager.settings, forager.database.dsn)
    removed = f"; {things(len(gone), 'old one')} removed" if gone else ""
    return f"{made.path.name}: {things(made.tables, 'table')} and {things(made.file_count, 'file')}{removed}"


async def _order(settings: Settings, dsn: str, *, may_link: bool) -> tuple[BackupOrder, str]:
    connection = await connect(dsn, application=APPLICATION)
    try:
        major, revision = connection.get_server_version().major, await schema.revision_of(connection)
    finally:
        await close(connection)
    assert revision is not None, "the database was opened before"
    sources = {BODIES: settings.home / BODIES, cold_file.FOLDER: cold_folder(settings)}
    return BackupOrder(dsn, major, sources, as_toml(settings), may_link, key_marks(settings)), revision


def as_toml(settings: Settings) -> str:
    """What is not a default, for whoever restores it; where this instance was, and its secrets, are left out."""
    left_out = SECRETS | {"home", "cold_folder", "backup_folder"}
    lines = [f"# Settings of the instance in {settings.home}, without its secrets ({', '.join(sorted(SECRETS))})."]
    for name in sorted(settings.model_fields_set - left_out):
        value = getattr(settings, name)
        if value is not None:
            lines.append(f"{name} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return json.dumps(str(value), ensure_ascii=False)


# Restoring ----------------------------------------------------------------------------------------------------------


async def restore(settings: Settings, source: Path) -> Restored:
    """Into the settings' home and database, both of them empty. Nothing is written before all of it was verified."""
    found = backup.read(source)
    backup.refuse_unfit(found)
    backup.refuse_used_home(settings.home, but=frozenset({KEY_FILE}))
    if troubles := await backup.verify(found):
        named = "; ".join(troubles[: backup.MOST_NAMED])
        raise ConfigurationError(f"{source} is damaged ({named}): take another backup.")
    await backup.put_back_files(found, settings.home)
    async with locate(settings) as dsn:
        await _fill_database(found, dsn)
        async with open_database(settings, size=2, application="forager restore") as database:
            freed = await _let_workers_go(database.pool)
            verdicts = await _check(database.pool, settings)
    has_new_key = bool(found.key_marks) and not set(found.key_marks) & set(key_marks(settings))
    return Restored(found, freed, verdicts, has_new_key)


async def _fill_database(found: Backup, dsn: str) -> None:
    connection = await connect(dsn, application="forager restore")
    try:
        await schema.refuse_used(connection, place_of(dsn))
        major = connection.get_server_version().major
    finally:
        await close(connection)
    await backup.put_back_database(found, dsn, major)


async def _let_workers_go(pool: Any) -> int:
    """Workers of the original know nothing of this copy: it is free of them."""
    async with pool.acquire() as conn, conn.transaction():
        await stats.bury_all_workers(conn)
        return len(await free_lost(conn, dead_after_s=0.0, delay_s=0.0))


async def _check(pool: Any, settings: Settings) -> list[Verdict]:
    async with pool.acquire() as conn, conn.transaction(isolation="repeatable_read", readonly=True):
        return await check(conn, place_of_bodies(settings), settings.home / cold_file.FOLDER)
