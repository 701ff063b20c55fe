"""One short function per statement of `images.sql`. Opens no transactions: the floor above does."""

from collections.abc import Sequence

from forager.db import statements
from forager.db.types import Connection
from forager.frontier.models import Outcome
from forager.frontier.page_priority import MEDIUM

SQL = statements.load("forager.frontier", "images.sql")


async def record_images(conn: Connection, states: Sequence[tuple[Outcome, str]]) -> None:
    """Where images stand after a visit."""
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
    """Given by host and key; answers by host how many are visited again."""
    hosts, keys = [host for host, _ in images], [key for _, key in images]
    return {row["domain_id"]: row["images"] for row in await conn.fetch(SQL["revisit_images"], hosts, keys, by)}


async def make_pages(conn: Connection, page_ids: Sequence[int]) -> list[tuple[int, int, int, int, int]]:
    """Domain, how many became pages, how many of them wait again, their good and their bad visits."""
    return [tuple(row) for row in await conn.fetch(SQL["make_pages"], page_ids, MEDIUM)]
