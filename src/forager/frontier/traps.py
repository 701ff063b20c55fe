"""One short function per statement of `traps.sql`. Opens no transactions: the caller does, and locks the domain's row,
so that its counters stay correct."""

from collections.abc import Sequence

from forager.db import statements
from forager.db.types import Connection

SQL = statements.load("forager.frontier", "traps.sql")


async def exclude_pages(conn: Connection, traps: Sequence[tuple[int, int, str]]) -> dict[int, int]:
    """Excludes pages, given by trap, domain and URL pattern. Returns the number of excluded pages by domain."""
    if not traps:
        return {}
    rows = await conn.fetch(SQL["exclude_pages"], *map(list, zip(*traps, strict=True)))
    return {row["domain_id"]: row["pages"] for row in rows}


async def open_pages(conn: Connection, domain_id: int, trap: int) -> int:
    """Returns the number of pages that wait for their first visit again."""
    opened: int = await conn.fetchval(SQL["open_pages"], domain_id, trap)
    return opened
