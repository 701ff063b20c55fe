"""Operator actions on accounts: users, their sessions, tokens and one-time links. CLI and API call these.

Each function runs in the caller's transaction, and writes its audit log entry there. Signing in is in `sessions.py`.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from forager.accounts import audit, store
from forager.accounts.credentials import new_secret, new_token
from forager.accounts.identity import Identity, Role, Scope
from forager.accounts.names import validate_name
from forager.accounts.throttle import account_of
from forager.db.types import Connection
from forager.errors import ConflictError, NotFoundError, UsageError

Row = dict[str, Any]
INVITE_S = 86_400.0
TOKEN_S = 90 * 86_400.0
LINK_PATH = "/accept"
CAPTION = r"^[^\x00-\x1f\x7f]{1,100}$"
"""Pattern for the name of a token."""


@dataclass(frozen=True, slots=True)
class NewInvite:
    id: int
    name: str
    role: Role
    secret: str = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class NewToken:
    id: int
    token: str = field(repr=False)
    """Shown only once: the database stores only its hash."""
    owner: str
    name: str
    scope: Scope
    created_at: datetime
    expires_at: datetime | None


def link(address: str, secret: str) -> str:
    """Builds a one-time link. The secret is in the fragment: browsers send that to no server, so no log contains it."""
    return f"{address.rstrip('/')}{LINK_PATH}#{secret}"


async def first_admin_link(conn: Connection, address: str) -> str | None:
    """Returns a link that creates the first admin, valid for a day, or None once a user has a password. Runs in the
    caller's transaction. Several links may be valid; the first one used invalidates them all."""
    if await store.has_users(conn):
        return None
    secret = new_secret()
    await store.add_invite(conn, secret, None, by="first start", lasts_s=INVITE_S)
    return link(address, secret)


# Users ---------------------------------------------------------------------------------------------------------------


async def list_users(conn: Connection, *, after: str | None = None, limit: int = 1000) -> list[Row]:
    """Returns users by name; for the next page pass the last name as `after`."""
    return await store.list_users(conn, after=after, user_id=None, limit=limit)


async def read_user(conn: Connection, user_id: int) -> Row:
    found = await store.list_users(conn, after=None, user_id=user_id, limit=1)
    if not found:
        raise NotFoundError(f"There is no user {user_id}; `forager user list` shows them.")
    return found[0]


async def add_user(conn: Connection, who: Identity, name: str, role: Role, password_hash: str) -> int:
    """Adds a user with a password that has been validated and hashed."""
    identity = await _add(conn, who, name, role, password_hash)
    await audit.note(conn, who, "user.add", kind="user", object_id=name, details={"role": role})
    return identity


async def invite(conn: Connection, who: Identity, name: str, role: Role) -> NewInvite:
    """Invites a new user, or one who has not accepted an invitation yet: the earlier link becomes invalid."""
    validate_name(name)
    held = await store.hold_user(conn, name)
    if held is not None and (held["has_password"] or not held["is_active"]):
        raise ConflictError(
            f"There is a {held['name']} already; `forager user reset-password` makes a new link.", "account_exists"
        )
    identity = held["id"] if held else await _add(conn, who, name, role, None)
    if held is not None and held["role"] != role:
        await store.set_user(conn, identity, role=role, is_active=True)
    invited = await _make_link(conn, who, identity, held["name"] if held else name, role)
    await audit.note(conn, who, "user.invite", kind="user", object_id=invited.name, details={"role": role})
    return invited


async def reset_password(conn: Connection, who: Identity, user: str | int) -> NewInvite:
    """Returns a link to set a new password. The old one works until the link is used; then all sessions end."""
    held = await _hold(conn, user)
    if not held["is_active"]:
        raise ConflictError(
            f"{held['name']} is switched off; `forager user enable {held['name']}` comes first.", "account_disabled"
        )
    await store.reset_account_attempts(conn, account_of(held["id"]))
    invited = await _make_link(conn, who, held["id"], held["name"], Role(held["role"]))
    await audit.note(conn, who, "user.reset_password", kind="user", object_id=held["name"])
    return invited


async def change_user(
    conn: Connection, who: Identity, user: str | int, *, role: Role | None = None, is_active: bool | None = None
) -> Row:
    """Changes the role of a user, or disables or enables the account. The user has to sign in again. Disabling revokes
    the tokens for good: they may be compromised, and enabling the account does not restore them."""
    admins = await store.hold_admins(conn)
    held = await _hold(conn, user)
    after_role, after_active = role or Role(held["role"]), held["is_active"] if is_active is None else is_active
    if after_role != Role.ADMIN or not after_active:
        _reject_last_admin(admins, held)
    if (after_role, after_active) != (held["role"], held["is_active"]):
        await store.set_user(conn, held["id"], role=after_role, is_active=after_active)
        await store.end_sessions(conn, held["id"])
        revoked = 0 if after_active else await store.revoke_tokens(conn, held["id"])
        changes = {"role": after_role, "is_active": after_active, "revoked_tokens": revoked}
        await audit.note(conn, who, "user.change", kind="user", object_id=held["name"], details=changes)
    return await read_user(conn, held["id"])


async def remove_user(conn: Connection, who: Identity, user: str | int) -> str:
    """Deletes a user with their sessions, tokens and links. The audit log keeps the name."""
    admins = await store.hold_admins(conn)
    held = await _hold(conn, user)
    _reject_last_admin(admins, held)
    await store.remove_user(conn, held["id"])
    await audit.note(conn, who, "user.remove", kind="user", object_id=held["name"])
    return str(held["name"])


# Sessions ------------------------------------------------------------------------------------------------------------


async def list_sessions(conn: Connection, who: Identity, idle_s: float) -> list[Row]:
    """Returns the user's own sessions; `is_this` marks the one of the request."""
    rows = await store.list_sessions(conn, who.user_id or 0, idle_s)
    return [row | {"is_this": who.via == "session" and row["id"] == who.credential_id} for row in rows]


async def end_session(conn: Connection, who: Identity, session: int) -> None:
    """Ends one of the user's own sessions."""
    if not await store.end_sessions(conn, who.user_id or 0, session):
        raise NotFoundError(f"You have no session {session}.")
    await audit.note(conn, who, "session.end", kind="session", object_id=session)


async def end_other_sessions(conn: Connection, who: Identity) -> int:
    keep = who.credential_id if who.via == "session" else None
    ended = await store.end_sessions(conn, who.user_id or 0, keep=keep)
    await audit.note(conn, who, "session.end_others", kind="user", object_id=who.name, details={"ended": len(ended)})
    return len(ended)


# Tokens --------------------------------------------------------------------------------------------------------------


async def create_token(
    conn: Connection, who: Identity, owner: str | int, *, name: str, scope: Scope, lasts_s: float | None = TOKEN_S
) -> NewToken:
    """Creates a token. The secret is only in the return value. A token can do at most what its owner's role allows."""
    if not re.fullmatch(CAPTION, name):
        raise UsageError("The name of a token has 1 to 100 characters, none of them a control character.", field="name")
    held = await _hold(conn, owner)
    if not held["is_active"]:
        raise ConflictError(f"{held['name']} is switched off and cannot have a token.", "account_disabled")
    if scope is not Scope.READ and held["role"] != Role.ADMIN:
        raise ConflictError(f"{held['name']} is no admin, so the scope can only be read.", "scope_needs_admin")
    token = new_token()
    row = await store.add_token(conn, token, held["id"], name, scope, by=who.signature, lasts_s=lasts_s)
    told = {"name": name, "scope": scope, "owner": held["name"], "expires_at": row["expires_at"]}
    await audit.note(conn, who, "token.create", kind="token", object_id=row["id"], details=told)
    return NewToken(row["id"], token, held["name"], name, scope, row["created_at"], row["expires_at"])


async def list_tokens(
    conn: Connection, user_id: int | None, *, before: int | None = None, limit: int = 1000
) -> list[Row]:
    """Returns the tokens of one user, or of all users (None), newest first."""
    return await store.list_tokens(conn, user_id, before=before, limit=limit)


async def revoke_token(conn: Connection, who: Identity, token: int, *, of: int | None = None) -> Row:
    """Revokes a token immediately and permanently; revoking it again changes nothing. `of` restricts it to this user's
    tokens."""
    ended = await store.revoke_token(conn, token, of=of)
    if ended is None:
        raise NotFoundError(f"There is no token {token}; `forager token list` shows them.")
    if not ended["was_revoked"]:
        await audit.note(conn, who, "token.revoke", kind="token", object_id=token, details={"owner": ended["owner"]})
    return ended


async def _add(conn: Connection, who: Identity, name: str, role: Role, password_hash: str | None) -> int:
    validate_name(name)
    identity = await store.add_user(conn, name, role, password_hash, by=who.signature)
    if identity is None:
        raise ConflictError(f"There is a {name} already.", "account_exists")
    return identity


async def _make_link(conn: Connection, who: Identity, user_id: int, name: str, role: Role) -> NewInvite:
    secret = new_secret()
    await store.drop_invites(conn, user_id)
    made = await store.add_invite(conn, secret, user_id, by=who.signature, lasts_s=INVITE_S)
    return NewInvite(user_id, name, role, secret, made.expires_at)


async def _hold(conn: Connection, user: str | int) -> Row:
    held = await store.hold_user(conn, user)
    if held is None:
        raise NotFoundError(f"There is no user {user}; `forager user list` shows them.")
    return held


def _reject_last_admin(admins: list[int], held: Row) -> None:
    if admins == [held["id"]]:
        raise ConflictError(f"{held['name']} is the last admin who can sign in; make another one first.", "last_admin")
