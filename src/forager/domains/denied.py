"""The deny list: domains that are never crawled, although links lead to them. An entry outlives a purge of the domain.

Statements that add domains leave out denied names, so that no caller can forget it; callers that were given names by a
person call `require_allowed` first and say so. Opens no transactions: the caller does.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import NamedTuple

from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection
from forager.domains.lookup import SQL as LOOK
from forager.domains.lookup import canonical_name
from forager.errors import ConflictError, NotFoundError, UsageError

SQL = statements.load("forager.domains", "denied.sql")
DENIED = "denied"
"""The reason under which links to denied domains are counted as dropped."""


class DeniedDomain(NamedTuple):
    """One entry of the deny list."""

    name: str
    reason: str
    denied_by: str
    denied_at: datetime


FIND_DENIED = Query(SQL["find_denied"], str)
LIST_DENIED = Query(SQL["list_denied"], DeniedDomain)
READ_DENIED = Query(SQL["read_denied"], DeniedDomain)


async def find_denied(conn: Connection, names: Collection[str]) -> set[str]:
    """Returns those of these names that are on the deny list."""
    return set(await FIND_DENIED.fetch(conn, sorted(names))) if names else set()


async def list_denied(conn: Connection, *, after: str | None = None, limit: int) -> list[DeniedDomain]:
    return await LIST_DENIED.fetch(conn, after, limit)


async def require_allowed(conn: Connection, names: Iterable[str]) -> None:
    """Raises ConflictError if a person names a domain that is on the deny list."""
    denied = sorted(await find_denied(conn, set(names)))
    if not denied:
        return
    (entry,) = await READ_DENIED.fetch(conn, denied[0])
    others = f" and {len(denied) - 1:,} more" if len(denied) > 1 else ""
    raise ConflictError(
        f"{entry.name}{others} is on the deny list since {entry.denied_at:%Y-%m-%d} ({entry.reason}). "
        f"`forager domains allow {entry.name}` removes it from the list.",
        "domain_denied",
    )


async def find_denial(conn: Connection, name: str) -> DeniedDomain | None:
    """Returns the entry of a domain on the deny list."""
    return await READ_DENIED.first(conn, name)


async def add_denial(conn: Connection, name: str, *, by: str, reason: str) -> bool:
    """Puts a canonical name on the list; returns whether it is new there."""
    return await conn.fetchval(SQL["deny"], name, _checked(reason), by) is not None


async def deny(conn: Connection, name: str, *, by: str, reason: str) -> DeniedDomain:
    """Keeps a domain out that is not known. A known one has to be purged: its pages would be visited all the same."""
    new = canonical_name(name)
    if not set(".:") & set(new):
        raise UsageError(f"{name!r} is no name of a domain; write it like example.com.", field="name")
    if await conn.fetchrow(LOOK["find_domain"], new):
        raise ConflictError(
            f"{new} is known. `forager purge domain {new} --forever --reason TEXT` deletes it and keeps it out; "
            f"`forager domain {new} block --reason TEXT` leaves it alone and keeps what is known of it.",
            "domain_known",
        )
    await add_denial(conn, new, by=by, reason=reason)
    (entry,) = await READ_DENIED.fetch(conn, new)
    return entry


async def allow(conn: Connection, name: str) -> str:
    """Removes a domain from the list; returns its canonical name. It is added again when a link leads to it."""
    for spelled in dict.fromkeys((name, canonical_name(name))):
        if await conn.fetchval(SQL["allow"], spelled):
            return spelled
    raise NotFoundError(f"{name} is not on the deny list. `forager domains denied` shows it.")


def _checked(reason: str) -> str:
    if not reason.strip():
        raise UsageError("Say why: the deny list shows the reason to whoever meets it.", field="reason")
    return reason
