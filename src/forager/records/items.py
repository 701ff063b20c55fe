"""Structured data of pages, item by item: by type, domain, syntax and properties.

The items of a page are stored together and compressed; an index on their types finds the pages, and what else is asked
is compared here, a limited number of pages at a time.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from forager.db import statements
from forager.db.rows import Row
from forager.db.types import Connection
from forager.domains.lookup import known_name
from forager.frontier.details import item_type, unpack_items
from forager.pages.queries import find_page
from forager.records.conditions import Condition, holds

SQL = statements.load("forager.records", "list.sql")
PAGES_AT_ONCE = 50
MOST_PAGES = 2_000
"""Pages that one call compares; a list ends there and says where it resumes."""
NO_ITEM = -1


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """Which items; None is all."""

    type: str | None = None
    domain: str | None = None
    url: str | None = None
    syntax: str | None = None
    where: Sequence[Condition] = ()


class ItemKey(NamedTuple):
    """The position of an item: its page, and its place there."""

    page_id: int = 0
    position: int = NO_ITEM


FIRST = ItemKey()


class FoundItems(NamedTuple):
    """Some items, and where to resume if pages are left that were not compared."""

    rows: list[Row]
    resume_at: Mapping[str, int] | None


async def list_items(
    conn: Connection, wanted: ItemFilter, after: ItemKey = FIRST, *, limit: int, most_pages: int = MOST_PAGES
) -> FoundItems:
    """Returns items in page order; may return fewer than `limit`, with the position to resume at."""
    rows: list[Row] = []
    async for key, items in _pages(conn, wanted, after, most_pages):
        for position, row in items:
            if (key, position) > after:
                rows.append(row)
            if len(rows) >= limit:
                return FoundItems(rows, None)
        last = key
        most_pages -= 1
        if not most_pages:
            return FoundItems(rows, {"page_id": last, "position": 2**31 - 1})
    return FoundItems(rows, None)


async def _pages(
    conn: Connection, wanted: ItemFilter, after: ItemKey, most_pages: int
) -> AsyncIterator[tuple[int, list[tuple[int, Row]]]]:
    """Yields each page with the items that match, with their positions."""
    domain = await known_name(conn, wanted.domain)
    page = (await find_page(conn, wanted.url))["id"] if wanted.url else None
    kind = item_type(wanted.type) if wanted.type else None
    last = after.page_id - 1 if after.position != NO_ITEM else after.page_id
    while True:
        found = await conn.fetch(SQL["list_item_pages"], last, kind, domain, page, min(PAGES_AT_ONCE, most_pages))
        for row in found:
            yield row["page_id"], _matching(dict(row), wanted, kind)
        if len(found) < min(PAGES_AT_ONCE, most_pages):
            return
        last = found[-1]["page_id"]


def _matching(row: Mapping[str, Any], wanted: ItemFilter, kind: str | None) -> list[tuple[int, Row]]:
    page = {name: row[name] for name in ("page_id", "url", "domain", "fetched_at")}
    return [
        (position, page | {"position": position, **item})
        for position, item in enumerate(unpack_items(row["structured_data"]))
        if _is_wanted(item, wanted, kind)
    ]


def _is_wanted(item: Mapping[str, Any], wanted: ItemFilter, kind: str | None) -> bool:
    if kind is not None and kind not in map(item_type, item["types"]):
        return False
    if wanted.syntax is not None and item["syntax"] != wanted.syntax:
        return False
    return all(holds(condition, item["properties"]) for condition in wanted.where)
