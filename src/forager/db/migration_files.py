"""Reads the migrations: numbered SQL scripts that bring a database from one revision of the schema to the next.

`migrations/0002_add_notes.sql` upgrades from 0001 to 0002; the part below its line `-- down` downgrades.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

BASELINE = "0001"
"""The revision of `schema.sql` until the first migration: no file leads to it."""
FOLDER = Path(str(resources.files("forager.db").joinpath("migrations")))
_FILE = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")
_DOWN = re.compile(r"^-- down[ \t]*$", re.MULTILINE)
_COMMENTS = re.compile(r"^COMMENT ON [^']*'(?:[^']|'')*';|--.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Migration:
    revision: str
    up: str
    down: str | None
    """None if the migration cannot be reverted."""
    checksum: str


def load_migrations() -> tuple[Migration, ...]:
    """Returns every migration, oldest first."""
    return _load(FOLDER)


@cache
def _load(folder: Path) -> tuple[Migration, ...]:
    found = tuple(sorted(_read_files(folder), key=lambda migration: migration.revision))
    for number, migration in enumerate(found, int(BASELINE) + 1):
        if int(migration.revision) != number:
            raise ValueError(f"migrations are numbered without gaps, and {number:04} is missing or exists twice")
    return found


def _read_files(folder: Path) -> Iterator[Migration]:
    for file in folder.iterdir():
        if match := _FILE.fullmatch(file.name):
            text = file.read_text(encoding="utf-8")
            up, *down = _DOWN.split(text, maxsplit=1)
            yield Migration(match[1], up, down[0] if down else None, _digest(text))


@cache
def read_schema() -> str:
    """Returns the script that creates the newest schema."""
    return resources.files("forager.db").joinpath("schema.sql").read_text(encoding="utf-8")


def checksums() -> dict[str, str]:
    """Returns the checksums of the revisions whose text is known.

    That is the baseline only until the first migration: `schema.sql` is a later revision from then on.
    """
    found = {migration.revision: migration.checksum for migration in load_migrations()}
    return found or {BASELINE: _digest_schema()}


@cache
def _digest_schema() -> str:
    """Returns the checksum of the schema without its comments: they may change without a migration."""
    return _digest(" ".join(_COMMENTS.sub("", read_schema()).split()))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
