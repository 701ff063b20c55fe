"""Who links to whom: the links of a page, who links to it, the pages most link to. Reads only."""

from typing import Any

from forager.control.look import Row, find_page, known_name
from forager.db import statements

SQL = statements.load("forager.control", "links.sql")


async def links_of(
    connection: Any, url: str, *, outgoing: bool = True, incoming: bool = True, limit: int | None = None
) -> Row:
    """One page with its links. Totals are exact; of the links themselves so many of each kind."""
    page = await find_page(connection, url)
    found: Row = {"url": page["url"], "domain": page["domain"], "status": page["status"], "title": page["title"]}
    if outgoing:
        found["out"] = {
            "counted": page["links_count"],
            "stored": await connection.fetchval(SQL["count_links_from"], page["id"]) or 0,
            "is_stored": page["stores_links"],
            "links": [dict(row) for row in await connection.fetch(SQL["links_from"], page["id"], limit)],
        }
    if incoming:
        total = await connection.fetchrow(SQL["count_links_to"], page["id"])
        found["in"] = {
            **dict(total),
            "links": [dict(row) for row in await connection.fetch(SQL["links_to"], page["id"], limit)],
        }
    return found


async def most_linked(connection: Any, *, domain: str | None = None, limit: int | None = None) -> list[Row]:
    """The pages that most pages link to, in all or of one domain. In all, every list is read once, however many."""
    name = await known_name(connection, domain)
    await connection.execute(SQL["no_time_limit"])
    if name is None:
        rows = await connection.fetch(SQL["top_linked"], limit)
    else:
        rows = await connection.fetch(SQL["top_linked_of"], name, limit)
    return [dict(row) for row in rows]
