"""What an operator's orders do to the pages of a domain: tried again, visited again, planned.

Opens no transactions: the floor above does, and holds the domain's row, so that its counters stay right.
"""

from forager.db import statements
from forager.db.types import Connection

SQL = statements.load("forager.frontier", "admin.sql")


async def requeue_domain(conn: Connection, domain_id: int, *, also_gone: bool, by: str) -> int:
    """How many pages wait again that had failed; the domain's counter is the caller's to move."""
    reopened: int = await conn.fetchval(SQL["requeue_domain"], domain_id, also_gone, by)
    return reopened


async def revisit_domain(conn: Connection, domain_id: int, *, by: str) -> int:
    """How many pages that were read are visited again now."""
    revisited: int = await conn.fetchval(SQL["revisit_domain"], domain_id, by)
    return revisited


async def run_retries_now(conn: Connection, domain_id: int) -> None:
    await conn.execute(SQL["run_retries_now"], domain_id)


async def clear_validators(conn: Connection, domain_id: int) -> None:
    """The next visit of each page brings it whole: there is something in it that nobody looked for before."""
    await conn.execute(SQL["clear_validators"], domain_id)


async def set_page_frequency(conn: Connection, page_id: int, every_s: float | None) -> None:
    await conn.execute(SQL["set_page_frequency"], page_id, every_s)


async def plan_revisits(conn: Connection, domain_id: int, *, page_id: int | None = None, by: str) -> int:
    """How many visits were planned or moved, of a whole domain or of one page."""
    planned: int = await conn.fetchval(SQL["plan_revisits"], domain_id, page_id, by)
    return planned


async def drop_revisits(conn: Connection, domain_id: int, *, page_id: int | None = None) -> int:
    """How many planned visits were forgotten, because their page is visited only once now."""
    dropped: int = await conn.fetchval(SQL["drop_revisits"], domain_id, page_id)
    return dropped
