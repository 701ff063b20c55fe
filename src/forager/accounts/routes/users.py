"""Accounts of others, for admins: invite, look, change, remove; everybody's tokens."""

from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import Field

from forager.accounts import names as account_names
from forager.accounts import schemas as models
from forager.accounts import service as accounts
from forager.accounts.identity import Role
from forager.accounts.service import NewInvite
from forager.api import paging
from forager.api.access import Admin, Keeper, gate_of
from forager.api.database import look
from forager.api.errors import responses
from forager.api.paging import Paged
from forager.api.reply import reply
from forager.api.types import After, Body, Flag, Limit, PathId

router = APIRouter(tags=["accounts"])
BY_NAME = paging.Order(("name",), ("text",))


class Invite(Body):
    name: Annotated[str, Field(pattern=account_names.PATTERN, max_length=64, examples=["alice"])]
    role: models.RoleName = "user"


class UserChange(Body):
    role: models.RoleName | None = None
    is_active: Flag | None = None


@router.get("/api/admin/users", response_model=Paged[models.UserRow], responses=responses())
async def list_users(request: Request, _who: Admin, limit: Limit = 100, after: After = None) -> Response:
    """Everybody who has an account, or is invited, by name."""
    (behind,) = paging.read(request, after, BY_NAME)
    async with look(request) as conn:
        rows = await accounts.list_users(conn, after=behind, limit=limit + 1)
    return paging.page(request, rows, limit, BY_NAME)


@router.post("/api/admin/users", response_model=models.Invitation, status_code=201, responses=responses(409))
async def invite(request: Request, who: Keeper, body: Invite) -> Response:
    """A new account, and the link with which its owner chooses a password."""
    async with look(request) as conn, conn.transaction():
        invited = await accounts.invite(conn, who, body.name, Role(body.role))
    return reply(_invite_response(request, invited), 201)


@router.get("/api/admin/users/{user}", response_model=models.UserRow, responses=responses(404))
async def read_user(request: Request, _who: Admin, user: PathId) -> Response:
    async with look(request) as conn:
        return reply(await accounts.read_user(conn, user))


@router.patch("/api/admin/users/{user}", response_model=models.UserRow, responses=responses(404, 409))
async def change_user(request: Request, who: Keeper, user: PathId, body: UserChange) -> Response:
    """Another role, or switched off or on. Whoever is changed signs in anew."""
    role = Role(body.role) if body.role else None
    async with look(request) as conn, conn.transaction():
        row = await accounts.change_user(conn, who, user, role=role, is_active=body.is_active)
    await gate_of(request).clear_shared_cache()
    return reply(row)


@router.delete("/api/admin/users/{user}", status_code=204, responses=responses(404, 409))
async def remove_user(request: Request, who: Keeper, user: PathId) -> Response:
    """An account goes, with its sessions and tokens; the audit log keeps its name."""
    async with look(request) as conn, conn.transaction():
        await accounts.remove_user(conn, who, user)
    await gate_of(request).clear_shared_cache()
    return Response(status_code=204)


@router.post(
    "/api/admin/users/{user}/reset-password",
    response_model=models.Invitation,
    status_code=201,
    responses=responses(404, 409),
)
async def reset_password(request: Request, who: Keeper, user: PathId) -> Response:
    """A link with which somebody chooses a new password."""
    async with look(request) as conn, conn.transaction():
        invited = await accounts.reset_password(conn, who, user)
    return reply(_invite_response(request, invited), 201)


@router.get("/api/admin/tokens", response_model=Paged[models.TokenRow], responses=responses())
async def list_all_tokens(request: Request, _who: Admin, limit: Limit = 100, after: After = None) -> Response:
    """Everybody's tokens, newest first."""
    (before,) = paging.read(request, after, paging.BY_ID)
    async with look(request) as conn:
        rows = await accounts.list_tokens(conn, None, before=before, limit=limit + 1)
    return paging.page(request, rows, limit)


def _invite_response(request: Request, invited: NewInvite) -> dict[str, object]:
    link = accounts.link(gate_of(request).base_url, invited.secret)
    told = {"id": invited.id, "name": invited.name, "role": invited.role}
    return told | {"link": link, "expires_at": invited.expires_at}
