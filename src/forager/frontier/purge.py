"""Pages and history that an operator has deleted for good. One short function per statement of `purge.sql`.

What counters are recounted from stays, in `departures`; nothing else does. Opens no transactions: the floor above does.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from forager.db import statements

SQL = statements.load("forager.frontier", "purge.sql")


class PurgeResult(NamedTuple):
    """What went with a batch of pages."""

    closed: int
    open: int
    known: int
    """Of the pages, those that are no images."""
    waiting: int
    """Of the pages, those of the frontier."""
    linking: int
    """Other pages that linked to them."""
    dependents: int
    """Tasks of other pages that waited for theirs: a person has to resume them."""
    bodies: list[str]
    """Snapshots that their visits referred to."""


async def find_pages(conn: Any, domain_id: int, text: str | None, *, after: int, limit: int) -> list[int]:
    return [row["id"] for row in await conn.fetch(SQL["find_pages"], domain_id, after, text, limit)]


async def has_history(conn: Any, domain: str) -> bool:
    found: bool = await conn.fetchval(SQL["has_history"], domain)
    return found


async def count_pages(conn: Any, domain_id: int, text: str | None) -> dict[str, int]:
    return dict(await conn.fetchrow(SQL["count_pages"], domain_id, text))


async def delete_pages(conn: Any, page_ids: Sequence[int]) -> PurgeResult:
    """In the caller's transaction; their images went before."""
    await conn.execute(SQL["allow"])
    bodies = [row["name"] for row in await conn.fetch(SQL["bodies_of_pages"], page_ids)]
    dependents: int = await conn.fetchval(SQL["let_dependents_go"], page_ids)
    tasks = await conn.fetchrow(SQL["take_tasks"], await _ids(conn, "tasks_of_pages", page_ids))
    linking: int = await conn.fetchval(SQL["unlink"], page_ids)
    await conn.execute(SQL["drop_links"], page_ids)
    pages = await conn.fetchrow(SQL["drop_pages"], page_ids)
    return PurgeResult(tasks["closed"], tasks["open"], pages["known"], pages["waiting"], linking, dependents, bodies)


async def count_history(conn: Any, before: datetime, domain_id: int | None) -> int:
    found: int = await conn.fetchval(SQL["count_history"], before, domain_id)
    return found


async def delete_history(
    conn: Any, before: datetime, domain_id: int | None, *, after: int, limit: int
) -> tuple[int, int]:
    """How many went, and the last id."""
    await conn.execute(SQL["allow"])
    found = await _ids(conn, "find_history", before, domain_id, after, limit)
    row = await conn.fetchrow(SQL["take_tasks"], found)
    return row["closed"], max(found, default=0)


async def _ids(conn: Any, statement: str, *which: object) -> list[int]:
    return [row["id"] for row in await conn.fetch(SQL[statement], *which)]
