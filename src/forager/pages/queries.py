"""Reads pages for commands and routes."""

from typing import Any

from forager.db import statements
from forager.db.rows import Key, Row, as_dicts, require_row
from forager.domains.lookup import known_name
from forager.errors import BadUrlError, NotFoundError, UsageError
from forager.frontier.details import get_structured_data
from forager.urls.domain import domain_of
from forager.urls.normalize import normalize, url_key

SQL = statements.load("forager.pages")


async def list_pages(
    connection: Any,
    *,
    domain: str | None = None,
    status: str | None = None,
    outcome: str | None = None,
    limit: int | None = None,
) -> list[Row]:
    name = await known_name(connection, domain)
    return as_dicts(await connection.fetch(SQL["list_pages"], name, status, outcome, limit))


async def find_page(connection: Any, url: str) -> Row:
    """One page by any spelling of its URL; refuses one that is not known."""
    try:
        spelling = normalize(url)
    except BadUrlError as error:
        raise UsageError(str(error)) from None
    found = await connection.fetchrow(SQL["find_page"], domain_of(spelling), url_key(spelling))
    if found is None:
        raise NotFoundError(f"There is no page {spelling}. `forager pages` lists those that are known.")
    return dict(found)


async def page_of_pages(
    conn: Any, after: Key, *, status: str | None, language: str | None, is_seed: bool | None, limit: int
) -> list[Row]:
    return as_dicts(await conn.fetch(SQL["pages_by_id"], *after, status, language, is_seed, limit))


async def page_of_pages_read(
    conn: Any,
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


async def page_of_domain_pages(
    conn: Any, after: Key, domain: str, *, status: str | None, language: str | None, is_seed: bool | None, limit: int
) -> list[Row]:
    name = await known_name(conn, domain)
    return as_dicts(await conn.fetch(SQL["pages_of_domain"], *after, name, status, language, is_seed, limit))


async def get_page(conn: Any, page_id: int) -> Row:
    return require_row(await conn.fetchrow(SQL["find_page_by_id"], page_id), "page", page_id)


async def list_structured_data(conn: Any, page_id: int) -> list[dict[str, Any]]:
    """All items of one page. Raises where there is no such page."""
    items = await get_structured_data(conn, page_id)
    if not items:
        await get_page(conn, page_id)
    return items
