"""How large tables are, day by day. One short function per statement of `storage.sql`."""

from typing import Any

from forager.db import statements

SQL = statements.load("forager.stats", "storage.sql")


async def note_sizes(conn: Any) -> None:
    await conn.execute(SQL["note_sizes"])
