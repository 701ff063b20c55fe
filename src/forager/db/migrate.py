"""Moves a database from one revision of the schema to another, with the scripts in `migrations`.

Each step is one transaction under a lock: it is applied completely or not at all, and only one of several processes
applies it.
"""

import contextlib
import re
from collections.abc import AsyncIterator, Iterator

import asyncpg

from forager.db import schema
from forager.db.dsn import place_of
from forager.db.migration_files import Migration, load_migrations
from forager.db.pool import close, connect
from forager.db.schema import LOCK, SQL, head
from forager.errors import ConfigurationError

__all__ = ["current", "downgrade", "head", "upgrade"]
NOTHING = "SELECT;\n"
"""Prepended to each script: the driver fails on a script that contains only comments."""
_STEPS_BACK = re.compile(r"-(\d+)")


async def upgrade(dsn: str) -> None:
    """Brings a database to the revision this Forager works with."""
    async with _session(dsn) as connection:
        await schema.create_if_empty(connection, place_of(dsn))
        while await _step_up(connection, dsn):
            pass


async def downgrade(dsn: str, revision: str) -> None:
    """Takes a database back to a revision, `-1` for one step, or `base` for no tables.

    Data that newer revisions added is lost.
    """
    async with _session(dsn) as connection:
        found = await schema.revision_of(connection)
        target = _find_target(dsn, revision, found)
        while await _step_down(connection, dsn, target):
            pass


async def current(dsn: str) -> str | None:
    """Returns the database's revision; None when Forager has no tables there."""
    async with _session(dsn) as connection:
        return await schema.revision_of(connection)


@contextlib.asynccontextmanager
async def _session(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    """Opens a connection whose statement ends when this process is killed: otherwise the server would finish it."""
    connection = await connect(dsn, application="forager db")
    try:
        with contextlib.suppress(asyncpg.PostgresError):  # not every system can watch its clients
            await connection.execute(SQL["watch_client"])
        yield connection
    finally:
        await close(connection)


async def _step_up(connection: asyncpg.Connection, dsn: str) -> bool:
    """Runs the next migration; returns False when there is none."""
    async with connection.transaction():
        await connection.execute(SQL["lock_schema"], LOCK)
        applied = await schema.applied_revisions(connection)
        if not schema.is_known(max(applied)):
            schema.reject_newer(max(applied), place_of(dsn))
        schema.check_checksums(applied, place_of(dsn))
        migration = next((each for each in load_migrations() if each.revision not in applied), None)
        if migration is None:
            return False
        with _translate_errors(dsn, migration.revision, max(applied)):
            await connection.execute(f"{NOTHING}{migration.up}")
        await connection.execute(SQL["add_revision"], migration.revision, migration.checksum)
    return True


async def _step_down(connection: asyncpg.Connection, dsn: str, target: str | None) -> bool:
    """Reverts the newest migration, finally the baseline tables; returns False when the target is reached."""
    async with connection.transaction():
        await connection.execute(SQL["lock_schema"], LOCK)
        found = await schema.revision_of(connection)
        if found is None or (target is not None and found <= target):
            return False
        migration = _find_migration(found)
        with _translate_errors(dsn, target or "base", found):
            await connection.execute(SQL["drop_everything"] if migration is None else f"{NOTHING}{migration.down}")
        if migration is not None:
            await connection.execute(SQL["delete_revision"], found)
    return True


def _find_target(dsn: str, revision: str, found: str | None) -> str | None:
    """Returns the target revision, None for no tables. Checks first that the target can be reached."""
    if found is not None and not schema.is_known(found):
        schema.reject_newer(found, place_of(dsn))
    older: tuple[str | None, ...] = (None, *(each for each in schema.revisions() if found and each <= found))
    back = _STEPS_BACK.fullmatch(revision)
    if back and 0 < int(back[1]) < len(older):
        target = older[-1 - int(back[1])]
    elif revision == "base" or revision in older:
        target = None if revision == "base" else revision
    else:
        raise _failure(dsn, revision, found, "there is no such older revision")
    for each in older:
        migration = _find_migration(each) if each and each > (target or "") else None
        if migration and migration.down is None:
            raise _failure(dsn, revision, found, f"the migration {each} has no way back")
    return target


def _find_migration(revision: str) -> Migration | None:
    """Returns None for the baseline."""
    return next((each for each in load_migrations() if each.revision == revision), None)


@contextlib.contextmanager
def _translate_errors(dsn: str, revision: str, found: str) -> Iterator[None]:
    try:
        yield
    except asyncpg.PostgresError as error:
        raise _failure(dsn, revision, found, str(error).splitlines()[0].rstrip(".")) from None


def _failure(dsn: str, revision: str, found: str | None, reason: str) -> ConfigurationError:
    place, stays = place_of(dsn), found or "none"
    return ConfigurationError(
        f"The database at {place} could not go to revision {revision!r} and stays at {stays}: {reason}."
    )
