"""Reads workers and their leases for commands and routes."""

from forager.db import statements
from forager.db.query import fetch_one
from forager.db.rows import START, Key, Row, as_dicts
from forager.db.types import Connection

SQL = statements.load("forager.workers")
SHOWN_TASKS = 10
"""Tasks that are listed for each worker; `worker` filters the list of tasks for all of them."""


async def list_claims(connection: Connection, *, dead_after_s: float) -> Row:
    """Returns how many domains each worker holds, which leases outlived their worker, and which domains wait to be
    claimed."""
    workers = as_dicts(await connection.fetch(SQL["claims_of_workers"], dead_after_s))
    return {
        "workers": workers,
        "held": sum(row["domains"] for row in workers),
        "expired": sum(row["expired"] for row in workers),
        "stuck": sum(row["domains"] for row in workers if row["is_lost"]),
        "waiting": as_dicts(await connection.fetch(SQL["waiting_domains"])),
    }


async def list_workers(
    conn: Connection, after: Key = START, *, dead_after_s: float, status: str | None = None, limit: int | None = None
) -> list[Row]:
    """Returns worker processes, newest first, with the number of domains and tasks that each holds and some of the URLs
    that it works on."""
    rows = as_dicts(await conn.fetch(SQL["workers_by_id"], *after, dead_after_s, status, limit))
    held: dict[int, list[Row]] = {}
    for task in as_dicts(await conn.fetch(SQL["current_tasks"], [row["id"] for row in rows], SHOWN_TASKS)):
        held.setdefault(task.pop("worker"), []).append(task)
    for row in rows:
        current = held.get(row["id"], [])
        row["tasks"] = current[0]["tasks"] if current else 0
        row["current"] = [{name: value for name, value in task.items() if name != "tasks"} for task in current]
    return rows


async def count_parts(conn: Connection, *, dead_after_s: float) -> Row:
    """Returns what a health check reports about workers and queues, with one query."""
    return dict(await fetch_one(conn, SQL["parts"], dead_after_s))
