"""Reads pages for commands and routes."""

from collections.abc import Sequence
from typing import Any

from forager.db import statements
from forager.db.rows import START, Key, Row, as_dicts, require_row
from forager.db.types import Connection
from forager.domains.lookup import known_name
from forager.errors import BadUrlError, NotFoundError, UsageError
from forager.frontier.details import get_structured_data
from forager.urls.domain import domain_of
from forager.urls.normalize import normalize, url_key

SQL = statements.load("forager.pages")
NO_VISIT: Row = dict.fromkeys(
    ("status_code", "outcome", "completed_at", "error_code", "error_message", "response_time_ms")
)


async def list_pages(
    conn: Connection,
    after: Key = START,
    *,
    domain: str | None = None,
    status: str | None = None,
    language: str | None = None,
    is_seed: bool | None = None,
    outcome: str | None = None,
    limit: int | None = None,
) -> list[Row]:
    """Returns pages in the order they were found. `outcome`: only those whose latest visit had this outcome."""
    name = await known_name(conn, domain)
    return as_dicts(await conn.fetch(SQL["pages_by_id"], *after, status, language, is_seed, name, outcome, limit))


async def add_latest_visits(conn: Connection, pages: Sequence[Row]) -> list[Row]:
    """Returns the pages with the columns of their latest closed task; these are None for a page that has none."""
    visits = await conn.fetch(SQL["latest_visits"], [page["id"] for page in pages])
    by_page = {visit["id"]: dict(visit) for visit in visits}
    return [page | by_page.get(page["id"], NO_VISIT) for page in pages]


async def find_page(connection: Connection, url: str) -> Row:
    """Returns one page by any spelling of its URL; rejects one that is not known."""
    try:
        spelling = normalize(url)
    except BadUrlError as error:
        raise UsageError(str(error)) from None
    found = await connection.fetchrow(SQL["find_page"], domain_of(spelling), url_key(spelling))
    if found is None:
        raise NotFoundError(f"There is no page {spelling}. `forager pages` lists those that are known.")
    return dict(found)


async def list_read_pages(
    conn: Connection,
    after: Key,
    *,
    domain: str | None,
    status: str | None,
    language: str | None,
    is_seed: bool | None,
    limit: int,
) -> list[Row]:
    name = await known_name(conn, domain)
    return as_dicts(await conn.fetch(SQL["pages_by_read"], *after, status, language, is_seed, name, limit))


async def list_domain_pages(
    conn: Connection,
    after: Key,
    domain: str,
    *,
    status: str | None,
    language: str | None,
    is_seed: bool | None,
    limit: int,
) -> list[Row]:
    name = await known_name(conn, domain)
    return as_dicts(await conn.fetch(SQL["pages_of_domain"], *after, name, status, language, is_seed, limit))


async def get_page(conn: Connection, page_id: int) -> Row:
    return require_row(await conn.fetchrow(SQL["find_page_by_id"], page_id), "page", page_id)


async def list_structured_data(conn: Connection, page_id: int) -> list[dict[str, Any]]:
    """Returns all items of one page. Raises if there is no such page."""
    items = await get_structured_data(conn, page_id)
    if not items:
        await get_page(conn, page_id)
    return items
