"""Reads what is known of sitemaps and feeds: those of a domain, those that a run read, those that list a page."""

from typing import NamedTuple

from forager.db import statements
from forager.db.query import Query, fetch_one
from forager.db.rows import Row, as_dicts
from forager.db.types import Connection
from forager.domains.lookup import known_name
from forager.domains.store import find_domains
from forager.runs.models import ListedInRun

SQL = statements.load("forager.domains", "sitemaps.sql")


class NamingFile(NamedTuple):
    """A sitemap or feed that lists a page."""

    url: str
    format: str


LISTED_IN_RUN = Query(SQL["listed_in_run"], ListedInRun)
SITEMAPS_NAMING = Query(SQL["sitemaps_naming"], NamingFile)


async def list_sitemaps(conn: Connection, name: str, *, after: int = 0, limit: int | None = None) -> list[Row]:
    """Returns the sitemaps and feeds of a domain, each with what its last reading found."""
    return as_dicts(await conn.fetch(SQL["list_sitemaps"], await _id_of(conn, name), after, limit))


async def count_listed(conn: Connection, name: str) -> Row:
    """Returns what the sitemaps and feeds of a domain list in all."""
    return dict(await fetch_one(conn, SQL["count_listed"], await _id_of(conn, name)))


async def listed_in_run(conn: Connection, run: int) -> ListedInRun:
    return await LISTED_IN_RUN.one(conn, run)


async def sitemaps_naming(conn: Connection, page_id: int, *, limit: int = 3) -> list[NamingFile]:
    return await SITEMAPS_NAMING.fetch(conn, page_id, limit)


async def _id_of(conn: Connection, name: str) -> int:
    known = await known_name(conn, name)
    assert known is not None  # only of a name that was not given
    return (await find_domains(conn, [known]))[known]
