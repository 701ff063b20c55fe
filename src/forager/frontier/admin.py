"""Applies operator commands to the pages of a domain: retry, revisit, reschedule.

Opens no transactions: the caller does, and locks the domain's row, so that its counters stay correct.
"""

from typing import NamedTuple

from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection

SQL = statements.load("forager.frontier", "admin.sql")


class Requeued(NamedTuple):
    pages: int
    """With files."""
    files: int
    """Images, sitemaps and feeds."""


REQUEUE_DOMAIN = Query(SQL["requeue_domain"], Requeued)


async def requeue_domain(conn: Connection, domain_id: int, *, also_gone: bool, by: str) -> Requeued:
    """Queues failed pages again and returns their number; the caller updates the domain's counter."""
    return await REQUEUE_DOMAIN.one(conn, domain_id, also_gone, by)


async def revisit_domain(conn: Connection, domain_id: int, *, by: str) -> int:
    """Schedules pages that were read for a visit now. Returns their number, without files."""
    revisited: int = await conn.fetchval(SQL["revisit_domain"], domain_id, by)
    return revisited


async def run_retries_now(conn: Connection, domain_id: int) -> None:
    await conn.execute(SQL["run_retries_now"], domain_id)


async def clear_validators(conn: Connection, domain_id: int) -> None:
    """Makes the next visit of each page fetch it completely: the page contains something that was not extracted
    before."""
    await conn.execute(SQL["clear_validators"], domain_id)


async def set_page_frequency(conn: Connection, page_id: int, every_s: float | None) -> None:
    await conn.execute(SQL["set_page_frequency"], page_id, every_s)


async def plan_revisits(conn: Connection, domain_id: int, *, page_id: int | None = None, by: str) -> int:
    """Schedules or reschedules revisits of a whole domain or of one page. Returns their number."""
    planned: int = await conn.fetchval(SQL["plan_revisits"], domain_id, page_id, by)
    return planned


async def drop_revisits(conn: Connection, domain_id: int, *, page_id: int | None = None) -> int:
    """Deletes planned visits of pages that are now visited only once. Returns their number."""
    dropped: int = await conn.fetchval(SQL["drop_revisits"], domain_id, page_id)
    return dropped
