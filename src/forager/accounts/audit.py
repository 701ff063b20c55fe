"""The audit log: operator changes, written in the transaction that makes them, so that neither exists without the
other. It contains no secrets: values that look like one are redacted before they are written.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from forager.accounts.identity import Identity
from forager.db import statements
from forager.db.types import Connection
from forager.masking import MASK, mask_accounts

SQL = statements.load("forager.accounts", "audit.sql")
BLOT = MASK
SECRET_WORDS = ("password", "secret", "token", "authorization", "cookie", "api_key", "private")
MOST_ITEMS = 100
MOST_ROWS = 1001
"""A page, and one more row that shows that there is a next page."""
LONGEST_TEXT = 2000
DEEPEST = 6

DONE, DENIED, FAILED = "done", "denied", "failed"


async def note(
    conn: Connection,
    who: Identity,
    action: str,
    *,
    kind: str | None = None,
    object_id: str | int | None = None,
    details: Mapping[str, Any] | None = None,
    outcome: str = DONE,
) -> None:
    """Writes an entry. `action` is noun.verb, such as `domain.pause`; `kind` and `object_id` name the object, `details`
    the change. The id of the session or token is stored with them."""
    acting = {} if who.credential_id is None else {"credential_id": who.credential_id}
    told = json.dumps(redact(details or {}) | acting, default=str)
    identity = None if object_id is None else _text(str(object_id))
    await conn.execute(SQL["note"], who.signature, who.via, who.ip, action, kind, identity, outcome, told)


async def has_audit_log(conn: Connection) -> bool:
    """Returns whether the table exists: an older schema has none."""
    found: bool = await conn.fetchval(SQL["has_audit_log"])
    return found


def redact(value: Any, depth: int = 0) -> Any:
    """Returns a copy fit for permanent storage: without secrets, of bounded size, and without values that PostgreSQL
    rejects."""
    match value:
        case Mapping() if depth < DEEPEST:
            pairs = list(value.items())[:MOST_ITEMS]
            return {_text(str(key)): BLOT if _is_secret(str(key)) else redact(each, depth + 1) for key, each in pairs}
        case list() | tuple() | set() | frozenset() if depth < DEEPEST:
            return [redact(each, depth + 1) for each in list(value)[:MOST_ITEMS]]
        case str():
            return _text(value)
        case bool() | int() | None:
            return value
        case float():
            return value if value - value == 0 else str(value)  # JSON cannot represent infinity
        case _:
            return _text(str(value))


def _is_secret(name: str) -> bool:
    name = name.lower().replace("-", "_")
    return any(word in name for word in SECRET_WORDS)


def _text(text: str) -> str:
    """Masks credentials in URLs, and replaces NUL and lone surrogates."""
    return mask_accounts(text[:LONGEST_TEXT].replace("\0", "\ufffd").encode(errors="replace").decode())


async def read(
    conn: Connection,
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
    """Returns entries, newest first; `before` is the id of the last row of the previous page. An action may be a noun,
    such as `user`. CLI and API call this; no interface changes entries."""
    most = max(1, min(limit, MOST_ROWS))
    rows = await conn.fetch(SQL["read"], before, who, action, kind, object_id, since, until, most)
    return [dict(row) | {"details": json.loads(row["details"])} for row in rows]
