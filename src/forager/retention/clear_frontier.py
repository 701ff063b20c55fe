"""Clears the frontier: deletes pages that wait for their first visit, with their tasks.

A purge like the others: recorded before it begins, in batches of one transaction each, on domains whose claims are
blocked, a few at a time, while others are crawled. Visited pages stay, with their history. A deleted page that is found
again by a link is new.
"""

from collections import Counter
from typing import Any

from forager.db import statements
from forager.db.query import fetch_one
from forager.db.types import Connection
from forager.domains import repair
from forager.domains.cooldown import sign_moves
from forager.domains.lookup import known_name
from forager.domains.repair import Less
from forager.frontier import purge as frontier
from forager.images import purge as images
from forager.retention.archive import lock_archive
from forager.retention.claim_block import fenced, purge_transaction
from forager.retention.purge import REASON_CODE, PurgeResult
from forager.retention.purge_record import PurgeOrder, Record, on_record
from forager.storage import store as bodies

SQL = statements.load("forager.retention", "clear_frontier.sql")
PAGES_AT_ONCE = 500
DOMAINS_AT_ONCE = 100
"""Domains that are blocked together: each wait for workers is one for all of them."""


async def clear_frontier(conn: Connection, order: PurgeOrder, *, domain: str | None = None) -> PurgeResult:
    """Clears one domain, or all. Opens its own transactions; if it is stopped, the same call resumes."""
    name = await known_name(conn, domain)
    cleared = PurgeResult("frontier", f"the frontier of {name or 'all domains'}")
    if order.is_trial:
        cleared.counts.update(dict(await fetch_one(conn, SQL["count_waiting"], name)))
        return cleared
    async with (
        lock_archive(conn),
        on_record(conn, order, "frontier.clear", what="pages", subject=cleared.subject) as record,
    ):
        last = 0
        while rows := await conn.fetch(SQL["next_frontiers"], name, last, DOMAINS_AT_ONCE):
            async with fenced(conn, [row["id"] for row in rows]):
                for row in rows:
                    await _clear(conn, row, record, cleared, order)
            last = rows[-1]["id"]
        record.counts["domains"] = cleared.counts["domains"]
    return cleared


async def _clear(conn: Connection, domain: Any, record: Record, cleared: PurgeResult, order: PurgeOrder) -> None:
    domain_id, name = domain["id"], domain["name"]
    last, taken = 0, 0
    while pages := [row["id"] for row in await conn.fetch(SQL["find_waiting"], domain_id, last, PAGES_AT_ONCE)]:
        async with purge_transaction(conn, name):
            await _take(conn, domain_id, pages, record, cleared)
        last, taken = pages[-1], taken + len(pages)
    if not taken:
        return
    cleared.counts["domains"] += 1
    async with conn.transaction():
        free = await repair.lock_free_domains(conn, [domain_id])
        await sign_moves(conn, by=order.by, reason_code=REASON_CODE, reason=order.reason)
        await repair.repair_states(
            conn, free, refresh_every_s=order.refresh_every_s, refused_rest_s=order.refused_rest_s
        )


async def _take(conn: Connection, domain_id: int, pages: list[int], record: Record, cleared: PurgeResult) -> None:
    dropped = await images.drop_images(conn, domain_id, pages)
    taken = await frontier.delete_pages(conn, pages)
    here = Less(domain_id, taken.known, taken.waiting, dropped.shown, dropped.stored[domain_id])
    others = [Less(other, stored=stored) for other, stored in dropped.stored.items() if other != domain_id]
    await repair.reduce_counters(conn, [here, *others])
    if taken.bodies:
        await bodies.drop_unused(conn, taken.bodies)
    counts = Counter(pages=len(pages), tasks=taken.closed + taken.open)
    await record.count(conn, counts, closed=taken.closed)
    cleared.counts.update(counts)
    cleared.keys += dropped.keys
