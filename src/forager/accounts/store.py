"""One short function per statement of `queries.sql`. Opens no transactions: the service layer does."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from forager.accounts.credentials import hash_of
from forager.accounts.throttle import KNOWN_FOR, Record, Subjects
from forager.db import statements
from forager.db.query import Query, fetch_one
from forager.db.types import Connection

SQL = statements.load("forager.accounts")
Row = dict[str, Any]


class Login(NamedTuple):
    id: int
    name: str
    role: str
    is_active: bool
    password_hash: str | None


class Opened(NamedTuple):
    id: int
    expires_at: datetime


ADD_INVITE = Query(SQL["add_invite"], Opened)


async def find_session(conn: Connection, secret: str, idle_s: float) -> Any:
    """Returns the session of this secret, unless it has been idle for `idle_s`."""
    return await conn.fetchrow(SQL["find_session"], hash_of(secret), idle_s)


async def find_token(conn: Connection, token: str) -> Any:
    return await conn.fetchrow(SQL["find_token"], hash_of(token))


async def find_login(conn: Connection, name: str) -> tuple[str, Login | None]:
    """Returns the name as the database compares it, and its account."""
    normal_name, *columns = await fetch_one(conn, SQL["find_login"], name)
    return normal_name, Login(*columns) if columns[0] is not None else None


async def open_session(
    conn: Connection,
    user: Login,
    secret: str,
    *,
    ip: str | None,
    user_agent: str | None,
    lasts_s: float,
    left_behind: str | None,
) -> Opened | None:
    """Returns None if the password was changed, or the account disabled, since the check."""
    old = hash_of(left_behind) if left_behind else None
    row = await conn.fetchrow(
        SQL["open_session"], user.id, user.password_hash, hash_of(secret), ip, user_agent, lasts_s, old
    )
    return Opened(*row) if row else None


async def end_oldest_sessions(conn: Connection, user_id: int, kept: int) -> None:
    await conn.execute(SQL["end_oldest_sessions"], user_id, kept)


async def list_sessions(conn: Connection, user_id: int, idle_s: float) -> list[Row]:
    return [dict(row) for row in await conn.fetch(SQL["list_sessions"], user_id, idle_s)]


async def end_sessions(
    conn: Connection, user_id: int, session: int | None = None, *, keep: int | None = None
) -> list[int]:
    return [row["id"] for row in await conn.fetch(SQL["end_sessions"], user_id, session, keep)]


async def set_password(conn: Connection, user_id: int, new_hash: str, *, old_hash: str | None = None) -> Row | None:
    row = await conn.fetchrow(SQL["set_password"], user_id, new_hash, old_hash)
    return dict(row) if row else None


async def rehash_password(conn: Connection, user: Login, new_hash: str) -> None:
    await conn.execute(SQL["rehash_password"], user.id, new_hash, user.password_hash)


async def add_user(conn: Connection, name: str, role: str, password_hash: str | None, *, by: str) -> int | None:
    """Returns the id, or None if the name is taken."""
    found: int | None = await conn.fetchval(SQL["add_user"], name, role, password_hash, by)
    return found


async def list_users(conn: Connection, *, after: str | None, user_id: int | None, limit: int) -> list[Row]:
    return [dict(row) for row in await conn.fetch(SQL["list_users"], after, user_id, limit)]


async def hold_admins(conn: Connection) -> list[int]:
    return [row["id"] for row in await conn.fetch(SQL["hold_admins"])]


async def hold_user(conn: Connection, user: str | int) -> Row | None:
    statement = "hold_user" if isinstance(user, str) else "hold_user_by_id"
    row = await conn.fetchrow(SQL[statement], user)
    return dict(row) if row else None


async def set_user(conn: Connection, user_id: int, *, role: str, is_active: bool) -> None:
    await conn.execute(SQL["set_user"], user_id, role, is_active)


async def remove_user(conn: Connection, user_id: int) -> None:
    await conn.execute(SQL["remove_user"], user_id)


async def has_users(conn: Connection) -> bool:
    found: bool = await conn.fetchval(SQL["has_users"])
    return found


async def hold_first_admin(conn: Connection) -> None:
    await conn.execute(SQL["hold_first_admin"])


async def add_invite(conn: Connection, secret: str, user_id: int | None, *, by: str, lasts_s: float) -> Opened:
    return await ADD_INVITE.one(conn, hash_of(secret), user_id, by, lasts_s)


async def drop_invites(conn: Connection, user_id: int) -> None:
    await conn.execute(SQL["drop_invites"], user_id)


async def find_invite(conn: Connection, secret: str) -> Row | None:
    row = await conn.fetchrow(SQL["find_invite"], hash_of(secret))
    return dict(row) if row else None


async def use_invite(conn: Connection, secret: str) -> bool:
    return await conn.fetchrow(SQL["use_invite"], hash_of(secret)) is not None


async def drop_first_invites(conn: Connection) -> None:
    await conn.execute(SQL["drop_first_invites"])


async def add_token(
    conn: Connection, token: str, user_id: int, name: str, scope: str, *, by: str, lasts_s: float | None
) -> Row:
    return dict(await fetch_one(conn, SQL["add_token"], hash_of(token), user_id, name, scope, by, lasts_s))


async def list_tokens(conn: Connection, user_id: int | None, *, before: int | None, limit: int) -> list[Row]:
    return [dict(row) for row in await conn.fetch(SQL["list_tokens"], user_id, before, limit)]


async def revoke_token(conn: Connection, token_id: int, *, of: int | None) -> Row | None:
    row = await conn.fetchrow(SQL["revoke_token"], token_id, of)
    return dict(row) if row else None


async def revoke_tokens(conn: Connection, user_id: int) -> int:
    """Revokes all tokens of a user and returns their number."""
    return len(await conn.fetch(SQL["revoke_tokens"], user_id))


async def hold_attempts(conn: Connection, subjects: Sequence[str]) -> tuple[dict[str, Record], datetime | None]:
    """Returns the earlier failures, locked, and the database's time."""
    await conn.execute(SQL["begin_attempts"], subjects)
    rows = await conn.fetch(SQL["hold_attempts"], subjects)
    found = {
        row["subject"]: Record(row["failures"], row["failed_at"], row["wait_until"], row["succeeded_at"])
        for row in rows
    }
    return found, rows[0]["now"] if rows else None


async def count_attempts(conn: Connection, counts: Mapping[str, tuple[int, datetime | None]]) -> None:
    failures, waits = [n for n, _ in counts.values()], [wait for _, wait in counts.values()]
    await conn.execute(SQL["count_attempts"], list(counts), failures, waits)


async def reset_attempts(conn: Connection, subjects: Subjects, *, is_known: bool) -> None:
    await conn.execute(SQL["reset_attempts"], subjects.account, subjects.address, subjects.pair, is_known)


async def reset_account_attempts(conn: Connection, account: str) -> None:
    await conn.execute(SQL["reset_account_attempts"], account)


async def clear_out(conn: Connection) -> Row:
    return dict(await fetch_one(conn, SQL["clear_out"], KNOWN_FOR.total_seconds()))
