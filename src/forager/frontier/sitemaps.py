"""Sitemaps and feeds in the frontier: pages that are fetched for the URLs that they list. One short function per
statement of `sitemaps.sql`. Opens no transactions: the caller does."""

from collections.abc import Sequence
from typing import NamedTuple

from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection
from forager.frontier.models import Outcome, OutcomeKind
from forager.frontier.page_priority import HIGH
from forager.frontier.rows import DomainPages
from forager.links.models import Discovery

SQL = statements.load("forager.frontier", "sitemaps.sql")
NOT_MODIFIED = 304


class SiteFiles(NamedTuple):
    site_id: int
    files: int


COUNT_SITEMAPS = Query(SQL["count_sitemaps"], SiteFiles)
MARK_SITEMAPS = Query(SQL["mark_sitemaps"], DomainPages)
RETRY_SITEMAPS = Query(SQL["retry_sitemaps"], DomainPages)


class SitemapFile(NamedTuple):
    """A sitemap or feed that somebody named."""

    link: Discovery
    site_id: int
    """The domain that it is for."""
    found_by: str
    """`robots`, `guess`, `index`, `page`, `redirect`."""
    named_by: int | None = None
    """The page that names it."""


async def count_sitemaps(conn: Connection, site_ids: Sequence[int]) -> dict[int, int]:
    return dict(await COUNT_SITEMAPS.fetch(conn, site_ids))


async def add_sitemaps(conn: Connection, files: Sequence[tuple[int, SitemapFile]]) -> None:
    """Adds files, each with its page."""
    await conn.execute(
        SQL["add_sitemaps"],
        [page for page, _ in files],
        [file.site_id for _, file in files],
        [file.found_by for _, file in files],
        [file.named_by for _, file in files],
    )


async def mark_sitemaps(conn: Connection, page_ids: Sequence[int]) -> dict[int, int]:
    """Turns pages into files. Returns domain → number of pages that it has fewer."""
    return dict(await MARK_SITEMAPS.fetch(conn, page_ids, HIGH))


async def retry_sitemaps(conn: Connection, page_ids: Sequence[int]) -> dict[int, int]:
    """Returns domain → number of files that wait again."""
    return dict(await RETRY_SITEMAPS.fetch(conn, page_ids))


async def count_new_urls(conn: Connection, page_id: int, urls: int) -> None:
    if urls:
        await conn.execute(SQL["count_new_urls"], page_id, urls)


async def record_sitemaps(conn: Connection, done: Sequence[Outcome]) -> None:
    """Saves the results of visits to sitemaps and feeds that were read; failed ones are in the history."""
    read = [o for o in done if o.kind is OutcomeKind.SUCCESS and _is_listing(o)]
    if not read:
        return
    listings = [outcome.reading.listing if outcome.reading else None for outcome in read]
    await conn.execute(
        SQL["record_sitemaps"],
        [outcome.target.page_id for outcome in read],
        [listing.format if listing else None for listing in listings],
        [listing.urls if listing else None for listing in listings],
        [listing.problem if listing else _not_a_sitemap(o) for o, listing in zip(read, listings, strict=True)],
        [outcome.status_code == NOT_MODIFIED for outcome in read],
    )


def _is_listing(outcome: Outcome) -> bool:
    return outcome.target.is_sitemap or (outcome.reading is not None and outcome.reading.listing is not None)


def _not_a_sitemap(outcome: Outcome) -> str | None:
    if outcome.selection.files:
        return "it redirects"
    kind = (outcome.content_type or "").partition(";")[0].strip()
    return f"it is no sitemap and no feed ({kind or 'no content type'})"
