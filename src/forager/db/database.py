"""Opens the configured database, ready to use: server running, schema present and compatible, pool open.

The embedded server and an external one differ only here; higher layers do not distinguish them.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg

from forager.config.settings import Settings
from forager.db import embedded, migrate, schema, unfinished
from forager.db.availability import Absence
from forager.db.dsn import place_of
from forager.db.pool import OLDEST_SERVER, close, close_pool, connect, open_pool
from forager.errors import ConfigurationError
from forager.logs import log


@dataclass(frozen=True, slots=True)
class Database:
    pool: asyncpg.Pool
    description: str
    """Human-readable description, such as `PostgreSQL 18 (embedded)`."""
    is_embedded: bool
    dsn: str = field(repr=False)
    _home: Path | None = field(default=None, repr=False)
    _reviving: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    absence: Absence = field(default_factory=Absence, repr=False)

    async def revive(self) -> None:
        """Restarts the embedded server after it was killed. Does nothing for an external server, which Forager does not
        manage."""
        if self._home is not None:
            async with self._reviving:
                await asyncio.to_thread(embedded.ensure_running, self._home)


@contextlib.asynccontextmanager
async def open_database(
    settings: Settings,
    *,
    size: int,
    application: str,
    idle_limit_s: float | None = None,
    statement_limit_s: float | None = None,
    resets: bool = True,
    is_restoring: bool = False,
) -> AsyncIterator[Database]:
    """Opens the configured database. `size` is the maximum number of connections; `application` identifies Forager to
    the server.

    With `idle_limit_s` a frozen process does not keep its locks; `statement_limit_s` is for callers that must not wait.
    Without `resets` a session is not reset between two users of a connection. Only a restore opens an incomplete
    database.
    """
    async with locate(settings, is_restoring=is_restoring) as dsn:
        is_embedded = settings.database.url is None
        keeps = settings.database.prepared_statements
        description = await _prepare(dsn, application, is_embedded=is_embedded, keeps_statements=keeps)
        pool = await open_pool(
            dsn,
            size=size,
            application=application,
            idle_limit_s=idle_limit_s,
            statement_limit_s=statement_limit_s,
            keeps_statements=keeps,
            resets=resets,
        )
        try:
            yield Database(pool, description, is_embedded, dsn, settings.home if is_embedded else None)
        finally:
            await close_pool(pool)


@contextlib.asynccontextmanager
async def locate(settings: Settings, *, is_restoring: bool = False) -> AsyncIterator[str]:
    """Yields the DSN of the configured database; the embedded server runs while the context is open. Rejects a home
    whose restore was not finished."""
    if not is_restoring:
        unfinished.refuse(settings.home)
    if settings.database.url is not None:
        yield settings.database.url
        return
    seat = await asyncio.to_thread(embedded.join, settings.home)
    try:
        yield seat.dsn
    finally:
        await asyncio.shield(asyncio.to_thread(seat.leave))


async def _prepare(dsn: str, application: str, *, is_embedded: bool, keeps_statements: bool) -> str:
    """Checks the server, upgrades the schema where permitted, and returns a description of the database."""
    place = place_of(dsn)
    connection = await connect(dsn, application=application, keeps_statements=keeps_statements)
    try:
        major = connection.get_server_version().major
        _check_server_version(major, place)
        revision = await schema.revision_of(connection)
        if revision is None:
            await schema.create_if_empty(connection, place)
        elif is_embedded and schema.is_older(revision):
            await migrate.upgrade(dsn)
        applied = await schema.applied_revisions(connection)
        schema.check_checksums(applied, place)
        found = max(applied)
        schema.check_revision(found, place, await schema.get_min_revision(connection))
        if found != schema.head():
            log().info("schema differs", action="schema.differs", found=found, known=schema.head())
    finally:
        await close(connection)
    return f"PostgreSQL {major} (embedded)" if is_embedded else f"PostgreSQL {major} at {place}"


def _check_server_version(major: int, place: str) -> None:
    if major < OLDEST_SERVER:
        raise ConfigurationError(
            f"The database at {place} is PostgreSQL {major}, and Forager needs {OLDEST_SERVER} or newer: upgrade it."
        )
