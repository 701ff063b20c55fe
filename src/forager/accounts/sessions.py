"""Signs users in and out, and sets passwords. Takes the pool: a password is hashed between two transactions, and no
connection is held meanwhile.

    count the attempt  →  verify the password  →  open a session, reset the attempt

An attempt is counted as failed before the password is verified: a thousand concurrent attempts do not bypass the limit.
"""

from dataclasses import dataclass
from datetime import datetime

from forager.accounts import audit, store, throttle
from forager.accounts.credentials import csrf_token, new_secret
from forager.accounts.errors import MustWaitError, WrongPasswordError
from forager.accounts.identity import Identity, Role, Scope, anon_identity
from forager.accounts.names import validate_name
from forager.accounts.passwords import Hasher
from forager.accounts.store import Login
from forager.db.types import Connection, Pool
from forager.errors import ConflictError, NotFoundError, UsageError

SESSION_S = 86_400.0
"""A day, regardless of activity."""
MOST_SESSIONS = 20
LONGEST_AGENT = 200
ACQUIRE_S = 2.0
USED_UP = "This link was used, or is too old; `forager user invite` makes another."


@dataclass(frozen=True, slots=True)
class Visitor:
    """The client of a login request."""

    ip: str
    user_agent: str | None = None
    session: str | None = None
    """The secret of the session that the browser still has; it ends when a new one begins."""


@dataclass(frozen=True, slots=True)
class SignedIn:
    who: Identity
    secret: str
    csrf_token: str
    expires_at: datetime


async def sign_in(pool: Pool, hasher: Hasher, name: str, password: str, visitor: Visitor) -> SignedIn:
    user, subjects, is_known = await _checked(pool, hasher, name, password, visitor)
    better = await hasher.hash(password) if hasher.needs_rehash(user.password_hash or "") else None
    async with pool.acquire(timeout=ACQUIRE_S) as conn, conn.transaction():
        signed = await _open_session(conn, user, visitor)
        await store.reset_attempts(conn, subjects, is_known=is_known)
        if better is not None:
            await store.rehash_password(conn, user, better)
        await audit.note(conn, signed.who, "session.begin", kind="user", object_id=user.name)
    return signed


async def sign_out(conn: Connection, who: Identity) -> None:
    if who.user_id is None or who.via != "session":
        return
    await store.end_sessions(conn, who.user_id, who.credential_id)
    await audit.note(conn, who, "session.end", kind="user", object_id=who.name)


async def change_password(
    pool: Pool, hasher: Hasher, who: Identity, *, current: str, new: str, visitor: Visitor
) -> SignedIn:
    """Changes the password, ends all sessions and opens a new one for this visitor."""
    await hasher.reject_weak(new, who.name)
    user, subjects, is_known = await _checked(pool, hasher, who.name, current, visitor)
    new_hash = await hasher.hash(new)
    async with pool.acquire(timeout=ACQUIRE_S) as conn, conn.transaction():
        if await store.set_password(conn, user.id, new_hash, old_hash=user.password_hash) is None:
            raise WrongPasswordError  # another request changed it meanwhile
        await _revoke_sessions(conn, user.id)
        signed = await _open_session(conn, user._replace(password_hash=new_hash), visitor)
        await store.reset_attempts(conn, subjects, is_known=is_known)
        await audit.note(conn, signed.who, "user.change_password", kind="user", object_id=user.name)
    return signed


async def accept(
    pool: Pool, hasher: Hasher, secret: str, *, name: str | None, password: str, visitor: Visitor
) -> SignedIn:
    """Sets the password of the user who holds a one-time link, and for the first admin the name too; then signs in."""
    async with pool.acquire(timeout=ACQUIRE_S) as conn:
        invite = await store.find_invite(conn, secret)
    if invite is None:
        raise NotFoundError(USED_UP)
    chosen = _name_for(invite["name"], name)
    await hasher.reject_weak(password, chosen)
    password_hash = await hasher.hash(password)
    async with pool.acquire(timeout=ACQUIRE_S) as conn, conn.transaction():
        if invite["user_id"] is None:
            user = await _create_first_admin(conn, chosen, password_hash)
        else:
            user = Login(invite["user_id"], chosen, invite["role"], True, password_hash)
        if not await store.use_invite(conn, secret):
            raise NotFoundError(USED_UP)
        if invite["user_id"] is None:
            await store.drop_first_invites(conn)
        else:
            await _set_password(conn, user, password_hash)
        signed = await _open_session(conn, user, visitor)
        await audit.note(conn, signed.who, "user.accept", kind="user", object_id=user.name)
    return signed


def _name_for(invited: str | None, given: str | None) -> str:
    if invited is None:
        if not given:
            raise UsageError("Choose a name for the first admin.", field="name")
        validate_name(given)
        return given
    if given and given.casefold() != invited.casefold():
        raise UsageError("This link is for somebody else.", field="name")
    return invited


async def _create_first_admin(conn: Connection, name: str, password_hash: str) -> Login:
    await store.hold_first_admin(conn)
    if await store.has_users(conn):
        raise NotFoundError(USED_UP)
    identity = await store.add_user(conn, name, Role.ADMIN, password_hash, by="first start")
    if identity is None:
        raise ConflictError(
            f"{name} is invited already, with a link of their own; choose another name.", "account_exists"
        )
    return Login(identity, name, Role.ADMIN, True, password_hash)


async def _set_password(conn: Connection, user: Login, password_hash: str) -> None:
    """Sets a password by link. Revokes the tokens too, since the account may have been compromised; a user who changes
    the password and knows the old one keeps them."""
    await store.set_password(conn, user.id, password_hash)
    await store.revoke_tokens(conn, user.id)
    await _revoke_sessions(conn, user.id)
    await store.reset_account_attempts(conn, throttle.account_of(user.id))


async def _revoke_sessions(conn: Connection, user_id: int) -> None:
    await store.drop_invites(conn, user_id)
    await store.end_sessions(conn, user_id)


async def _checked(
    pool: Pool, hasher: Hasher, name: str, password: str, visitor: Visitor
) -> tuple[Login, throttle.Subjects, bool]:
    """Returns the account with this password, the subjects that the attempt counts against, and whether the account has
    signed in from this address before. The database normalizes the name, so that every spelling counts against the same
    account."""
    async with pool.acquire(timeout=ACQUIRE_S) as conn:
        normal_name, user = await store.find_login(conn, name)
        subjects = throttle.subjects_of(user.id if user else normal_name, visitor.ip)
        async with conn.transaction():
            is_known = await _count_try(conn, subjects)
    can_sign_in = user is not None and user.is_active
    is_right = await hasher.verify(password, user.password_hash if user and can_sign_in else None)
    if user is None or not is_right:
        await _note_wrong(pool, user, visitor)
        raise WrongPasswordError
    return user, subjects, is_known


async def _count_try(conn: Connection, subjects: throttle.Subjects) -> bool:
    records, now = await store.hold_attempts(conn, subjects.all)
    if now is None:
        return False
    verdict = throttle.check_attempt(subjects, records, now)
    if verdict.wait_s > 0:
        raise MustWaitError(verdict.wait_s)
    await store.count_attempts(conn, verdict.counts)
    return subjects.pair in verdict.counts


async def _note_wrong(pool: Pool, user: Login | None, visitor: Visitor) -> None:
    """Records a failed login. Stores the name only if the account exists: otherwise it may be a mistyped password."""
    async with pool.acquire(timeout=ACQUIRE_S) as conn:
        await audit.note(
            conn,
            anon_identity(visitor.ip),
            "session.begin",
            kind="user",
            object_id=user.name if user else None,
            outcome=audit.DENIED,
        )


async def _open_session(conn: Connection, user: Login, visitor: Visitor) -> SignedIn:
    secret = new_secret()
    agent = visitor.user_agent[:LONGEST_AGENT] if visitor.user_agent else None
    opened = await store.open_session(
        conn, user, secret, ip=visitor.ip, user_agent=agent, lasts_s=SESSION_S, left_behind=visitor.session
    )
    if opened is None:
        raise WrongPasswordError
    await store.end_oldest_sessions(conn, user.id, MOST_SESSIONS)
    who = Identity(user.name, Role(user.role), "session", user.id, Scope.ADMIN, visitor.ip, opened.id)
    return SignedIn(who, secret, csrf_token(secret), opened.expires_at)
