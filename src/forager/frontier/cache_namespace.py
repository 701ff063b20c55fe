"""The era of pages: it ends whenever some are deleted, and with it all that workers remember of them.

A worker enqueues and records under a shared lock, a purge deletes under the exclusive one. So whatever a worker writes
about a page is written before the page goes, and goes with it; or after, and then the worker sees that the era ended.
Opens no transactions: the floor above does.
"""

from collections.abc import Collection

from forager.db import statements
from forager.db.types import Connection

SQL = statements.load("forager.frontier", "cache_namespace.sql")


async def share(conn: Connection) -> str | None:
    """Returns the era; it lasts until this transaction ends. The lock comes in a statement of its own: another one then
    sees what was committed while this one waited."""
    await conn.execute(SQL["share_pages"])
    era: str | None = await conn.fetchval(SQL["read_era"])
    return era


async def own(conn: Connection) -> None:
    """First of all in a transaction that deletes pages or domains."""
    await conn.execute(SQL["own_pages"])


async def end(conn: Connection) -> None:
    """Where domains or images go and no page with them."""
    await conn.execute(SQL["end_era"])


async def present(conn: Connection, pages: Collection[int]) -> set[int]:
    """Returns those of these pages that are still there."""
    return {row["id"] for row in await conn.fetch(SQL["present_pages"], list(pages))}
