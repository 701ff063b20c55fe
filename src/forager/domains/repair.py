"""Recomputes counters, repairs impossible states, and merges duplicate domains.

One short function per statement of `repair.sql`. Opens no transactions: the caller does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from forager.db import statements
from forager.db.types import Connection
from forager.urls.domain import registrable

SQL = statements.load("forager.domains", "repair.sql")

COUNTERS = {
    "pages_discovered": "was_discovered",
    "frontier_size": "was_waiting",
    "pages_crawled": "was_crawled",
    "total_error_count": "was_errors",
    "depth_reached": "was_deep",
    "images_found": "was_shown",
    "images_stored": "was_stored",
}


@dataclass(frozen=True, slots=True)
class CorrectedValue:
    """One value of one domain that was wrong."""

    domain: str
    what: str
    was: Any
    now: Any


@dataclass(frozen=True, slots=True)
class Named:
    """A domain and its name as stored."""

    id: int
    name: str
    base_url: str
    first_seen_at: datetime


async def next_domains(conn: Connection, after_id: int, limit: int) -> list[int]:
    return [row["id"] for row in await conn.fetch(SQL["next_domains"], after_id, limit)]


async def lock_free_domains(conn: Connection, domain_ids: Sequence[int]) -> list[int]:
    """Locks and returns those without a lease. A worker that discovers a page of them waits for the lock, then adds
    to our count."""
    return [row["id"] for row in await conn.fetch(SQL["lock_free_domains"], domain_ids)]


async def repair_counters(conn: Connection, domain_ids: Sequence[int]) -> list[CorrectedValue]:
    return [
        CorrectedValue(row["name"], counter, row[before], row[counter])
        for row in await conn.fetch(SQL["recount_domains"], domain_ids)
        for counter, before in COUNTERS.items()
        if row[before] != row[counter]
    ]


async def repair_urgency(conn: Connection, domain_ids: Sequence[int]) -> list[CorrectedValue]:
    """A domain whose urgent task became due since its row was written is marked now, and was not wrong."""
    return [
        CorrectedValue(row["name"], "urgent_at", row["was"], row["urgent_at"])
        if row["was"] != row["urgent_at"]
        else CorrectedValue(row["name"], "urgency", row["was_urgency"], row["urgency"])
        for row in await conn.fetch(SQL["recount_urgency"], domain_ids)
        if row["was"] != row["urgent_at"] or row["urgency"] < 2
    ]


async def repair_states(
    conn: Connection, domain_ids: Sequence[int], *, refresh_every_s: float | None, refused_rest_s: float
) -> list[CorrectedValue]:
    rows = await conn.fetch(SQL["repair_states"], domain_ids, refresh_every_s, refused_rest_s)
    return [
        CorrectedValue(row["name"], "status", row["was"], row["status"])
        if row["was"] != row["status"]
        else CorrectedValue(row["name"], "ready_at", None, "when its first visit is due")
        for row in rows
    ]


async def name_domains(conn: Connection, after_id: int, limit: int) -> list[Named]:
    return [Named(*row) for row in await conn.fetch(SQL["name_domains"], after_id, limit)]


async def hold_for_merge(conn: Connection, names: Sequence[str]) -> list[Named]:
    return [Named(*row) for row in await conn.fetch(SQL["hold_for_merge"], names)]


async def merge(conn: Connection, elder: int, others: Sequence[int]) -> None:
    """Merges all but pages, tasks and links, which must be moved before. History is not merged: it is one chain per
    domain."""
    for statement in ("merge_domains", "merge_settings", "move_origins", "move_robots_requests", "move_traps"):
        await conn.execute(SQL[statement], elder, others)
    await _remove(conn, others)


class Less(NamedTuple):
    """By how much the counters of a domain decrease."""

    domain_id: int
    known: int = 0
    waiting: int = 0
    shown: int = 0
    stored: int = 0


async def reduce_counters(conn: Connection, less: Sequence[Less]) -> None:
    await conn.execute(SQL["lessen_domains"], *map(list, zip(*sorted(less), strict=True)))


async def remove(conn: Connection, domain_id: int) -> None:
    """Deletes the domain with everything that belongs only to it; its pages must be deleted before."""
    await _remove(conn, [domain_id])


async def _remove(conn: Connection, domain_ids: Sequence[int]) -> None:
    """Deletes domains. Sealed rows leave their seals, because this deletion is audited."""
    await conn.execute(SQL["allow_removal"])
    await conn.execute(SQL["remove_domains"], domain_ids)


async def rename(conn: Connection, domain_id: int, name: str, base_url: str) -> None:
    await conn.execute(SQL["rename_domain"], domain_id, name, registrable(name), base_url)
