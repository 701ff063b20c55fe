"""Reads runs, their pages and the pages of sites. One short function per statement."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection

SQL = statements.load("forager.firecrawl")


class CrawledPage(NamedTuple):
    id: int
    url: str
    fetched_at: datetime | None
    status_code: int | None
    title: str | None
    description: str | None
    language: str | None
    body_ref: str | None


class RunState(NamedTuple):
    status: str
    is_stopping: bool
    started_at: datetime
    max_pages: int | None
    waiting: int


class SiteState(NamedTuple):
    id: int
    content_policy: str | None
    is_leased: bool
    has_sitemap: bool


class MapRow(NamedTuple):
    url: str
    title: str | None
    description: str | None


CRAWLED_PAGES = Query(SQL["crawled_pages"], CrawledPage)
COUNT_CRAWLED = Query(SQL["count_crawled"], int)
FIND_RUN = Query(SQL["find_run"], RunState)
FIND_SITE = Query(SQL["find_site"], SiteState)
MAP_PAGES = Query(SQL["map_pages"], MapRow)


@dataclass(frozen=True, slots=True)
class Crawl:
    """What belongs to a crawl: the pages that its run read, and stored ones of its site that are new enough."""

    run: int
    site_id: int | None
    since: datetime | None
    """None: only what the run read."""
    folders: Sequence[str]
    include: Sequence[str]
    exclude: Sequence[str]
    """Patterns for LIKE."""
    limit: int | None

    @property
    def filters(self) -> tuple[object, ...]:
        return (self.site_id, self.since, list(self.folders), list(self.include), list(self.exclude), self.limit)


async def list_crawled(conn: Connection, crawl: Crawl, *, after: int, limit: int) -> list[CrawledPage]:
    return await CRAWLED_PAGES.fetch(conn, crawl.run, after, limit, *crawl.filters)


async def count_crawled(conn: Connection, crawl: Crawl) -> int:
    return await COUNT_CRAWLED.one(conn, crawl.run, *crawl.filters)


async def find_run(conn: Connection, run: int) -> RunState | None:
    return await FIND_RUN.first(conn, run)


async def find_site(conn: Connection, name: str) -> SiteState | None:
    return await FIND_SITE.first(conn, name)


async def map_pages(
    conn: Connection,
    name: str,
    *,
    with_subdomains: bool,
    search: str | None,
    without_query: bool,
    only_listed: bool,
    limit: int,
) -> list[MapRow]:
    return await MAP_PAGES.fetch(conn, name, with_subdomains, search, without_query, only_listed, limit)
