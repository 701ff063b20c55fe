"""Stored sessions of domains: one short function per statement of `sessions.sql`."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from forager.db import statements
from forager.db.query import BulkCommand, Query
from forager.db.types import Connection

SQL = statements.load("forager.domains", "sessions.sql")


class StoredSession(NamedTuple):
    domain_id: int
    sealed: str | None
    """Cookies and login, encrypted; None: neither was stored."""
    login_failures: int
    serves_https: bool


class SessionColumns(NamedTuple):
    """One element per domain."""

    domain_id: Sequence[int]
    sealed: Sequence[str | None]
    login_failures: Sequence[int]
    logged_in_at: Sequence[datetime | None]


class LoginRequestColumns(NamedTuple):
    """One element per request."""

    domain_id: Sequence[int]
    origin: Sequence[str]
    requested_at: Sequence[datetime]
    pace_ms: Sequence[int]


IS_BLOCKED_BY_LOGIN = Query(SQL["is_blocked_by_login"], bool)
DELETE_OLD_SESSIONS = Query(SQL["delete_old_sessions"], int)
FIND_SESSIONS = Query(SQL["find_sessions"], StoredSession)
SAVE_SESSIONS = BulkCommand(SQL["save_sessions"], SessionColumns)
ADD_LOGIN_REQUESTS = BulkCommand(SQL["add_login_requests"], LoginRequestColumns)


async def find_sessions(conn: Connection, domain_ids: Sequence[int]) -> list[StoredSession]:
    return list(await FIND_SESSIONS.fetch(conn, domain_ids))


async def save_sessions(conn: Connection, rows: SessionColumns) -> None:
    await SAVE_SESSIONS.execute(conn, rows)


async def add_login_requests(conn: Connection, rows: LoginRequestColumns) -> None:
    await ADD_LOGIN_REQUESTS.execute(conn, rows)


async def is_blocked_by_login(conn: Connection, domain_id: int) -> bool:
    return bool(await IS_BLOCKED_BY_LOGIN.first(conn, domain_id))


async def delete_old_sessions(conn: Connection, *, kept_s: float, most: int) -> int:
    """Deletes sessions that did not change for long; returns how many."""
    return await DELETE_OLD_SESSIONS.one(conn, kept_s, most)
