"""Reads tasks for commands and routes."""

from typing import Any

from forager.db import statements
from forager.db.rows import Key, Row, as_dicts, require_row
from forager.domains.lookup import known_name
from forager.runs.queries import check_run_exists
from forager.urls.normalize import normalize, url_key

SQL = statements.load("forager.tasks")


async def list_tasks(
    connection: Any,
    *,
    domain: str | None = None,
    url: str | None = None,
    run: int | None = None,
    is_open: bool | None = None,
    status: str | None = None,
    batch: int | None = None,
    kind: str | None = None,
    error: str | None = None,
    limit: int | None = None,
) -> list[Row]:
    """Newest first. `kind` is `page` or `image`: what the visit is for."""
    name = await known_name(connection, domain)
    key = url_key(normalize(url)) if url is not None else None
    await check_run_exists(connection, run)
    is_image = None if kind is None else kind == "image"
    filters = (name, key, run, is_open, status, batch, is_image, error)
    return as_dicts(await connection.fetch(SQL["list_tasks"], *filters, limit))


async def page_of_tasks(
    conn: Any,
    after: Key,
    *,
    domain: str | None = None,
    status: str | None = None,
    outcome: str | None = None,
    error_code: str | None = None,
    run: int | None = None,
    is_open: bool | None = None,
    is_image: bool | None = None,
    batch: int | None = None,
    limit: int,
) -> list[Row]:
    name = await known_name(conn, domain)
    await check_run_exists(conn, run)
    filters = (name, status, outcome, error_code, run, is_open, is_image)
    if batch is None:
        statement = SQL["tasks_by_id" if name is None else "tasks_of_domain"]
        return as_dicts(await conn.fetch(statement, *after, *filters, limit))
    return as_dicts(await conn.fetch(SQL["tasks_of_batch"], *after, *filters, batch, limit))


async def page_of_page_tasks(conn: Any, after: Key, page_id: int, *, limit: int) -> list[Row]:
    return as_dicts(await conn.fetch(SQL["tasks_of_page"], *after, page_id, limit))


async def get_task(conn: Any, task_id: int) -> Row:
    return require_row(await conn.fetchrow(SQL["find_task"], task_id), "task", task_id)
