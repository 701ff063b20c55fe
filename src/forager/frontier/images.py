"""One short function per statement of `images.sql`. Opens no transactions: the caller does."""

from collections.abc import Sequence

from forager.db import statements
from forager.db.types import Connection
from forager.frontier.models import Outcome
from forager.frontier.page_priority import MEDIUM

SQL = statements.load("forager.frontier", "images.sql")


async def record_images(conn: Connection, states: Sequence[tuple[Outcome, str]]) -> None:
    """Records the status of images after a visit."""
    if not states:
        return
    await conn.execute(
        SQL["record_images"],
        [outcome.target.page_id for outcome, _ in states],
        [status for _, status in states],
        [outcome.content_type for outcome, _ in states],
        [outcome.image.key if outcome.image else None for outcome, _ in states],
        [outcome.etag for outcome, _ in states],
        [outcome.last_modified for outcome, _ in states],
        [outcome.is_changed for outcome, _ in states],
    )


async def revisit_images(conn: Connection, images: Sequence[tuple[int, bytes]], *, by: str) -> dict[int, int]:
    """Schedules images, given by host and key, for another visit. Returns their number by host."""
    hosts, keys = [host for host, _ in images], [key for _, key in images]
    return {row["domain_id"]: row["images"] for row in await conn.fetch(SQL["revisit_images"], hosts, keys, by)}


async def make_pages(conn: Connection, page_ids: Sequence[int]) -> list[tuple[int, int, int, int, int]]:
    """Converts images to pages. Returns rows of domain, number of new pages, number queued again, their successful and
    failed visits."""
    return [tuple(row) for row in await conn.fetch(SQL["make_pages"], page_ids, MEDIUM)]
