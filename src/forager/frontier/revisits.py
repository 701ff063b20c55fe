"""One short function per statement of `again.sql`. Opens no transactions: the floor above does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forager.db import statements

SQL = statements.load("forager.frontier", "revisits.sql")

FIRST_KEY = b""
"""Before every page's key."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What visits taught of some pages of a domain: of each how often it was compared, had changed, over how long."""

    domain_id: int
    looked_at: int
    """Also pages nothing is learned of."""
    watches: Sequence[tuple[int, int, float]]


async def reopen_homes(conn: Any, domain_ids: Sequence[int], *, by: str, most_seeds: int) -> dict[int, int]:
    """Domain → how many of its pages are in the frontier again."""
    rows = await conn.fetch(SQL["reopen_homes"], domain_ids, by, most_seeds)
    return {row["domain_id"]: row["pages"] for row in rows}


async def refresh_pages(conn: Any, domain_ids: Sequence[int], *, after: bytes, limit: int) -> tuple[int, bytes | None]:
    """How many pages got a task, and the last key that was looked at, if any."""
    row = await conn.fetchrow(SQL["refresh_pages"], domain_ids, after, limit)
    return row["pages"], row["last_key"]


async def sample_watches(conn: Any, domain_ids: Sequence[int], *, limit: int) -> list[Sample]:
    rows = await conn.fetch(SQL["sample_watches"], domain_ids, limit)
    return [
        Sample(
            row["domain_id"],
            row["looked_at"],
            list(zip(row["comparisons"], row["changes"], row["watched_s"], strict=True)),
        )
        for row in rows
    ]
