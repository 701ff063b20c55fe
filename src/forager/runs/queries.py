"""Reads runs for commands and routes."""

from forager.db import statements
from forager.db.rows import START, Key, Row, as_dicts, parse_json
from forager.db.types import Connection
from forager.errors import NotFoundError
from forager.stats.processes import has_exited

SQL = statements.load("forager.runs")


async def list_runs(
    conn: Connection, after: Key = START, *, status: str | None = None, limit: int | None = None
) -> list[Row]:
    """Returns runs with what they did, newest first."""
    rows = as_dicts(await conn.fetch(SQL["runs_by_id"], *after, status, limit))
    return [await _end_if_lost(conn, row) | {"spec": parse_json(row["spec"])} for row in rows]


async def _end_if_lost(conn: Connection, row: Row) -> Row:
    """Returns a run as stopped if its process was killed, even before that was recorded."""
    keeper, kept_by = row.pop("keeper"), row.pop("kept_by")
    if row["status"] == "running" and keeper == "process" and kept_by is not None and has_exited(kept_by):
        return row | {"status": "stopped", "ended_at": await conn.fetchval(SQL["last_heard_of_run"], row["id"])}
    return row


async def check_run_exists(connection: Connection, run: int | None) -> None:
    if run is not None and not await connection.fetchrow(SQL["find_run"], run):
        raise NotFoundError(f"There is no run {run}. `forager runs` lists them.")
