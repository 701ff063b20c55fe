"""Digests ("seals") of rows that never change: closed tasks, prices, moves of domains, requests for robots.txt, the
audit log.

They cost a crawl nothing: a job reads what was written since the last time and writes one row per table. A trigger
subtracts rows that are deleted in an audited way from their seals; any other change or deletion is found by `forager
check --deep`, which computes the digests again.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forager import clock
from forager.db import statements
from forager.db.types import Connection, Row

SQL = statements.load("forager.stats", "seals.sql")
TABLES = ("crawl_tasks", "product_prices", "domain_history", "robots_requests", "audit_log")
POLL_S = 0.05
MOST_AT_ONCE = 50_000
"""Maximum number of rows of a table sealed in one transaction: an audited deletion waits for it."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A range of a table whose rows differ from what was sealed."""

    seal_id: int
    after: int
    until: int
    expected: int
    found: int


async def write_digests(conn: Connection, *, most: int = MOST_AT_ONCE) -> int:
    """Seals what was marked the last time and is settled, at most `most` rows of each table, then marks the current
    end of the tables. Returns the number of rows that were sealed."""
    async with conn.transaction():
        if not await conn.fetchval(SQL["lock_seals"]):
            return 0
        total = 0
        done = []
        for row in await conn.fetch(SQL["read_marks"]):
            end = None
            if row["is_settled"] and row["position"] > row["sealed_until"]:
                stretch = row["what"], row["sealed_until"], row["position"]
                end = await conn.fetchval(SQL["end_of_stretch"], *stretch, most)
                total += (
                    await conn.fetchval(SQL["write_digests"], *stretch[:2], row["position"] if end is None else end)
                    or 0
                )
            if end is None and _is_done(row):
                done.append(row["what"])
        await conn.execute(SQL["write_marks"], done)
        return total


async def write_digests_within(conn: Connection, *, within_s: float, most: int = MOST_AT_ONCE) -> int:
    """Seals range by range, each in its own transaction, as long as the last one was full and there is time."""
    give_up_at = clock.monotonic() + within_s
    total = portion = await write_digests(conn, most=most)
    while portion >= most and clock.monotonic() < give_up_at:
        portion = await write_digests(conn, most=most)
        total += portion
    return total


async def write_all_digests(conn: Connection, *, patience_s: float) -> int:
    """Seals all existing rows, as soon as the transactions that run now have ended; gives up after `patience_s`."""
    give_up_at = clock.monotonic() + patience_s
    total = await write_digests(conn)
    while True:
        await asyncio.sleep(POLL_S)
        total += await write_digests(conn)
        if await _is_complete(conn) or clock.monotonic() > give_up_at:
            return total + await write_digests(conn)


async def find_broken(conn: Connection, what: str) -> list[Broken]:
    """Returns ranges of a table that differ from what was sealed."""
    return [Broken(*row) for row in await conn.fetch(SQL["broken_seals"], what)]


async def find_broken_chain(conn: Connection) -> Sequence[Any]:
    found: Sequence[Any] = await conn.fetch(SQL["broken_chain"])
    return found


async def count(conn: Connection) -> dict[str, tuple[int, int]]:
    """Returns the number of seals and of sealed rows by table."""
    return {row["what"]: (row["seals"], row["row_count"]) for row in await conn.fetch(SQL["count_seals"])}


def _is_done(row: Row) -> bool:
    """Returns whether the mark of a table may be replaced: an unsettled mark would never settle if it moved each
    time."""
    return row["position"] is None or bool(row["is_settled"])


async def _is_complete(conn: Connection) -> bool:
    return all(row["is_settled"] or row["position"] is None for row in await conn.fetch(SQL["read_marks"]))
