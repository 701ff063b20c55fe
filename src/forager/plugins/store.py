"""One short function per statement of `queries.sql`. Opens no transactions: the caller does."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection
from forager.plugins.models import PluginError

SQL = statements.load("forager.plugins")


class ErrorRow(NamedTuple):
    plugin: str
    hook: str
    errors: int
    error: str
    traceback: str
    url: str | None
    first_at: datetime
    last_at: datetime


LIST_ERRORS = Query(SQL["list_plugin_errors"], ErrorRow)


async def add_errors(conn: Connection, errors: Iterable[PluginError]) -> None:
    """Adds failures; those of one plug-in and hook together, as a statement may change a row once only."""
    summed: dict[tuple[str, str], PluginError] = {}
    for error in errors:
        before = summed.get((error.plugin, error.hook))
        summed[error.plugin, error.hook] = error._replace(times=error.times + (before.times if before else 0))
    if summed:
        columns = zip(
            *((each.plugin, each.hook, each.times, each.error, each.traceback, each.url) for each in summed.values()),
            strict=True,
        )
        await conn.execute(SQL["add_plugin_errors"], *map(list, columns))


async def list_errors(conn: Connection) -> list[ErrorRow]:
    return await LIST_ERRORS.fetch(conn)


async def clear_errors(conn: Connection, plugin: str | None) -> int:
    """Forgets failures of a plug-in, or of all; returns the number of rows."""
    removed: int = await conn.fetchval(SQL["clear_plugin_errors"], plugin)
    return removed
