"""Moves a database from one schema to another with Alembic. Imported only when that is asked for: Alembic takes 1.6 s.

Each call is one transaction under a lock: it happens as a whole or not at all, and of several at once only one works.
These functions block: call them outside an event loop, or in a thread.
"""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from importlib import resources

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy.exc import DBAPIError

from forager.db import schema
from forager.db.dsn import place_of
from forager.db.pool import close, connect
from forager.db.schema import head
from forager.errors import ConfigurationError

__all__ = ["current", "downgrade", "head", "upgrade"]
_ALONE = threading.Lock()
"""Alembic's context is one per process."""


def upgrade(dsn: str, revision: str = "head") -> None:
    """Up to a revision, by default the one this Forager works with."""
    found = current(dsn)
    if found is not None and not schema.is_known(found):
        schema.reject_newer(found, place_of(dsn))
    with _ALONE, _translate_errors(dsn, revision):
        command.upgrade(_configuration(dsn), revision)


def downgrade(dsn: str, revision: str) -> None:
    """Down to a revision, or `-1` for one step, or `base` for none: what the newer ones added is lost."""
    current(dsn)
    with _ALONE, _translate_errors(dsn, revision):
        command.downgrade(_configuration(dsn), revision)


def current(dsn: str) -> str | None:
    """The database's revision; None when Forager has no tables there."""
    return asyncio.run(_read_revision(dsn))


async def _read_revision(dsn: str) -> str | None:
    connection = await connect(dsn, application="forager db")
    try:
        return await schema.revision_of(connection)
    finally:
        await close(connection)


def _configuration(dsn: str) -> Config:
    configuration = Config()
    configuration.set_main_option("script_location", str(resources.files("forager.db").joinpath("migrations")))
    configuration.attributes["dsn"] = dsn
    return configuration


@contextlib.contextmanager
def _translate_errors(dsn: str, revision: str) -> Iterator[None]:
    try:
        yield
    except (CommandError, DBAPIError, asyncpg.PostgresError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ConfigurationError(
            f"The database at {place_of(dsn)} could not go to revision {revision!r} and stays as it was: {reason}."
        ) from None
