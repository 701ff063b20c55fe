"""Which server answers a read: the replica where what it knows is new enough for whoever asks, else the primary.

    asked by                          answered by
    a token of scope read             the replica; it changes nothing, so there is nothing of its own to miss
    a session                         the replica, once that has replayed the session's last change
    a token that may change things    the primary; programs carry no cookies along
    nobody in particular              the primary

The last change of a session travels in a cookie: a position in PostgreSQL's log, set by the answer to the change, so
that whichever process is asked next knows it. What the replica breaks off is asked again, once, of the primary.
"""

import asyncio
import contextlib
import math
from collections.abc import Iterator, Mapping
from typing import Any

import asyncpg
from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from forager import clock
from forager.accounts.identity import Scope as TokenScope
from forager.accounts.identity import Who
from forager.api.access import SAFE
from forager.api.caller import Caller
from forager.db.pool import CONNECTION_LOST, STATEMENT_FAILED
from forager.db.replica import Replica, read_wal_position
from forager.observe import log

PLAIN_COOKIE, SECURE_COOKIE = "forager_position", "__Host-forager_position"
UNKNOWN = 2**63 - 1
"""Behind everything: no replica has come so far."""
LONGEST = 19
KEPT_S = 60.0
"""So long after a replica must have come this far, or is not asked anyway, the cookie goes."""
READ_WITHIN_S = 2.0
BROKEN_OFF = (asyncpg.SerializationError, asyncpg.DeadlockDetectedError, asyncpg.DatabaseDroppedError)
"""What replaying the log does to those who read: it needs their rows, their locks or their database."""
NOT_THERE = (asyncpg.ReadOnlySQLTransactionError, asyncpg.ObjectNotInPrerequisiteStateError)
"""What only a primary can do."""


class RetryOnPrimaryError(Exception):
    """The replica could not say; nothing was answered yet. Nobody above handles it but `Reads`."""


def replica_for(request: Request) -> Replica | None:
    """None: it is the primary's to answer."""
    replica: Replica | None = getattr(request.app.state, "replica", None)
    if replica is None or request.scope["method"] != "GET" or getattr(request.state, "is_second", False):
        return None
    position = _position_for(request)
    return replica if position < UNKNOWN and replica.has(position) else None


def _position_for(request: Request) -> int:
    """What whoever asks must be shown."""
    who: Who | None = getattr(request.state, "who", None)
    if who is None or who.user_id is None:
        return UNKNOWN
    if who.via == "token":
        return 0 if who.scope is TokenScope.READ else UNKNOWN
    caller: Caller = request.app.state.gate.caller(request)
    return read_position(request.cookies, caller)


def read_position(cookies: Mapping[str, str], caller: Caller) -> int:
    """0: nothing was changed lately. What is no position is a change of which nobody knows when it was."""
    told = cookies.get(_cookie_name(caller))
    if told is None:
        return 0
    return int(told) if told.isascii() and told.isdecimal() and len(told) <= LONGEST else UNKNOWN


def _cookie_name(caller: Caller) -> str:
    return SECURE_COOKIE if caller.is_secure else PLAIN_COOKIE


def write_position(position: int, caller: Caller, lasts_s: float) -> str:
    secure = "; Secure" if caller.is_secure else ""
    lasts = math.ceil(lasts_s)
    return f"{_cookie_name(caller)}={position}; Path=/; Max-Age={lasts}; HttpOnly; SameSite=Lax{secure}"


def should_retry_on_primary(replica: Replica, error: BaseException | None, took_s: float, limit_s: float) -> bool:
    """Whether it went wrong because it is a replica. A statement that was cancelled because it took its whole time
    would do so on the primary too."""
    if isinstance(error, CONNECTION_LOST):
        if not isinstance(error, TimeoutError):  # it may be busy; one that is frozen is noticed by who looks
            replica.doubt(error)
        return True
    if not isinstance(error, (*BROKEN_OFF, *NOT_THERE)) and not (
        isinstance(error, asyncpg.QueryCanceledError) and took_s < limit_s
    ):
        return False
    log().info("replica broke off", action="replica.broke_off", error=repr(error))
    return True


@contextlib.contextmanager
def retry_on_primary(replica: Replica | None, limit_s: float) -> Iterator[None]:
    began = clock.monotonic()
    try:
        yield
    except Exception as error:
        if replica is not None and should_retry_on_primary(replica, error, clock.monotonic() - began, limit_s):
            raise RetryOnPrimaryError from error
        raise


class Reads:
    """Plain ASGI, in front of the short cut and FastAPI."""

    def __init__(self, app: ASGIApp, *, max_lag_s: float) -> None:
        self._app = app
        self._lasts_s = max_lag_s + KEPT_S

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["app"].state.replica is None:
            return await self._app(scope, receive, send)
        if scope["method"] not in SAFE:
            return await self._app(scope, receive, self._with_position(scope, send))
        try:
            return await self._app(scope, receive, send)
        except RetryOnPrimaryError:
            scope.setdefault("state", {})["is_second"] = True
            return await self._app(scope, receive, send)

    def _with_position(self, scope: Scope, send: Send) -> Send:
        """The answer to a change says how far the log has come with it. One that was refused changed nothing."""

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start" and not 400 <= message["status"] < 500:
                request = Request(scope)
                if getattr(getattr(request.state, "who", None), "via", None) != "token":
                    caller = scope["app"].state.gate.caller(request)
                    cookie = write_position(await _written(scope["app"].state.forager.pool), caller, self._lasts_s)
                    message["headers"] = [*message.get("headers", ()), (b"set-cookie", cookie.encode())]
            await send(message)

        return tell


async def _written(pool: Any) -> int:
    try:
        async with asyncio.timeout(READ_WITHIN_S), pool.acquire() as conn:
            return await read_wal_position(conn)
    except STATEMENT_FAILED:
        return UNKNOWN
