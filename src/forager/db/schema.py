"""Determines the schema of a database, creates it in an empty one, and rejects one that is incompatible.

A fresh database gets `schema.sql` directly; a test proves that the migrations lead to the same schema.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import NoReturn

import asyncpg

from forager.db import migration_files, statements
from forager.db.migration_files import BASELINE, load_migrations
from forager.db.types import Connection
from forager.errors import ConfigurationError

SQL = statements.load("forager.db")
LOCK = 0x466F72616765
"""The advisory lock for creating or migrating a schema."""
TABLE = "schema_revisions"
NEEDED = "0001"
"""The oldest schema that every statement of this Forager works on. A revision that only prepares for a later Forager
need not raise it; a test has PostgreSQL prepare all statements on each schema from here on."""
_NUMBER = re.compile(r"\d{4}")


def revisions() -> tuple[str, ...]:
    """Returns every revision, oldest first."""
    return (BASELINE, *(migration.revision for migration in load_migrations()))


def head() -> str:
    """Returns the revision that this Forager works with."""
    return revisions()[-1]


def is_known(revision: str) -> bool:
    return revision in revisions()


def is_older(revision: str) -> bool:
    return revision in revisions()[:-1]


def is_newer(revision: str) -> bool:
    """Returns True if a later Forager made the revision: revisions are numbered."""
    return _NUMBER.fullmatch(revision) is not None and revision > head()


async def applied_revisions(connection: Connection) -> dict[str, str | None]:
    """Returns the revisions that were applied to a database, with the checksums of their scripts.

    Returns none if Forager has no tables there.
    """
    if not await connection.fetchval(SQL["has_table"], TABLE):
        return {}
    return {row["revision"]: row["checksum"] for row in await connection.fetch(SQL["list_revisions"])}


async def revision_of(connection: Connection) -> str | None:
    """Returns the revision of a database; None if Forager has no tables there."""
    return max(await applied_revisions(connection), default=None)


async def get_min_revision(connection: Connection) -> str | None:
    """Returns the oldest revision whose Forager may work on this schema; None if the schema does not say."""
    if not await connection.fetchval(SQL["has_table"], "schema_window"):
        return None
    found: str | None = await connection.fetchval(SQL["read_window"])
    return found


async def create_if_empty(connection: Connection, place: str) -> None:
    """Creates the newest schema in an empty database. Of several concurrent callers, one does it."""
    try:
        async with connection.transaction():
            await connection.execute(SQL["lock_schema"], LOCK)
            if await revision_of(connection) is None:
                await _reject_unreleased(connection, place)
                await _reject_foreign_tables(connection, place)
                await _create(connection)
    except (asyncpg.InsufficientPrivilegeError, asyncpg.InvalidSchemaNameError):
        raise ConfigurationError(
            f"The database at {place} does not let Forager's user create tables: make that user its owner."
        ) from None


async def _reject_foreign_tables(connection: Connection, place: str) -> None:
    stranger = await connection.fetchval(SQL["find_foreign_table"])
    if stranger is not None:
        raise ConfigurationError(
            f"The database at {place} already holds tables that are not Forager's, such as {stranger!r}: "
            "give Forager a database of its own."
        )


async def check_empty(connection: Connection, place: str) -> None:
    """Raises unless the database has no tables, as a restore requires."""
    found = await connection.fetchval(SQL["find_foreign_table"])
    if found is not None:
        raise ConfigurationError(
            f"The database at {place} is not empty (it has the table {found!r}): restore into an empty one."
        )


async def empty(connection: Connection, place: str, since: datetime) -> None:
    """Removes what a killed restore that began at `since` left; raises if the database was used afterwards."""
    if await revision_of(connection) is None:
        return
    if await connection.fetchval(SQL["was_used_since"], since):
        raise ConfigurationError(
            f"The database at {place} was restored into by a restore that was not finished, and has been used since: "
            "Forager does not remove it. Restore into an empty database."
        )
    await connection.execute(SQL["drop_everything"])


async def _create(connection: Connection) -> None:
    await connection.execute(migration_files.read_schema())
    await connection.execute(SQL["create_revisions"])
    known = migration_files.checksums()
    await connection.executemany(SQL["add_revision"], [(each, known.get(each)) for each in revisions()])


async def _reject_unreleased(connection: Connection, place: str) -> None:
    """Rejects a database that another tool numbered, before revisions were counted from the first release."""
    if await connection.fetchval(SQL["has_table"], "alembic_version"):
        check_checksums({}, place)


def check_checksums(applied: Mapping[str, str | None], place: str) -> None:
    """Rejects a database whose schema was made by scripts other than ours. A schema newer than the baseline is not
    compared with it, because the baseline did not create it."""
    known, first = migration_files.checksums(), applied.get(BASELINE)
    if not applied or (len(applied) == 1 and known.get(BASELINE, first) != first):
        raise ConfigurationError(
            f"The database at {place} was made by a Forager from before the first release, whose tables differ: export "
            "what you need with that one, then start with an empty database."
        )
    changed = sorted(each for each in applied.keys() & known.keys() - {BASELINE} if applied[each] != known[each])
    if changed:
        raise ConfigurationError(
            f"The database at {place} was upgraded by another migration {changed[0]} than the one this Forager has: "
            "install the Forager that upgraded it."
        )


def check_revision(revision: str, place: str, welcome: str | None) -> None:
    """Accepts the newest schema, older ones from NEEDED on, and newer ones whose minimum revision allows this Forager.

    … older  │ NEEDED … head() │ newer, and head() ≥ welcome │ newer
    rejected │    accepted     │          accepted           │ rejected
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
