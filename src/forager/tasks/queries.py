"""Reads tasks for commands and routes."""

from forager.db import statements
from forager.db.rows import START, Key, Row, as_dicts, require_row
from forager.db.types import Connection
from forager.domains.lookup import known_name
from forager.runs.queries import check_run_exists
from forager.urls.domain import domain_of
from forager.urls.normalize import normalize, url_key

SQL = statements.load("forager.tasks")


async def list_tasks(
    conn: Connection,
    after: Key = START,
    *,
    domain: str | None = None,
    url: str | None = None,
    page: int | None = None,
    status: str | None = None,
    outcome: str | None = None,
    error_code: str | None = None,
    run: int | None = None,
    is_open: bool | None = None,
    is_image: bool | None = None,
    batch: int | None = None,
    limit: int | None = None,
) -> list[Row]:
    """Returns tasks, newest first: open ones are the queue, closed ones the history."""
    name = await known_name(conn, domain)
    await check_run_exists(conn, run)
    if url is not None:
        normal = normalize(url)
        page = await conn.fetchval(SQL["page_of_url"], domain_of(normal), url_key(normal))
        if page is None:
            return []
    filters = (name, status, outcome, error_code, run, is_open, is_image)
    if name is None or batch is not None or page is not None:
        return as_dicts(await conn.fetch(SQL["tasks_by_id"], *after, *filters, batch, page, limit))
    return as_dicts(await conn.fetch(SQL["tasks_of_domain"], *after, *filters, limit))


async def get_task(conn: Connection, task_id: int) -> Row:
    return require_row(await conn.fetchrow(SQL["find_task"], task_id), "task", task_id)
