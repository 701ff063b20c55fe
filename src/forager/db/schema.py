"""Which schema a database has, and what to do about it: create it in an empty one, refuse one that does not fit.

A fresh database gets `schema.sql` at once, because Alembic takes 1.6 s to import; a test proves that migrations
lead to the same.
"""

import re
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Any, NoReturn

import asyncpg

from forager.db import statements
from forager.errors import ConfigurationError

SQL = statements.load("forager.db")
LOCK = 0x466F72616765
"""The advisory lock of whoever creates or migrates a schema."""
NEEDED = "0036"
"""The oldest schema that every statement of this Forager works on. A revision that only prepares for a later Forager
need not raise it; a test has PostgreSQL understand all statements on each schema from here on."""
_NUMBER = re.compile(r"\d{4}")
_REVISION_FILE = re.compile(r"v(\d{4})_\w+\.py")


@cache
def revisions() -> tuple[str, ...]:
    """Every revision, oldest first: they are numbered, and their files are named after them."""
    folder = resources.files("forager.db").joinpath("migrations", "versions")
    return tuple(sorted(match[1] for file in folder.iterdir() if (match := _REVISION_FILE.fullmatch(file.name))))


def head() -> str:
    """The revision this Forager works with."""
    return revisions()[-1]


def is_known(revision: str) -> bool:
    return revision in revisions()


def is_older(revision: str) -> bool:
    return revision in revisions()[:-1]


def is_newer(revision: str) -> bool:
    """Made by a Forager of ours that came later: revisions are numbered."""
    return _NUMBER.fullmatch(revision) is not None and revision > head()


async def revision_of(connection: Any) -> str | None:
    """The revision of a database; None where Forager has no tables."""
    if not await connection.fetchval(SQL["has_versions"]):
        return None
    found: str | None = await connection.fetchval(SQL["read_version"])
    return found


async def get_min_revision(connection: Any) -> str | None:
    """The oldest revision whose Forager may work on this schema; None where the schema does not say."""
    if not await connection.fetchval(SQL["has_window"]):
        return None
    found: str | None = await connection.fetchval(SQL["read_window"])
    return found


async def create_if_empty(connection: Any, place: str) -> None:
    """Give an empty database the newest schema. Of any number of callers at once, one does it."""
    try:
        async with connection.transaction():
            await connection.execute(SQL["lock_schema"], LOCK)
            if await revision_of(connection) is None:
                await _reject_foreign_tables(connection, place)
                await _create(connection)
    except (asyncpg.InsufficientPrivilegeError, asyncpg.InvalidSchemaNameError):
        raise ConfigurationError(
            f"The database at {place} does not let Forager's user create tables: make that user its owner."
        ) from None


async def _reject_foreign_tables(connection: Any, place: str) -> None:
    stranger = await connection.fetchval(SQL["find_foreign_table"])
    if stranger is not None:
        raise ConfigurationError(
            f"The database at {place} already holds tables that are not Forager's, such as {stranger!r}: "
            "give Forager a database of its own."
        )


async def check_empty(connection: Any, place: str) -> None:
    """Whoever restores wants a database without any table."""
    found = await connection.fetchval(SQL["find_foreign_table"])
    if found is not None or await connection.fetchval(SQL["has_versions"]):
        raise ConfigurationError(
            f"The database at {place} is not empty (it has the table {found or 'alembic_version'!r}): "
            "restore into an empty one."
        )


async def empty(connection: Any, place: str, since: datetime) -> None:
    """Remove what a restore left that was killed and had begun at `since`; nothing that was used after it."""
    if await revision_of(connection) is None:
        return
    if await connection.fetchval(SQL["was_used_since"], since):
        raise ConfigurationError(
            f"The database at {place} was restored into by a restore that was not finished, and has been used since: "
            "Forager does not remove it. Restore into an empty database."
        )
    await connection.execute(SQL["drop_everything"])


async def _create(connection: Any) -> None:
    await connection.execute(resources.files("forager.db").joinpath("schema.sql").read_text(encoding="utf-8"))
    await connection.execute(SQL["make_versions"])
    await connection.execute(SQL["write_version"], head())


def check_revision(revision: str, place: str, welcome: str | None) -> None:
    """Worked with are the newest schema, older ones that have all we need, and newer ones that say we are welcome.

    … older │ NEEDED … head() │ newer, and head() ≥ welcome │ newer
    refused │      fits       │            fits             │ refused
    """
    if is_older(revision) and revision < NEEDED:
        raise ConfigurationError(
            f"The database at {place} has an older schema ({revision}, this Forager needs {NEEDED}): "
            "run `forager db upgrade`."
        )
    if not is_known(revision) and not (is_newer(revision) and welcome is not None and head() >= welcome):
        reject_newer(revision, place)


def reject_newer(revision: str, place: str) -> NoReturn:
    raise ConfigurationError(
        f"The database at {place} was written by a newer Forager (its schema is {revision}, this one knows {head()}): "
        "install that version."
    )
