"""Operator actions on a page: sets how often it is visited."""

from forager.db.types import Connection
from forager.domains.service import Configured, hold_domain, plan_revisits
from forager.domains.settings import validate_changes
from forager.frontier import admin as pages
from forager.pages.queries import find_page


async def set_page_frequency(
    conn: Connection, url: str, every_s: float | None, *, by: str, refresh_every_s: float | None
) -> Configured:
    """Sets how often one page is revisited; None uses its domain's frequency."""
    validate_changes({"revisit_every_s": every_s})
    page = await find_page(conn, url)
    held = await hold_domain(conn, page["domain"])
    await pages.set_page_frequency(conn, page["id"], every_s)
    planned, dropped = await plan_revisits(conn, held, page_id=page["id"], by=by, refresh_every_s=refresh_every_s)
    return Configured(page["url"], {"revisit_every_s": every_s}, planned, dropped)
