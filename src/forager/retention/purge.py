"""Deletes data for good at an operator's request: a domain, pages, history, archive files. `purge_record.py` records
it.

Pages are deleted in batches, each in its own transaction that deletes all that belongs to them and reduces the
counters, so that the invariants hold whenever it is stopped; the same request resumes it. Workers may run: claims of
the domain are blocked (`claim_block.py`), and their cached pages are invalidated with the cache namespace
(`frontier/cache_namespace.py`).
"""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

from forager.accounts import audit
from forager.db.query import fetch_one
from forager.db.types import Connection
from forager.domains import admin, denied, repair
from forager.domains.admin import LockedDomain
from forager.domains.cooldown import sign_moves
from forager.domains.lookup import SQL as LOOK
from forager.domains.lookup import known_name
from forager.domains.repair import Less
from forager.errors import NotFoundError, UsageError
from forager.frontier import cache_namespace, history
from forager.frontier import purge as frontier
from forager.images import purge as images
from forager.images.purge import Dropped
from forager.retention import archive as cold
from forager.retention import archive_file as cold_file
from forager.retention import archive_upload as cold_copies
from forager.retention import minute_archive as cold_stats
from forager.retention.claim_block import fenced, purge_transaction
from forager.retention.purge_record import SQL, PurgeOrder, Record, on_record
from forager.storage import store as bodies
from forager.storage.bucket_folder import BucketFolder

PAGES_AT_ONCE = 500
TASKS_AT_ONCE = 1000
REASON_CODE = "purge"


@dataclass(slots=True)
class PurgeResult:
    what: str
    subject: str
    counts: Counter[str] = field(default_factory=Counter)
    keys: list[str] = field(default_factory=list)
    """Image files that no image refers to any more."""

    def with_counts(self, record: Record) -> "PurgeResult":
        """Returns the result with the actual counts."""
        self.counts = record.counts
        return self


async def has_history(conn: Connection, domain: str) -> bool:
    """Returns whether a page of this domain was ever visited: the newest visit of each stays in the database."""
    return await frontier.has_history(conn, await _known(conn, domain))


async def purge_domain(conn: Connection, name: str, order: PurgeOrder, *, is_forever: bool = False) -> PurgeResult:
    """Deletes a domain with all its data. If a link leads to it again, it is new, unless the purge is forever: then its
    name is on the deny list before the first row is deleted, so that no link can add it meanwhile."""
    known = await _known(conn, name)
    purged = PurgeResult("domain", known)
    if order.is_trial:
        return await _try_pages(conn, known, None, purged)
    async with cold.lock_archive(conn):
        domain_id = (await _hold(conn, known)).id
        if is_forever:
            await _deny(conn, known, order)
        async with (
            on_record(conn, order, "domain.purge", what=purged.what, subject=known) as record,
            fenced(conn, [domain_id]),
        ):
            await _take_pages(conn, domain_id, purged, record, name=known)
            async with purge_transaction(conn, known):
                # Links may have added pages since their last batch; while the domain is locked they cannot.
                while late := await frontier.find_pages(conn, domain_id, None, after=0, limit=PAGES_AT_ONCE):
                    await _take(conn, domain_id, late, purged, record)
                await _leave(conn, domain_id, purged)
    return purged.with_counts(record)


async def purge_pages(conn: Connection, name: str, text: str, order: PurgeOrder) -> PurgeResult:
    """Deletes pages of a domain whose URL contains a text. If a link leads to them again, they are new."""
    if not text:
        raise UsageError("Say which pages: a part of their URLs. `forager purge domain` takes all of them.")
    known = await _known(conn, name)
    purged = PurgeResult("pages", f"{known} {text}")
    if order.is_trial:
        return await _try_pages(conn, known, text, purged)
    async with cold.lock_archive(conn):
        domain_id = (await _hold(conn, known)).id
        async with (
            on_record(conn, order, "page.purge", what=purged.what, subject=purged.subject) as record,
            fenced(conn, [domain_id]),
        ):
            await _take_pages(conn, domain_id, purged, record, name=known, text=text)
            await _repair(conn, domain_id, order)
    return purged.with_counts(record)


async def purge_tasks(conn: Connection, before: datetime, name: str | None, order: PurgeOrder) -> PurgeResult:
    """Deletes history that ended before a moment; the latest visit of each page stays. A crawl may continue
    meanwhile."""
    known = await known_name(conn, name)
    if before > await conn.fetchval(SQL["yesterday"]):
        raise UsageError(
            "History of today and yesterday stays: it is still added up. Choose an earlier day.", field="before"
        )
    domain_id = (await fetch_one(conn, LOOK["find_domain"], known))["id"] if known else None
    purged = PurgeResult("tasks", f"before {before:%Y-%m-%d %H:%M} UTC" + (f" of {known}" if known else ""))
    if order.is_trial:
        purged.counts["tasks"] = await frontier.count_history(conn, before, domain_id)
        return purged
    async with (
        cold.lock_archive(conn),
        on_record(conn, order, "task.purge", what=purged.what, subject=purged.subject) as record,
    ):
        gone, last = 1, 0
        while gone:
            async with conn.transaction():
                gone, last = await frontier.delete_history(conn, before, domain_id, after=last, limit=TASKS_AT_ONCE)
                await record.count(conn, Counter(tasks=gone), closed=gone)
    return purged.with_counts(record)


async def purge_cold(
    conn: Connection, folder: Path, month: date, order: PurgeOrder, *, copies: BucketFolder | None = None
) -> PurgeResult:
    """Deletes the archive files of a month, with their copies. What counters need of their visits stays."""
    purged = PurgeResult("cold", f"{month:%Y-%m}")
    async with cold.lock_archive(conn):
        slices = [each for each in await history.list_parts(conn, month) if each.status == "moved"]
        stats = cold_stats.find(folder, month)
        if not slices and not stats:
            raise NotFoundError(f"Nothing of {month:%Y-%m} is in archive files; `forager archive list` lists them.")
        counts = Counter(files=len(slices) + len(stats), visits=sum(each.row_count for each in slices))
        if order.is_trial:
            purged.counts = counts
            return purged
        if copies is not None:  # an unreachable bucket cannot delete: then the purge does not start
            await asyncio.to_thread(copies.files, cold_stats.KIND)
        async with on_record(conn, order, "cold.purge", what=purged.what, subject=purged.subject) as record:
            async with conn.transaction():
                await history.drop_restored(conn, month)
                await history.purge_parts(conn, [each.id for each in slices])
                await record.count(conn, counts)
            names = [*(each.file for each in slices), *(each.file for each in stats)]
            for name in names:
                cold_file.discard(folder / name)
            if copies is not None:
                await asyncio.to_thread(cold_copies.discard, copies, names)
    return purged.with_counts(record)


async def list_purges(conn: Connection, *, limit: int, before: int | None = None) -> list[dict[str, Any]]:
    """Returns purges, newest first; `before` is the id of the last one on the previous page."""
    rows = await conn.fetch(SQL["read_purges"], before, limit)
    return [dict(row) | {"counts": json.loads(row["counts"])} for row in rows]


# Pages --------------------------------------------------------------------------------------------------------------


async def _try_pages(conn: Connection, name: str, text: str | None, purged: PurgeResult) -> PurgeResult:
    domain_id: int = (await fetch_one(conn, LOOK["find_domain"], name))["id"]
    purged.counts.update(await frontier.count_pages(conn, domain_id, text))
    return purged


async def _take_pages(
    conn: Connection, domain_id: int, purged: PurgeResult, record: Record, *, name: str, text: str | None = None
) -> None:
    last = 0
    while page_ids := await frontier.find_pages(conn, domain_id, text, after=last, limit=PAGES_AT_ONCE):
        async with purge_transaction(conn, name):
            await _take(conn, domain_id, page_ids, purged, record)
        last = page_ids[-1]


async def _take(conn: Connection, domain_id: int, page_ids: list[int], purged: PurgeResult, record: Record) -> None:
    dropped = await images.drop_images(conn, domain_id, page_ids)
    taken = await frontier.delete_pages(conn, page_ids)
    await repair.reduce_counters(conn, _less(domain_id, dropped, known=taken.known, waiting=taken.waiting))
    unused = await bodies.drop_unused(conn, taken.bodies) if taken.bodies else []
    purged.keys += dropped.keys
    counts = Counter(
        pages=len(page_ids),
        tasks=taken.closed + taken.open,
        linking_pages=taken.linking,
        dependent_tasks=taken.dependents,
        images=dropped.images,
        bodies=len(unused),
    )
    await record.count(conn, counts, closed=taken.closed)


def _less(domain_id: int, dropped: Dropped, *, known: int = 0, waiting: int = 0) -> list[Less]:
    here = Less(domain_id, known, waiting, dropped.shown, dropped.stored[domain_id])
    return [here, *(Less(other, stored=stored) for other, stored in dropped.stored.items() if other != domain_id)]


async def _leave(conn: Connection, domain_id: int, purged: PurgeResult) -> None:
    dropped = await images.leave_domain(conn, domain_id)
    await repair.reduce_counters(conn, _less(domain_id, dropped))
    await repair.remove(conn, domain_id)
    await cache_namespace.end(conn)
    purged.keys += dropped.keys


async def _repair(conn: Connection, domain_id: int, order: PurgeOrder) -> None:
    """Marks a domain without waiting pages as exhausted."""
    async with conn.transaction():
        held = await repair.lock_free_domains(conn, [domain_id])
        await sign_moves(conn, by=order.by, reason_code=REASON_CODE, reason=order.reason)
        await repair.repair_states(
            conn, held, refresh_every_s=order.refresh_every_s, refused_rest_s=order.refused_rest_s
        )


async def _known(conn: Connection, name: str) -> str:
    known = await known_name(conn, name)
    assert known is not None
    return known


async def _deny(conn: Connection, name: str, order: PurgeOrder) -> None:
    async with conn.transaction():
        await denied.add_denial(conn, name, by=order.by, reason=order.reason)
        await audit.note(
            conn, order.who, "domain.deny", kind="domain", object_id=name, details={"reason": order.reason}
        )


async def _hold(conn: Connection, name: str) -> LockedDomain:
    held = await admin.hold(conn, name)
    if held is None:
        raise NotFoundError(f"{name} is gone: somebody else purged it.")
    return held
