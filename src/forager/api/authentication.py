"""The authentication backend of one API process: verifies sessions and tokens, counts requests, hashes passwords.

An identity is cached for a second, so that a thousand reads cost one database query; where processes share a cache, one
of them queries for all. A change is never authorized from the cache, and a request that ends a session responds only
when no process has it cached any more.
"""

import contextlib
import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Request

from forager import clock
from forager.accounts import session_cache, store
from forager.accounts.credentials import LONGEST, TOKEN_PREFIX, hash_of
from forager.accounts.errors import MustWaitError
from forager.accounts.identity import Identity, Role, Scope, anon_identity
from forager.accounts.passwords import Hasher
from forager.accounts.rate_limit import Limiter, SharedCounter
from forager.accounts.session_cache import NullCache, SessionCache
from forager.accounts.sessions import Visitor
from forager.api.caller import Caller, read_caller, read_networks
from forager.api.forbidden_log import ForbiddenLog
from forager.config.settings import Settings
from forager.db.types import Pool

MOST_REMEMBERED = 10_000
ACQUIRE_S = 2.0
PROBED = "/health"
"""Load balancers request it every few seconds, which exceeds the limit for anonymous callers."""
SCRAPED = "/metrics"
PICTURE = "/thumbnail"
PICTURES = 20
"""A dashboard page shows dozens of thumbnails: they are counted separately, with a limit higher by this factor."""


QUOTAS = "forager.quotas"
"""The scope key for the quotas that a request was counted against, for its response headers."""


@dataclass(frozen=True, slots=True)
class Quota:
    """The state of one rate limit after a request."""

    policy: str
    limit: int
    left: int
    more_in_s: int


@dataclass(slots=True)
class Seen:
    who: Identity
    told: bytes
    """A digest of the row from the database."""
    asked_at: float
    until: float
    """When the cached identity expires."""


class AuthBackend:
    def __init__(
        self, pool: Pool, settings: Settings, ledgers: Sequence[SharedCounter] = (), others: SessionCache | None = None
    ) -> None:
        self._pool = pool
        self._others = others or NullCache()
        self._trusted = read_networks(settings.api.trusted_proxies)
        self._limits = {
            Role.ANONYMOUS: settings.api.rate_limit_anonymous,
            Role.USER: settings.api.rate_limit_user,
            Role.ADMIN: settings.api.rate_limit_admin,
        }
        self._seeds = settings.api.rate_limit_seeds
        self._idle_s = settings.api.session_idle_timeout
        self._seen: dict[str, Seen] = {}
        self.public_url = settings.api.public_url
        self.base_url = settings.api_url
        self.limiter = Limiter(pool, *ledgers)
        self.hasher = Hasher()
        self.denials = ForbiddenLog(pool)

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        try:
            async with self.limiter.keep_synced():
                yield
        finally:
            self.hasher.close()
            await self.denials.close()

    def caller(self, request: Request) -> Caller:
        peer = request.client.host if request.client else None
        return read_caller(peer, request.scope["scheme"], request.headers, self._trusted)

    def visitor(self, request: Request) -> Visitor:
        """Returns the client that is about to sign in."""
        caller = self.caller(request)
        agent = request.headers.get("user-agent")
        clean = "".join(each for each in agent if each.isprintable()) if agent else None
        return Visitor(caller.ip, clean, request.cookies.get(caller.cookie_name))

    async def authenticate(self, request: Request, *, is_fresh: bool) -> tuple[Identity, str | None]:
        """Returns the caller's identity, and the secret of the session if there is one. With a token, the cookie is
        ignored."""
        caller = self.caller(request)
        header = request.headers.get("authorization")
        if header is not None:
            scheme, _, token = header.partition(" ")
            is_token = scheme.lower() == "bearer" and token.startswith(TOKEN_PREFIX)
            who = await self._look_up("token", token.strip(), caller, is_fresh) if is_token else None
            return who or anon_identity(caller.ip), None
        secret = request.cookies.get(caller.cookie_name)
        who = await self._look_up("session", secret, caller, is_fresh) if secret else None
        return (who, secret) if who else (anon_identity(caller.ip), None)

    async def count(self, who: Identity, request: Request) -> int:
        return await self._take(request, *self._quota(who, request))

    async def count_seeds(self, who: Identity, request: Request) -> int:
        return await self._take(request, "seeds", f"seeds:{who.user_id}", self._seeds)

    def _quota(self, who: Identity, request: Request) -> tuple[str, str, int]:
        """Returns the name of the policy, the subject that the request counts against, and the limit per minute."""
        path, limit = request.scope["path"], self._limits[who.role]
        if who.user_id is not None and path.endswith(PICTURE):
            return "pictures", f"pictures {who.role}:{who.user_id}", limit * PICTURES
        if who.user_id is not None:
            return str(who.role), f"{who.role}:{who.user_id}", limit
        subject = self.caller(request).subject
        if path == PROBED:
            return "health", f"health {subject}", self._limits[Role.USER]
        return "anonymous", subject, limit

    async def _take(self, request: Request, policy: str, subject: str, limit: int) -> int:
        wait_s = await self.limiter.take(subject, limit)
        told: list[Quota] | None = request.scope.get(QUOTAS)
        if told is not None:
            left, more_in_s = self.limiter.standing(subject, limit)
            told.append(Quota(policy, limit, 0 if wait_s else left, wait_s or more_in_s))
        return wait_s

    def forget(self) -> None:
        """Clears the cache of this process, after a change of accounts."""
        self._seen.clear()

    async def clear_shared_cache(self) -> None:
        """Clears the cache, and waits until the entries of all other processes have expired."""
        self.forget()
        await session_cache.wait_for_expiry()

    async def _look_up(self, via: str, secret: str, caller: Caller, is_fresh: bool) -> Identity | None:
        """Looks up a session or token. An address with too many invalid ones causes no further queries, but credentials
        that are cached here still pass: invalid ones are counted separately, so that an attacker at the same address
        blocks no user."""
        key = f"{via} {caller.ip} {secret}"
        now = clock.monotonic()
        seen = None if is_fresh else self._seen.get(key)
        if seen is not None and seen.until > now:
            return seen.who
        if len(secret) > LONGEST:
            return None
        name = via.encode() + hash_of(secret)
        left_s, moment = (0.0, None) if is_fresh else await self._others.hear(name, seen.told if seen else b"")
        if seen is not None and left_s and now < seen.asked_at + session_cache.ALONE_S:
            seen.until = now + left_s
            return seen.who
        now = clock.monotonic()
        guesses = f"guesses {caller.subject}"
        if key not in self._seen and (wait_s := self.limiter.wait_s(guesses, self._limits[Role.ANONYMOUS])):
            raise MustWaitError(wait_s, "credentials")
        async with self._pool.acquire(timeout=ACQUIRE_S) as conn:
            if via == "token":
                row = await store.find_token(conn, secret)
            else:
                row = await store.find_session(conn, secret, self._idle_s)
        if row is None:
            self._seen.pop(key, None)
            await self.limiter.take(guesses, self._limits[Role.ANONYMOUS])
            return None
        who, told = _build_identity(row, via, caller.ip), hashlib.sha256(repr(tuple(row)).encode()).digest()
        if len(self._seen) >= MOST_REMEMBERED:
            self._seen.clear()
        self._seen[key] = Seen(who, told, now, now + session_cache.REMEMBERED_S)
        if moment is not None:
            await self._others.tell(name, told, moment)
        return who


def _build_identity(row: Any, via: str, ip: str) -> Identity:
    """Builds the identity. With a token of scope read even an admin has the role user."""
    scope, role = Scope(row["scope"]), Role(row["role"])
    role = Role.USER if scope is Scope.READ else role
    return Identity(row["name"], role, via, row["user_id"], scope, ip, row["id"])
