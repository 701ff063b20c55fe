"""A fire drill: restores a backup into a temporary folder, and compares the copy with its original.

The copy has an embedded database, and none of the servers that the original shares: it must not write to their indexes.
"""

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from forager.backup.service import Restored, backup_folder, find_backups, restore
from forager.config.settings import Settings
from forager.db import embedded, statements
from forager.db.database import open_database
from forager.db.embedded.paths import Place
from forager.db.query import Query
from forager.errors import NotFoundError

APPLICATION = "forager drill"


class Sizes(NamedTuple):
    domains: int
    pages: int
    waiting: int
    """Pages that wait for their first visit."""
    tasks: int
    products: int


READ_SIZES = Query(statements.load("forager.backup", "drill.sql")["read_sizes"], Sizes)


@dataclass(frozen=True, slots=True)
class Copy:
    settings: Settings
    restored: Restored
    sizes: Sizes
    original: Sizes | None
    """None: there is no original here to compare with."""


def newest_backup(settings: Settings) -> Path | str:
    """Returns where the newest backup is, in the backup folder or the backup bucket."""
    places = [str(backup_folder(settings)), *filter(None, [settings.backup.bucket])]
    found = [each for place in places for each in find_backups(settings, place)]
    if not found:
        raise NotFoundError(f"There is no backup in {' or '.join(places)}. `forager backup` creates one.")
    newest = max(found, key=lambda each: each.made_at)
    return newest.url or newest.path


@contextlib.asynccontextmanager
async def open_copy(settings: Settings, source: Path | str, *, by: str) -> AsyncIterator[Copy]:
    """Yields a restored copy, and removes it."""
    folder = await asyncio.to_thread(tempfile.mkdtemp, prefix="forager-drill-")
    copy = settings.replace(
        home=Path(folder), database_url=None, redis_url=None, dispatch_mode="inline", search_backend="postgres"
    )
    try:
        restored = await restore(copy, source, by=by)
        yield Copy(copy, restored, await _read_sizes(copy), await _read_original(settings))
    finally:
        await asyncio.to_thread(_remove, copy.home)


async def _read_original(settings: Settings) -> Sizes | None:
    has_one = settings.database.url is not None or Place.of(settings.home).data.is_dir()
    return await _read_sizes(settings) if has_one else None


async def _read_sizes(settings: Settings) -> Sizes:
    async with open_database(settings, size=1, application=APPLICATION) as database, database.pool.acquire() as conn:
        return await READ_SIZES.one(conn)


def _remove(home: Path) -> None:
    embedded.stop(home)
    shutil.rmtree(home, ignore_errors=True)
