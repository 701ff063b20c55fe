"""The namespace of cached pages: it changes whenever pages are deleted, which invalidates the caches of all workers.

A worker enqueues and records under a shared lock, a purge deletes under the exclusive one. A worker therefore writes
about a page either before the purge, which deletes that too, or after it, and then sees that the namespace changed.
Opens no transactions: the caller does.
"""

from collections.abc import Collection

from forager.db import statements
from forager.db.types import Connection

SQL = statements.load("forager.frontier", "cache_namespace.sql")


async def share(conn: Connection) -> str | None:
    """Returns the namespace, which stays valid until this transaction ends. Takes the lock in a separate statement: the
    next statement then sees what was committed while this one waited."""
    await conn.execute(SQL["share_pages"])
    era: str | None = await conn.fetchval(SQL["read_era"])
    return era


async def own(conn: Connection) -> None:
    """Takes the exclusive lock. Must be the first statement of a transaction that deletes pages or domains."""
    await conn.execute(SQL["own_pages"])


async def end(conn: Connection) -> None:
    """Starts a new namespace, for deletions of domains or images that delete no page."""
    await conn.execute(SQL["end_era"])


async def present(conn: Connection, pages: Collection[int]) -> set[int]:
    """Returns those of these pages that still exist."""
    return {row["id"] for row in await conn.fetch(SQL["present_pages"], list(pages))}
