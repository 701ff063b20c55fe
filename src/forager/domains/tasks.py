"""Domain updates caused by task commands, one short function per statement of `tasks.sql`.

Opens no transactions: the caller does.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from forager.db import statements
from forager.db.types import Connection

SQL = statements.load("forager.domains", "tasks.sql")


async def hold(conn: Connection, domain_ids: Iterable[int]) -> None:
    """Locks the domains. Call it first, as workers do: their counters change in this transaction."""
    await conn.execute(SQL["hold_domains"], sorted(set(domain_ids)))


async def lose_pages(conn: Connection, pages: Mapping[int, int]) -> None:
    if pages:
        await conn.execute(SQL["lose_pages"], list(pages), list(pages.values()))


async def expect_visits(conn: Connection, first_at: Mapping[int, datetime], pages: Mapping[int, int]) -> None:
    """Takes domain → when its first task can be claimed, and domain → the pages added to its frontier, also if no
    task can be claimed."""
    if first_at:
        await conn.execute(
            SQL["expect_visits"], list(first_at), [pages.get(domain, 0) for domain in first_at], list(first_at.values())
        )
    others = {domain: count for domain, count in pages.items() if domain not in first_at and count}
    if others:
        await conn.execute(SQL["grow_frontiers"], list(others), list(others.values()))


async def switched_off(conn: Connection, worker: int) -> list[tuple[int, int]]:
    """Returns domain and version of leases that an operator wants ended."""
    return [tuple(row) for row in await conn.fetch(SQL["switched_off"], worker)]
