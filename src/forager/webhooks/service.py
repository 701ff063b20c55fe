"""Webhook calls for operators. The CLI and the API call these functions."""

from collections.abc import Sequence

from forager.db.rows import Row
from forager.db.types import Connection
from forager.urls.domain import origin_of
from forager.webhooks import store as outbox


def mask_url(url: str, *, in_full: bool = False) -> str:
    """Returns scheme and host only, unless `in_full`. The full URL of a webhook is enough to call it, so logs and
    read-only users do not get it."""
    if in_full:
        return url
    return origin_of(url) if url.startswith(("http://", "https://")) else url.partition(":")[0] + ":"


async def list_calls(
    conn: Connection, *, state: str | None = None, before: int | None = None, limit: int = 50
) -> list[Row]:
    """Lists calls, newest first: all, or those that are `waiting`, `delivered` or `dead`."""
    return await outbox.list_calls(conn, state=state, before=before, limit=limit)


async def retry_calls(conn: Connection, call_ids: Sequence[int] | None = None) -> int:
    """Retries calls that were given up, the given ones or all. Returns their number."""
    return await outbox.retry_calls(conn, call_ids)
