"""Deletes old records of domains. One short function per statement of `retention.sql`.

Each statement is a transaction; the caller may stop after any of them.
"""

from typing import NamedTuple

from forager.db import statements
from forager.db.query import Query, fetch_one
from forager.db.types import Connection

SQL = statements.load("forager.domains", "retention.sql")
MOVES_STAY = 20
"""The latest moves of each domain that are kept, however old they are."""


class DeletedRows(NamedTuple):
    rows: int
    last_id: int | None
    """The last domain checked; None: there was none left."""


DROP_ROBOTS_REQUESTS = Query(SQL["drop_robots_requests"], DeletedRows)
DROP_MOVES = Query(SQL["drop_moves"], DeletedRows)


async def drop_robots_requests(conn: Connection, *, after: int, domains: int, kept_s: float) -> DeletedRows:
    async with conn.transaction():
        await conn.execute(SQL["allow"])
        return await DROP_ROBOTS_REQUESTS.one(conn, after, domains, kept_s)


async def drop_moves(
    conn: Connection, *, after: int, domains: int, kept_s: float, refresh_every_s: float
) -> DeletedRows:
    async with conn.transaction():
        await conn.execute(SQL["allow"])
        return await DROP_MOVES.one(conn, after, domains, kept_s, refresh_every_s, MOVES_STAY)


async def count_old(conn: Connection, *, robots_s: float, moves_s: float, refresh_every_s: float) -> dict[str, int]:
    """Returns table → the number of rows that would be deleted now."""
    return dict(await fetch_one(conn, SQL["count_old"], robots_s, moves_s, refresh_every_s, MOVES_STAY))
