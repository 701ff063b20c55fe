"""Long lists, page by page: each function hands over the rows after a key, in an order that an index has.

Callers ask for one row more than they show, so that they know whether there is a next page.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from forager.control.look import Row, check_run_exists, known_name
from forager.db import statements
from forager.errors import NotFoundError
from forager.frontier.details import get_structured_data

SQL = statements.load("forager.control", "listing.sql")
Key = Sequence[Any]


async def domains(
    conn: Any,
    after: Key,
    *,
    by_name: bool = False,
    status: str | None = None,
    is_active: bool | None = None,
    parent: str | None = None,
    run: int | None = None,
    part: str | None = None,
    breaker: str | None = None,
    limit: int,
) -> list[Row]:
    statement = SQL["domains_by_name" if by_name else "domains_by_id"]
    return _rows(await conn.fetch(statement, *after, status, is_active, parent, run, part, breaker, limit))


async def name_of_domain(conn: Any, domain_id: int) -> str:
    name: str | None = await conn.fetchval(SQL["name_of_domain"], domain_id)
    if name is None:
        raise NotFoundError(f"There is no domain {domain_id}.")
    return name


async def moves(conn: Any, after: Key, name: str, *, limit: int) -> list[Row]:
    return _rows(await conn.fetch(SQL["moves_of_domain"], *after, await known_name(conn, name), limit))


async def days_of_domain(conn: Any, after: Key, name: str, *, limit: int) -> list[Row]:
    return _rows(await conn.fetch(SQL["days_of_domain"], *after, await known_name(conn, name), limit))


async def robots(conn: Any, name: str) -> list[Row]:
    return _rows(await conn.fetch(SQL["robots_of_domain"], await known_name(conn, name)))


async def pages(
    conn: Any, after: Key, *, status: str | None, language: str | None, is_seed: bool | None, limit: int
) -> list[Row]:
    return _rows(await conn.fetch(SQL["pages_by_id"], *after, status, language, is_seed, limit))


async def pages_read(
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
    return _rows(await conn.fetch(SQL["pages_by_read"], *after, status, language, is_seed, name, limit))


async def pages_of(
    conn: Any, after: Key, domain: str, *, status: str | None, language: str | None, is_seed: bool | None, limit: int
) -> list[Row]:
    name = await known_name(conn, domain)
    return _rows(await conn.fetch(SQL["pages_of_domain"], *after, name, status, language, is_seed, limit))


async def find_page(conn: Any, page_id: int) -> Row:
    return _one(await conn.fetchrow(SQL["find_page_by_id"], page_id), "page", page_id)


async def structured_data(conn: Any, page_id: int) -> list[dict[str, Any]]:
    """All items of one page. Raises where there is no such page."""
    items = await get_structured_data(conn, page_id)
    if not items:
        await find_page(conn, page_id)
    return items


async def frontier(conn: Any, after: Key, *, domain: str | None, limit: int) -> list[Row]:
    name = await known_name(conn, domain)
    if name is None:
        return _rows(await conn.fetch(SQL["frontier_by_domain"], *after, limit))
    return _rows(await conn.fetch(SQL["frontier_of_domain"], *after, name, limit))


async def frontier_numbers(conn: Any) -> Row:
    numbers = dict(await conn.fetchrow(SQL["frontier_numbers"]))
    return numbers | {"open_tasks": _rows(await conn.fetch(SQL["open_tasks_by_status"]))}


async def tasks(
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
        return _rows(await conn.fetch(statement, *after, *filters, limit))
    return _rows(await conn.fetch(SQL["tasks_of_batch"], *after, *filters, batch, limit))


async def tasks_of_page(conn: Any, after: Key, page_id: int, *, limit: int) -> list[Row]:
    return _rows(await conn.fetch(SQL["tasks_of_page"], *after, page_id, limit))


async def find_task(conn: Any, task_id: int) -> Row:
    return _one(await conn.fetchrow(SQL["find_task"], task_id), "task", task_id)


async def products(
    conn: Any,
    after: Key,
    *,
    domain: str | None = None,
    availability: str | None = None,
    brand: str | None = None,
    category: str | None = None,
    currency: str | None = None,
    lowest: float | None = None,
    highest: float | None = None,
    is_valid: bool | None = None,
    limit: int,
) -> list[Row]:
    name = await known_name(conn, domain)
    filters = (name, availability, brand, category, currency, lowest, highest, is_valid)
    return _rows(await conn.fetch(SQL["products_by_created"], *after, *filters, limit))


async def changes(
    conn: Any,
    after: Key,
    *,
    domain: str | None = None,
    of: str | None = None,
    since: datetime | None = None,
    limit: int,
) -> list[Row]:
    name = await known_name(conn, domain)
    return _rows(await conn.fetch(SQL["changes_by_id"], *after, name, of, since, limit))


async def images(
    conn: Any,
    after: Key,
    *,
    domain: str | None = None,
    status: str | None = None,
    file_format: str | None = None,
    page: int | None = None,
    limit: int,
) -> list[Row]:
    """`page` is the id of one that shows them."""
    name = await known_name(conn, domain)
    if page is not None:
        return _rows(await conn.fetch(SQL["images_of_page"], *after, page, name, status, file_format, limit))
    return _rows(await conn.fetch(SQL["images_by_id"], *after, name, status, file_format, limit))


async def runs(conn: Any, after: Key, *, status: str | None = None, limit: int) -> list[Row]:
    rows = _rows(await conn.fetch(SQL["runs_by_id"], *after, status, limit))
    return [row | {"spec": json.loads(row["spec"])} for row in rows]


async def workers(conn: Any, after: Key, *, dead_after_s: float, status: str | None = None, limit: int) -> list[Row]:
    return _rows(await conn.fetch(SQL["workers_by_id"], *after, dead_after_s, status, limit))


async def parts(conn: Any, *, dead_after_s: float) -> Row:
    """What a health check wants to know of workers and queues, in one question."""
    return dict(await conn.fetchrow(SQL["parts"], dead_after_s))


async def duties_now(conn: Any, names: Sequence[str]) -> list[Row]:
    """The most overdue first."""
    return _rows(await conn.fetch(SQL["duties_now"], names))


def _rows(records: Sequence[Any]) -> list[Row]:
    return [dict(record) for record in records]


def _one(record: Any, kind: str, number: int) -> Row:
    if record is None:
        raise NotFoundError(f"There is no {kind} {number}.")
    return dict(record)
