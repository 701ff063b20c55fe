"""What orders for tasks do to their domains, one short function per statement of `tasks.sql`.

Opens no transactions: the floor above does.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from forager.db import statements
from forager.db.types import Connection

SQL = statements.load("forager.domains", "tasks.sql")


async def hold(conn: Connection, domain_ids: Iterable[int]) -> None:
    """First of all, as workers do: their counters move in this transaction."""
    await conn.execute(SQL["hold_domains"], sorted(set(domain_ids)))


async def lose_pages(conn: Connection, pages: Mapping[int, int]) -> None:
    if pages:
        await conn.execute(SQL["lose_pages"], list(pages), list(pages.values()))


async def expect_visits(conn: Connection, first_at: Mapping[int, datetime], pages: Mapping[int, int]) -> None:
    """Domain → when the first of its tasks may be taken; and how many pages more wait in it, also where none may."""
    if first_at:
        await conn.execute(
            SQL["expect_visits"], list(first_at), [pages.get(domain, 0) for domain in first_at], list(first_at.values())
        )
    others = {domain: count for domain, count in pages.items() if domain not in first_at and count}
    if others:
        await conn.execute(SQL["grow_frontiers"], list(others), list(others.values()))


async def switched_off(conn: Connection, worker: int) -> list[tuple[int, int]]:
    """Domain and version of leases that an operator wants ended."""
    return [tuple(row) for row in await conn.fetch(SQL["switched_off"], worker)]
