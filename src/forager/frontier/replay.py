"""One short function per statement of `replay.sql`. Opens no transactions: the caller does."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection

SQL = statements.load("forager.frontier", "replay.sql")


class RequeuedPages(NamedTuple):
    last: int | None
    """The last page that was examined; None if none was left."""
    pages: int
    """Number of pages that got a task, or whose task was brought forward."""
    domain_ids: list[int]


REQUEUE_PAGES = Query(SQL["requeue_pages"], RequeuedPages)


async def renew_languages(conn: Connection, languages: Mapping[int, str | None]) -> None:
    """Updates languages, given by page as they were detected now."""
    await conn.execute(SQL["renew_languages"], list(languages), list(languages.values()))


async def finish_replayed(conn: Connection, pages: Sequence[tuple[int, datetime | None, str]]) -> None:
    """Restores the time of visit and the status of pages."""
    if pages:
        await conn.execute(SQL["finish_replayed"], *map(list, zip(*pages, strict=True)))


async def requeue_pages(
    conn: Connection,
    *,
    after: int,
    domain_id: int | None,
    page_id: int | None,
    since: datetime | None,
    until: datetime | None,
    limit: int,
    by: str,
) -> RequeuedPages:
    return await REQUEUE_PAGES.one(conn, after, domain_id, page_id, since, until, limit, by)


async def count_to_requeue(
    conn: Connection, *, domain_id: int | None, page_id: int | None, since: datetime | None, until: datetime | None
) -> int:
    pages: int = await conn.fetchval(SQL["count_to_requeue"], domain_id, page_id, since, until)
    return pages
