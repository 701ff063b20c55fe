"""Operator actions on a page: sets how often it is visited."""

from forager.config.crawl_settings import read_layer
from forager.config.durations import format_duration
from forager.db.types import Connection
from forager.domains.service import hold_domain
from forager.domains.settings import Configured, plan_revisits
from forager.frontier import admin as pages
from forager.pages.queries import find_page


async def set_page_frequency(
    conn: Connection, url: str, every_s: float | None, *, by: str, refresh_every_s: float | None
) -> Configured:
    """Sets how often one page is revisited; None uses its domain's frequency."""
    if every_s is not None:
        read_layer({"revisit_every": every_s})
    page = await find_page(conn, url)
    held = await hold_domain(conn, page["domain"])
    await pages.set_page_frequency(conn, page["id"], every_s)
    planned, dropped = await plan_revisits(conn, held, page_id=page["id"], by=by, refresh_every_s=refresh_every_s)
    return Configured(
        page["url"], {"revisit_every": None if every_s is None else format_duration(every_s)}, planned, dropped
    )
