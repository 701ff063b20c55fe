"""Reads the link graph: the links of a page, the pages that link to it, the most linked pages. Reads only."""

from collections.abc import Sequence
from typing import Any

from forager.db import statements
from forager.db.rows import Row
from forager.db.types import Connection
from forager.domains.lookup import known_name
from forager.pages.queries import find_page

SQL = statements.load("forager.pages", "links.sql")
TOTALS = frozenset({"pages", "domains"})


async def links_of(
    connection: Connection,
    url: str,
    *,
    outgoing: bool = True,
    incoming: bool = True,
    after: tuple[int | None, int | None] = (None, None),
    limit: int | None = None,
) -> Row:
    """Returns one page with its links. Totals are exact; up to `limit` links of each kind are returned, `after` this
    position for the page's own links, and after this page for those that link to it."""
    page = await find_page(connection, url)
    found: Row = {"url": page["url"], "domain": page["domain"], "status": page["status"], "title": page["title"]}
    if outgoing:
        found["out"] = {
            "counted": page["links_count"],
            "stored": await connection.fetchval(SQL["count_links_from"], page["id"]) or 0,
            "is_stored": page["stores_links"],
            "links": [dict(row) for row in await connection.fetch(SQL["links_from"], page["id"], after[0], limit)],
            "external": [dict(row) for row in await connection.fetch(SQL["external_links_from"], page["id"], limit)],
        }
    if incoming:
        found["in"] = _group_inlinks(await connection.fetch(SQL["links_to"], page["id"], after[1], limit))
    return found


def _group_inlinks(rows: Sequence[Any]) -> Row:
    """Groups rows, each of which has the totals; without a link to show there is one row with only them."""
    pages, domains = rows[0]["pages"], rows[0]["domains"]
    links = [{name: value for name, value in row.items() if name not in TOTALS} for row in rows if row["page_id"]]
    return {"pages": pages, "domains": domains, "links": links}


async def most_linked(connection: Connection, *, domain: str | None = None, limit: int | None = None) -> list[Row]:
    """Returns the pages that most pages link to, in total or of one domain. In total, every list is read once, whatever
    their number."""
    name = await known_name(connection, domain)
    await connection.execute(SQL["no_time_limit"])
    if name is None:
        rows = await connection.fetch(SQL["top_linked"], limit)
    else:
        rows = await connection.fetch(SQL["top_linked_of"], name, limit)
    return [dict(row) for row in rows]
