"""Fills a fresh database with pages, quickly: what a crawl of that size leaves behind, without its links between pages.

Foreign keys and triggers are off while it fills; what it writes keeps every promise of the schema all the same.
"""

import random
from typing import Any

from forager.db import statements
from forager.urls.normalize import url_key

SQL = statements.load("bench", "fill.sql")
DOMAINS = 1000
CHUNK = 100_000
KEYWORDS = 60
DEPTH = 2
"""Of every filler page."""


def name_of(site: int) -> str:
    return f"site-{site:04}.example"


def url_of(site: int, place: int) -> str:
    """The page of a site by its place, by the formula of `fill.sql`."""
    return f"https://{name_of(site)}/section-{place % 40}/page-{place}"


def make_keywords() -> str:
    """Some words with weights and places, as keywords of a short page are stored; the same for all pages."""
    words = sorted({f"word{random.Random(n).randrange(9999)}" for n in range(KEYWORDS)})
    return " ".join(f"'{word}':{place}" for place, word in enumerate(words, 1))


async def fill(conn: Any, have: int, size: int) -> None:
    """Grow the database from so many filler pages to so many, ready to be measured: counted, vacuumed, on disk."""
    await conn.execute("SET session_replication_role = replica; SET synchronous_commit = off")
    if not have:
        await conn.execute(SQL["add_domains"], DOMAINS)
    keywords = make_keywords()
    for start in range(have, size, CHUNK):
        await conn.execute(SQL["add_pages"], start, min(start + CHUNK, size), DOMAINS, keywords, timeout=600)
    await conn.execute(SQL["count_domains"], timeout=600)
    await conn.execute("RESET ALL")
    for statement in (
        "VACUUM (ANALYZE) pages",
        "VACUUM (ANALYZE) crawl_tasks",
        "VACUUM (ANALYZE) domains",
        "CHECKPOINT",
    ):
        await conn.execute(statement, timeout=600)
    await _check_formula(conn)


async def _check_formula(conn: Any) -> None:
    """If Python and SQL disagreed on URLs, everything known would be measured as new."""
    url = url_of(7 % DOMAINS, 3)
    if not await conn.fetchval("SELECT true FROM pages WHERE url = $1 AND url_hash = $2", url, url_key(url)):
        raise AssertionError(f"the filler did not write {url} under its key")
