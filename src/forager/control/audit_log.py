"""Who changed what: reading the audit log, page by page. Every door calls this; nobody can change what it says."""

from datetime import datetime
from typing import Any

from forager.accounts import audit

MOST_ROWS = 1001
"""A page, and the row that says that there is another."""


async def list_entries(
    conn: Any,
    *,
    before: int | None = None,
    limit: int = 100,
    who: str | None = None,
    action: str | None = None,
    kind: str | None = None,
    object_id: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> list[dict[str, Any]]:
    """Newest first. The next page is what comes `before` the id of this one's last row."""
    limit = max(1, min(limit, MOST_ROWS))
    return await audit.read(
        conn,
        before=before,
        limit=limit,
        who=who,
        action=action,
        kind=kind,
        object_id=object_id,
        since=since,
        until=until,
    )
