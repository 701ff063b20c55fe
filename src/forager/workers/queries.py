"""Reads workers and their leases for commands and routes."""

from forager.db import statements
from forager.db.query import fetch_one
from forager.db.rows import START, Key, Row, as_dicts
from forager.db.types import Connection

SQL = statements.load("forager.workers")


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
    """Returns worker processes, newest first, with the number of domains each holds."""
    return as_dicts(await conn.fetch(SQL["workers_by_id"], *after, dead_after_s, status, limit))


async def count_parts(conn: Connection, *, dead_after_s: float) -> Row:
    """Returns what a health check reports about workers and queues, with one query."""
    return dict(await fetch_one(conn, SQL["parts"], dead_after_s))
