"""Permanently deletes pages and history for an operator. One short function per statement of `purge.sql`.

Keeps only the values that counters are recounted from, in `archived_rows`. Opens no transactions: the caller does.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from forager.db import statements
from forager.db.query import Query, fetch_one
from forager.db.types import Connection

SQL = statements.load("forager.frontier", "purge.sql")


class PurgeResult(NamedTuple):
    """What was deleted with a batch of pages."""

    closed: int
    open: int
    known: int
    """Deleted pages that are not images."""
    waiting: int
    """Deleted pages that were in the frontier."""
    linking: int
    """Other pages that linked to them."""
    dependents: int
    """Tasks of other pages that depended on theirs: an operator has to resume them."""
    bodies: list[str]
    """Stored bodies that their visits referred to."""


class TakenTasks(NamedTuple):
    closed: int
    open: int


class DroppedPages(NamedTuple):
    known: int
    waiting: int


FIND_PAGES = Query(SQL["find_pages"], int)
BODIES_OF_PAGES = Query(SQL["bodies_of_pages"], str)
TASKS_OF_PAGES = Query(SQL["tasks_of_pages"], int)
TAKE_TASKS = Query(SQL["take_tasks"], TakenTasks)
DROP_PAGES = Query(SQL["drop_pages"], DroppedPages)
FIND_HISTORY = Query(SQL["find_history"], int)


async def find_pages(conn: Connection, domain_id: int, text: str | None, *, after: int, limit: int) -> list[int]:
    return await FIND_PAGES.fetch(conn, domain_id, after, text, limit)


async def has_history(conn: Connection, domain: str) -> bool:
    found: bool = await conn.fetchval(SQL["has_history"], domain)
    return found


async def count_pages(conn: Connection, domain_id: int, text: str | None) -> dict[str, int]:
    return dict(await fetch_one(conn, SQL["count_pages"], domain_id, text))


async def delete_pages(conn: Connection, page_ids: Sequence[int]) -> PurgeResult:
    """Deletes pages in the caller's transaction. Their images must be deleted before."""
    await conn.execute(SQL["allow"])
    bodies = await BODIES_OF_PAGES.fetch(conn, page_ids)
    dependents: int = await conn.fetchval(SQL["let_dependents_go"], page_ids)
    tasks = await TAKE_TASKS.one(conn, await TASKS_OF_PAGES.fetch(conn, page_ids))
    linking: int = await conn.fetchval(SQL["unlink"], page_ids)
    await conn.execute(SQL["drop_links"], page_ids)
    pages = await DROP_PAGES.one(conn, page_ids)
    return PurgeResult(tasks.closed, tasks.open, pages.known, pages.waiting, linking, dependents, bodies)


async def count_history(conn: Connection, before: datetime, domain_id: int | None) -> int:
    found: int = await conn.fetchval(SQL["count_history"], before, domain_id)
    return found


async def delete_history(
    conn: Connection, before: datetime, domain_id: int | None, *, after: int, limit: int
) -> tuple[int, int]:
    """Returns the number of deleted tasks, and the last id."""
    await conn.execute(SQL["allow"])
    found = await FIND_HISTORY.fetch(conn, before, domain_id, after, limit)
    return (await TAKE_TASKS.one(conn, found)).closed, max(found, default=0)
