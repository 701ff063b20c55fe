"""A migration that a later Forager may bring, made up in a folder and run by the real runner."""

import asyncio
import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from forager.db import migrate, migration_files, schema

NEXT = f"{int(schema.head()) + 1:04}"
OURS = Path(str(migration_files.FOLDER))


def write_migration(folder: Path, up: str, down: str | None = "", revision: str = NEXT) -> None:
    """Writes a migration beside copies of our own."""
    for file in OURS.glob("*.sql"):
        shutil.copy(file, folder)
    text = up if down is None else f"{up}\n-- down\n{down}"
    (folder / f"{revision}_of_tomorrow.sql").write_text(text)
    migration_files._load.cache_clear()


@contextlib.contextmanager
def migrations_in(folder: Path) -> Iterator[None]:
    """Within, this process is a Forager that has these migrations."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migration_files, "FOLDER", folder)
        yield


def add_next(dsn: str, folder: Path, up: str) -> None:
    """Bring a database one revision further than this Forager knows."""
    write_migration(folder, up)
    with migrations_in(folder):
        asyncio.run(migrate.upgrade(dsn))
