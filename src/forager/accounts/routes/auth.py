"""Signing in and out, one's own password, sessions and tokens."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from forager.accounts import names as account_names
from forager.accounts import schemas as models
from forager.accounts import service as accounts
from forager.accounts import sessions as sign_in
from forager.accounts.credentials import csrf_token
from forager.accounts.identity import Identity, Scope
from forager.accounts.sessions import SESSION_S, SignedIn
from forager.api import paging
from forager.api.access import Anyone, User, forbidden, gate_of, user
from forager.api.database import get_forager, look
from forager.api.errors import responses
from forager.api.paging import Listed, Paged
from forager.api.reply import listed, reply
from forager.api.types import After, Body, Limit, Number, PathId

router = APIRouter(tags=["accounts"])
YEAR_S = 366 * 86_400.0
WITHOUT_NUL = r"^[^\x00]+$"
Secret = Annotated[str, Field(pattern="^[A-Za-z0-9_-]+$", max_length=200)]
Password = Annotated[str, Field(pattern=WITHOUT_NUL, max_length=1024, examples=["seven quiet otters"])]
UserName = Annotated[str, Field(pattern=WITHOUT_NUL, max_length=64, examples=["alice"])]
NewName = Annotated[str, Field(pattern=account_names.PATTERN, max_length=64, examples=["alice"])]


async def require_session(who: Annotated[Identity, Depends(user)]) -> Identity:
    """Credentials are changed by whoever signed in, or with a token of scope admin: no token makes a better one."""
    if who.via != "session" and not who.can_manage:
        raise forbidden()
    return who


Person = Annotated[Identity, Depends(require_session)]


# Signing in and out --------------------------------------------------------------------------------------------------


class Login(Body):
    name: UserName
    password: Password


class Acceptance(Body):
    secret: Secret = Field(description="What stands behind the # of the link.")
    name: NewName | None = Field(None, description="Of the first admin: what they want to be called.")
    password: Password


class NewPassword(Body):
    current: Password
    new: Password


@router.post("/api/auth/login", response_model=models.SessionBegun, responses=responses())
async def log_in(request: Request, _who: Anyone, body: Login) -> Response:
    """Sign in. The answer sets the session's cookie; a session the browser had before ends."""
    gate, pool = gate_of(request), get_forager(request).pool
    signed = await sign_in.sign_in(pool, gate.hasher, body.name, body.password, gate.visitor(request))
    return _session_response(request, signed)


@router.post("/api/auth/accept", response_model=models.SessionBegun, responses=responses(404, 409))
async def accept(request: Request, _who: Anyone, body: Acceptance) -> Response:
    """Choose a password with a one-time link, and be signed in. With the link of the first start: become the admin."""
    gate, pool = gate_of(request), get_forager(request).pool
    signed = await sign_in.accept(
        pool, gate.hasher, body.secret, name=body.name, password=body.password, visitor=gate.visitor(request)
    )
    await gate.clear_shared_cache()
    return _session_response(request, signed)


@router.post("/api/auth/logout", status_code=204, responses=responses())
async def log_out(request: Request, who: User) -> Response:
    """End this session."""
    gate = gate_of(request)
    async with look(request) as conn, conn.transaction():
        await sign_in.sign_out(conn, who)
    await gate.clear_shared_cache()
    answer = Response(status_code=204)
    caller = gate.caller(request)
    answer.delete_cookie(caller.cookie_name, path="/", secure=caller.is_secure, httponly=True, samesite="strict")
    return answer


@router.get("/api/auth/me", response_model=models.Me, responses=responses())
async def who_am_i(request: Request, who: User) -> Response:
    """Who asks, and the token a page sends with every change."""
    secret = request.state.session_secret
    told = {"name": who.name, "role": who.role, "via": who.via, "scope": who.scope}
    return reply(told | {"csrf_token": csrf_token(secret) if secret else None})


@router.post("/api/auth/password", response_model=models.SessionBegun, responses=responses())
async def change_password(request: Request, who: User, body: NewPassword) -> Response:
    """Choose another password. All sessions end, and a new one begins here."""
    if who.via != "session":
        raise forbidden()
    gate = gate_of(request)
    signed = await sign_in.change_password(
        get_forager(request).pool,
        gate.hasher,
        who,
        current=body.current,
        new=body.new,
        visitor=gate.visitor(request),
    )
    await gate.clear_shared_cache()
    return _session_response(request, signed)


def _session_response(request: Request, signed: SignedIn) -> Response:
    gate = gate_of(request)
    gate.forget()
    caller = gate.caller(request)
    told = {"name": signed.who.name, "role": signed.who.role}
    answer = reply(told | {"csrf_token": signed.csrf_token, "expires_at": signed.expires_at})
    answer.set_cookie(
        caller.cookie_name,
        signed.secret,
        max_age=int(SESSION_S),
        path="/",
        secure=caller.is_secure,
        httponly=True,
        samesite="strict",
    )
    return answer


# Own sessions --------------------------------------------------------------------------------------------------------


@router.get("/api/auth/sessions", response_model=Listed[models.SessionRow], responses=responses())
async def list_sessions(request: Request, who: User) -> Response:
    """Where one is signed in."""
    async with look(request) as conn:
        return listed(await accounts.list_sessions(conn, who, get_forager(request).settings.api.session_idle_timeout))


@router.delete("/api/auth/sessions", response_model=models.SessionsEnded, responses=responses())
async def end_other_sessions(request: Request, who: Person) -> Response:
    """Sign out everywhere else."""
    async with look(request) as conn, conn.transaction():
        ended = await accounts.end_other_sessions(conn, who)
    await gate_of(request).clear_shared_cache()
    return reply({"ended": ended})


@router.delete("/api/auth/sessions/{session}", status_code=204, responses=responses(404))
async def end_session(request: Request, who: Person, session: PathId) -> Response:
    """End one of one's own sessions."""
    async with look(request) as conn, conn.transaction():
        await accounts.end_session(conn, who, session)
    await gate_of(request).clear_shared_cache()
    return Response(status_code=204)


# Own tokens ----------------------------------------------------------------------------------------------------------


class TokenCreate(Body):
    name: Annotated[str, Field(pattern=accounts.CAPTION, max_length=100, examples=["nightly export"])]
    scope: models.ScopeName = Field("read", description="read: look; write: change; admin: accounts too.")
    expires_in_s: Annotated[Number, Field(ge=60, le=10 * YEAR_S)] | None = Field(
        accounts.TOKEN_S, description="How long it works; null: until it is revoked."
    )


@router.get("/api/tokens", response_model=Paged[models.TokenRow], responses=responses())
async def list_tokens(request: Request, who: User, limit: Limit = 100, after: After = None) -> Response:
    """One's own tokens, newest first; without their secrets, which nobody has."""
    (before,) = paging.read(request, after, paging.BY_ID)
    async with look(request) as conn:
        rows = await accounts.list_tokens(conn, who.user_id, before=before, limit=limit + 1)
    return paging.page(request, rows, limit)


@router.post("/api/tokens", response_model=models.TokenMade, status_code=201, responses=responses(409))
async def create_token(request: Request, who: Person, body: TokenCreate) -> Response:
    """A token for a program. It is shown this once."""
    assert who.user_id is not None
    async with look(request) as conn, conn.transaction():
        made = await accounts.create_token(
            conn, who, who.user_id, name=body.name, scope=Scope(body.scope), lasts_s=body.expires_in_s
        )
    return reply(made, 201)


@router.delete("/api/tokens/{token}", status_code=204, responses=responses(404))
async def revoke_token(request: Request, who: Person, token: PathId) -> Response:
    """A token ends, at once and for ever: one's own, or as an admin anybody's."""
    async with look(request) as conn, conn.transaction():
        await accounts.revoke_token(conn, who, token, of=None if who.can_manage else who.user_id)
    await gate_of(request).clear_shared_cache()
    return Response(status_code=204)
