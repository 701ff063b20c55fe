"""Access control as route dependencies: `Anyone`, `User`, `Admin`, `Seeding`, `Keeper` pass an `Identity` to the route.

    authenticate (session or token)  →  count (429)  →  role (401, 403)  →  same site, for changes by cookie (403)

A rejected request gets problem+json with an `error` member. The app calls `install_errors(app)` once, and keeps
`open_gate(app, forager)` open during its lifespan.
"""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any

import orjson
from fastapi import Depends, FastAPI, Request, Security
from fastapi.responses import Response
from fastapi.security import APIKeyCookie, HTTPBearer
from starlette.exceptions import HTTPException

from forager.accounts.credentials import is_csrf_token
from forager.accounts.errors import MustWaitError, TooManyLoginsError, WrongPasswordError
from forager.accounts.identity import Identity, Role, Scope, anon_identity
from forager.accounts.rate_limit import SharedCounter
from forager.accounts.session_cache import SessionCache
from forager.api.authentication import PROBED, SCRAPED, AuthBackend
from forager.api.caller import SECURE_COOKIE, Site, site_of
from forager.api.errors import type_of
from forager.db.pool import CONNECTION_LOST

if TYPE_CHECKING:
    from forager.instance import Forager

__all__ = [
    "DOORS",
    "Admin",
    "Anyone",
    "ApiError",
    "Identity",
    "Keeper",
    "Role",
    "Scope",
    "Seeding",
    "User",
    "gate_of",
    "install_errors",
    "open_gate",
]

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
CSRF_HEADER = "x-csrf-token"
WHO_ARE_YOU, NOT_YOURS, TOO_MANY = "Authentication required", "Insufficient permissions", "Rate limit exceeded"
BUSY_FOR_S = "5"
FOREIGN = "Request from another site"
COOKIE = Security(APIKeyCookie(name=SECURE_COOKIE, scheme_name="session", auto_error=False))
BEARER = Security(HTTPBearer(scheme_name="token", description="A token, `fgr_…`.", auto_error=False))


class ApiError(HTTPException):
    """An error that the handler of `install_errors` renders as problem+json."""

    def __init__(
        self, status: int, error: str, problem: str, headers: dict[str, str] | None = None, **members: Any
    ) -> None:
        super().__init__(status, error, headers)
        title = HTTPStatus(status).phrase
        self.members = {"type": type_of(problem), "title": title, "status": status, "detail": error, "error": error}
        self.members |= members


def unknown() -> ApiError:
    return ApiError(401, WHO_ARE_YOU, "unauthenticated", {"WWW-Authenticate": 'Bearer realm="forager"'})


def forbidden(error: str = NOT_YOURS) -> ApiError:
    return ApiError(403, error, "foreign_request" if error == FOREIGN else "forbidden")


def too_many(wait_s: int, detail: str = TOO_MANY) -> ApiError:
    refusal = ApiError(429, TOO_MANY, "rate_limited", {"Retry-After": str(wait_s)}, retryAfter=wait_s)
    refusal.members["detail"] = detail
    return refusal


def install_errors(app: FastAPI) -> None:
    for kind in (ApiError, WrongPasswordError, MustWaitError, TooManyLoginsError):
        app.add_exception_handler(kind, handle_access_error)


async def handle_access_error(request: Request, error: Exception) -> Response:
    """Renders an access error as problem+json."""
    error = _to_http_error(error)
    if error.status_code == 403 and (who := getattr(request.state, "who", None)) is not None:
        gate_of(request).denials.note(who, request.method, request.scope["path"], str(error.detail))
    document = error.members | {"request_id": request.scope.get("request_id")}
    headers = dict(error.headers or {})
    return Response(orjson.dumps(document), error.status_code, headers, "application/problem+json")


def _to_http_error(error: Exception) -> ApiError:
    match error:
        case WrongPasswordError():
            return ApiError(401, str(error), "wrong_password")
        case MustWaitError():
            return too_many(error.wait_s, str(error))
        case TooManyLoginsError():
            return ApiError(503, str(error), "busy", {"Retry-After": BUSY_FOR_S})
        case _:
            assert isinstance(error, ApiError)
            return error


@contextlib.asynccontextmanager
async def open_gate(
    app: FastAPI, forager: "Forager", ledgers: Sequence[SharedCounter] = (), vouching: SessionCache | None = None
) -> AsyncIterator[None]:
    """Opens the authentication backend and the rate limiter; used in the app's lifespan."""
    gate = AuthBackend(forager.pool, forager.settings, ledgers, vouching)
    app.state.gate = gate
    async with gate.open():
        yield


def gate_of(request: Request) -> AuthBackend:
    found: AuthBackend = request.app.state.gate
    return found


async def enter(request: Request) -> Identity:
    """Returns the caller's identity, authenticated and counted once per request: before a large body is read, else by
    the route."""
    known: Identity | None = getattr(request.state, "who", None)
    if known is not None:
        return known
    gate, is_change = gate_of(request), request.method not in SAFE
    try:
        who, secret = await gate.authenticate(request, is_fresh=is_change)
    except CONNECTION_LOST:
        if request.scope["path"] not in {PROBED, SCRAPED}:
            raise
        who, secret = anon_identity(), None  # these endpoints report themselves what is down
        request.state.is_away = True
    request.state.who, request.state.session_secret = who, secret
    if wait_s := await gate.count(who, request):
        raise too_many(wait_s)
    return who


def is_database_unavailable(request: Request) -> bool:
    """Returns whether the caller could not be authenticated because the database does not respond; only
    endpoints that reveal nothing else are served then."""
    return getattr(request.state, "is_away", False)


async def allow_any(request: Request) -> Identity:
    """Allows anonymous callers too. Rejects changes from other sites: they must not make a browser sign in or out."""
    who = await enter(request)
    if request.method not in SAFE and who.via != "token" and _site(request) is Site.FOREIGN:
        raise forbidden(FOREIGN)
    return who


async def user(request: Request, _cookie: Any = COOKIE, _token: Any = BEARER) -> Identity:
    who = await enter(request)
    if who.role is Role.ANONYMOUS and not is_database_unavailable(request):
        raise unknown()
    if request.method not in SAFE and who.via == "session":
        _reject_foreign(request)
    return who


async def admin(request: Request, _cookie: Any = COOKIE, _token: Any = BEARER) -> Identity:
    who = await user(request)
    if not who.can_change:
        raise forbidden()
    return who


async def keeper(request: Request, _cookie: Any = COOKIE, _token: Any = BEARER) -> Identity:
    who = await user(request)
    if not who.can_manage:
        raise forbidden()
    return who


async def seeding(request: Request, _cookie: Any = COOKIE, _token: Any = BEARER) -> Identity:
    who = await admin(request)
    if wait_s := await gate_of(request).count_seeds(who, request):
        raise too_many(wait_s)
    return who


DOORS: tuple[Callable[[Request], Awaitable[Identity]], ...] = (allow_any, user, admin, keeper, seeding)
"""All access dependencies. Each needs only the request; the other parameters document the authentication in OpenAPI."""


def _reject_foreign(request: Request) -> None:
    """Checks both CSRF defenses: the site that the browser reports, and a token that only our own pages can read."""
    given = request.headers.get(CSRF_HEADER, "")
    if _site(request) is not Site.SAME or not is_csrf_token(given, request.state.session_secret or ""):
        raise forbidden(FOREIGN)


def reject_cross_site(request: Request, who: Identity) -> None:
    """Rejects streams from other sites: a foreign page must not read one with the user's cookie."""
    told = request.headers.get("sec-fetch-site")
    if who.via == "session" and told != "none" and _site(request) is Site.FOREIGN:
        raise forbidden(FOREIGN)


def _site(request: Request) -> Site:
    return site_of(request.headers, gate_of(request).public_url)


Anyone = Annotated[Identity, Depends(allow_any)]
User = Annotated[Identity, Depends(user)]
Admin = Annotated[Identity, Depends(admin)]
Seeding = Annotated[Identity, Depends(seeding)]
"""An admin who injects seeds, at most ten times a minute."""
Keeper = Annotated[Identity, Depends(keeper)]
"""An admin who may change accounts: not with a token of scope write."""
