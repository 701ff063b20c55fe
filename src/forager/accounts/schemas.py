"""Accounts, sessions and tokens, as answers show them. Secrets are in the one answer that makes them."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from forager.api.types import Row

RoleName = Literal["user", "admin"]
ScopeName = Literal["read", "write", "admin"]


class Me(Row):
    """Who asks."""

    name: str = Field(examples=["alice"])
    role: RoleName
    via: Literal["session", "token"]
    scope: ScopeName = Field(description="What this session or token may be used for.")
    csrf_token: str | None = Field(description="Of a session: to be sent as `X-CSRF-Token` with every change.")


class SessionBegun(Row):
    """The session itself is in the cookie."""

    name: str = Field(examples=["alice"])
    role: RoleName
    csrf_token: str = Field(description="To be sent as `X-CSRF-Token` with every change.")
    expires_at: datetime


class SessionRow(Row):
    id: int = Field(examples=[12])
    ip: str | None = Field(examples=["192.0.2.7"])
    user_agent: str | None
    created_at: datetime
    last_used_at: datetime = Field(description="Up to a minute late.")
    expires_at: datetime
    is_this: bool = Field(description="The one that asks.")


class SessionsEnded(Row):
    ended: int


class UserRow(Row):
    id: int = Field(examples=[1])
    name: str = Field(examples=["alice"])
    role: RoleName
    is_active: bool
    has_password: bool = Field(description="False: invited, and did not choose one yet.")
    password_changed_at: datetime | None
    last_login_at: datetime | None
    created_by: str = Field(examples=["cli:root"])
    created_at: datetime
    sessions: int
    tokens: int
    invited_until: datetime | None


class Invitation(Row):
    """A link with which somebody chooses a password. It works once."""

    id: int
    name: str
    role: RoleName
    link: str = Field(examples=["https://forager.example/accept#qL0s…"])
    expires_at: datetime


class TokenRow(Row):
    id: int = Field(examples=[3])
    owner: str = Field(examples=["alice"])
    name: str = Field(examples=["nightly export"])
    scope: ScopeName
    created_by: str
    created_at: datetime
    last_used_at: datetime | None = Field(description="Up to a minute late.")
    expires_at: datetime | None
    revoked_at: datetime | None
    is_valid: bool


class TokenMade(Row):
    id: int
    token: str = Field(description="Shown this once.", examples=["fgr_Jx1…"])
    owner: str
    name: str
    scope: ScopeName
    created_at: datetime
    expires_at: datetime | None
