"""Requests to a domain that no worker holds, one at a time, under the domain's own pace and on record.

A lease is what makes a crawl polite: only its holder talks to a domain. Whoever fetches a single page without one
reserves the moment of its request in the domain's row; the next holder of the lease continues from there.
"""

from datetime import datetime
from typing import NamedTuple

from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection

SQL = statements.load("forager.domains", "single_requests.sql")


class Reservation(NamedTuple):
    """The moment of a request, or why there is none."""

    id: int
    wait_s: float
    delay_s: float
    is_leased: bool
    is_paused: bool
    blocked_by: str | None
    is_reserved: bool


RESERVE_REQUEST = Query(SQL["reserve_request"], Reservation)


async def reserve_request(
    conn: Connection, domain: str, *, delay_s: float, robots_delay_s: float, within_s: float
) -> Reservation | None:
    """Returns None if the domain is not known."""
    return await RESERVE_REQUEST.first(conn, domain, delay_s, robots_delay_s, within_s)


async def note_request(conn: Connection, domain_id: int, origin: str, sent_at: datetime, delay_s: float) -> None:
    await conn.execute(SQL["note_request"], domain_id, origin, sent_at, delay_s)
