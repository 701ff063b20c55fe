"""One short function per statement of `revisit_store.sql`. Opens no transactions: the caller does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection
from forager.frontier.rows import DomainPages

SQL = statements.load("forager.frontier", "revisit_store.sql")

FIRST_KEY = b""
"""Sorts before every page's key."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Observations of a sample of a domain's pages: for each, the numbers of comparisons and changes, and the time
    observed."""

    domain_id: int
    looked_at: int
    """Includes pages without observations."""
    watches: Sequence[tuple[int, int, float]]


class RefreshedPages(NamedTuple):
    pages: int
    """Number of pages that got a task."""
    last_key: bytes | None
    """The last key that was examined."""


class WatchedPages(NamedTuple):
    domain_id: int
    looked_at: int
    comparisons: list[int]
    changes: list[int]
    watched_s: list[float]


REOPEN_HOMES = Query(SQL["requeue_start_pages"], DomainPages)
REFRESH_PAGES = Query(SQL["refresh_pages"], RefreshedPages)
SAMPLE_WATCHES = Query(SQL["sample_watches"], WatchedPages)


async def requeue_start_pages(
    conn: Connection, domain_ids: Sequence[int], *, by: str, most_seeds: int
) -> dict[int, int]:
    """Returns domain → number of its pages that are in the frontier again."""
    return dict(await REOPEN_HOMES.fetch(conn, domain_ids, by, most_seeds))


async def refresh_pages(
    conn: Connection, domain_ids: Sequence[int], *, after: bytes, limit: int
) -> tuple[int, bytes | None]:
    """Returns the number of pages that got a task, and the last key that was examined, if any."""
    return await REFRESH_PAGES.one(conn, domain_ids, after, limit)


async def sample_watches(conn: Connection, domain_ids: Sequence[int], *, limit: int) -> list[Sample]:
    return [
        Sample(page.domain_id, page.looked_at, list(zip(page.comparisons, page.changes, page.watched_s, strict=True)))
        for page in await SAMPLE_WATCHES.fetch(conn, domain_ids, limit)
    ]
