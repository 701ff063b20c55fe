"""Reads runs for commands and routes."""

from typing import Any

from forager.db import statements
from forager.db.rows import Key, Row, as_dicts, parse_json
from forager.errors import NotFoundError
from forager.stats.processes import is_gone

SQL = statements.load("forager.runs")


async def list_runs(connection: Any, *, limit: int | None = None) -> list[Row]:
    rows = as_dicts(await connection.fetch(SQL["list_runs"], limit))
    return [_end_if_lost(row) | {"spec": parse_json(row["spec"])} for row in rows]


def _end_if_lost(row: Row) -> Row:
    """A run whose process was killed has stopped, also before anything recorded it."""
    keeper, kept_by, heard_at = row.pop("keeper"), row.pop("kept_by"), row.pop("heard_at")
    if row["status"] == "running" and keeper == "process" and kept_by is not None and is_gone(kept_by):
        return row | {"status": "stopped", "ended_at": heard_at}
    return row


async def check_run_exists(connection: Any, run: int | None) -> None:
    if run is not None and not await connection.fetchrow(SQL["find_run"], run):
        raise NotFoundError(f"There is no run {run}. `forager runs` lists them.")


async def page_of_runs(conn: Any, after: Key, *, status: str | None = None, limit: int) -> list[Row]:
    rows = as_dicts(await conn.fetch(SQL["runs_by_id"], *after, status, limit))
    return [row | {"spec": parse_json(row["spec"])} for row in rows]
