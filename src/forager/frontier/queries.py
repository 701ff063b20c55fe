"""Reads the frontier for routes: pages that wait for their first visit, open tasks by status."""

from forager.db import statements
from forager.db.query import fetch_one
from forager.db.rows import Key, Row, as_dicts
from forager.db.types import Connection
from forager.domains.lookup import known_name

SQL = statements.load("forager.frontier", "list.sql")


async def list_frontier(conn: Connection, after: Key, *, domain: str | None, limit: int) -> list[Row]:
    name = await known_name(conn, domain)
    if name is None:
        return as_dicts(await conn.fetch(SQL["frontier_by_domain"], *after, limit))
    return as_dicts(await conn.fetch(SQL["frontier_of_domain"], *after, name, limit))


async def count_frontier(conn: Connection) -> Row:
    numbers = dict(await fetch_one(conn, SQL["frontier_numbers"]))
    return numbers | {"open_tasks": as_dicts(await conn.fetch(SQL["open_tasks_by_status"]))}
