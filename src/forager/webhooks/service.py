"""Calls to webhooks, as an operator sees them. Every door (CLI, API) calls these."""

from collections.abc import Sequence

from forager.db.rows import Row
from forager.db.types import Connection
from forager.urls.domain import origin_of
from forager.webhooks import store as outbox


def mask_url(url: str, *, in_full: bool = False) -> str:
    """Whoever knows the whole URL of a webhook can call it: records, and those who may change nothing, get scheme and
    host."""
    return url if in_full else origin_of(url)


async def list_calls(
    conn: Connection, *, state: str | None = None, before: int | None = None, limit: int = 50
) -> list[Row]:
    """Newest first: all, or those that are `waiting`, `delivered` or `dead`."""
    return await outbox.list_calls(conn, state=state, before=before, limit=limit)


async def retry_calls(conn: Connection, call_ids: Sequence[int] | None = None) -> int:
    """How many calls that were given up are tried again: these, or all."""
    return await outbox.retry_calls(conn, call_ids)
