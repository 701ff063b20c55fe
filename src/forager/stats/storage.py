"""Sizes of tables by day. One short function per statement of `storage.sql`."""

from forager.db import statements
from forager.db.types import Connection

SQL = statements.load("forager.stats", "storage.sql")


async def note_sizes(conn: Connection) -> None:
    await conn.execute(SQL["note_sizes"])
