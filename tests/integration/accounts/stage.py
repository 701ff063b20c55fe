"""A small app with the routes of accounts and one probe for each kind of access, asked over HTTP; and its database."""

import contextlib
import functools
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

import httpx
import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI
from starlette.routing import BaseRoute

from forager.accounts import service as accounts
from forager.accounts.identity import Role, Scope, operator
from forager.accounts.passwords import LANES, MEMORY_KIB, PASSES
from forager.accounts.routes import auth, users
from forager.api import access
from forager.api import errors as problems
from forager.api.access import Admin, Anyone, Keeper, Seeding, User
from forager.api.body_limit import BodyLimit
from forager.api.read_pool import ReadPool as Connections
from forager.config.settings import Settings
from forager.db.database import Database
from forager.instance import Forager

PASSWORD = "seven quiet otters"
HOST = "http://127.0.0.1:8600"
ROOT = operator("cli:root")
ROOMY = {
    "api_rate_limit_anonymous": 1000,
    "api_rate_limit_user": 1000,
    "api_rate_limit_admin": 1000,
    "api_rate_limit_seeds": 1000,
}
"""Limits no test meets by accident."""


@functools.cache
def hash_once(password: str) -> str:
    """As a person's is kept; computed once for all who have the same."""
    return PasswordHasher(PASSES, MEMORY_KIB, LANES).hash(password)


async def anyone(who: Anyone) -> str:
    return who.signature


async def user(who: User) -> str:
    return who.signature


async def admin(who: Admin) -> str:
    return who.signature


async def keeper(who: Keeper) -> str:
    return who.signature


async def seeding(who: Seeding) -> str:
    return who.signature


PROBES = {"/anyone": anyone, "/user": user, "/admin": admin, "/keeper": keeper, "/seeding": seeding}


def build(database: Database, **settings: Any) -> FastAPI:
    app = FastAPI()
    app.state.settings = Settings.of(**(ROOMY | settings))
    app.state.forager = Forager(app.state.settings, database)
    app.state.call_back = lambda: None
    app.add_middleware(BodyLimit)
    access.install_errors(app)
    problems.install(app)
    app.router.routes.extend(_build_routes())
    return app


@functools.cache
def _build_routes() -> Sequence[BaseRoute]:
    """Taken apart once for all apps, as `forager.api.app` does it."""
    plain = FastAPI(openapi_url=None)
    plain.include_router(auth.router)
    plain.include_router(users.router)
    for path, probe in PROBES.items():
        plain.add_api_route(path, probe, methods=["GET", "POST"])
    return tuple(plain.router.routes)


class Desk:
    """Asks one app; a browser of its own for each person."""

    def __init__(self, app: FastAPI, conn: Any) -> None:
        self.app = app
        self.conn = conn

    def browser(self, ip: str = "127.0.0.1", base: str = HOST, **headers: str) -> "Browser":
        transport = httpx.ASGITransport(self.app, client=(ip, 4711))
        return Browser(transport=transport, base_url=base, headers=headers)

    async def a_user(self, name: str = "alice", role: Role = Role.ADMIN, password: str = PASSWORD) -> int:
        return await accounts.add_user(self.conn, ROOT, name, role, hash_once(password))

    async def signed_in(self, name: str = "alice", role: Role = Role.ADMIN, ip: str = "127.0.0.1") -> "Browser":
        await self.a_user(name, role)
        browser = self.browser(ip, base=HOST if ip == "127.0.0.1" else "https://forager.example")
        answer = await browser.log_in(name)
        assert answer.status_code == 200, answer.text
        return browser

    async def with_token(self, owner: str, scope: Scope, lasts_s: float | None = None) -> "Browser":
        made = await accounts.create_token(self.conn, ROOT, owner, name="a test", scope=scope, lasts_s=lasts_s)
        return self.browser(Authorization=f"Bearer {made.token}")

    async def audit(self, action: str) -> list[dict[str, Any]]:
        rows = await self.conn.fetch("SELECT * FROM audit_log WHERE action = $1 ORDER BY id", action)
        return [dict(row) for row in rows]


class Browser(httpx.AsyncClient):
    """Keeps cookies, and sends with a change what a page of ours would."""

    csrf = ""

    async def log_in(self, name: str = "alice", password: str = PASSWORD) -> httpx.Response:
        answer = await self.post("/api/auth/login", json={"name": name, "password": password})
        self.csrf = answer.json().get("csrf_token", self.csrf)
        return answer

    async def change(self, method: str, path: str, json: Any = None, **headers: str) -> httpx.Response:
        ours = {"Origin": str(self.base_url), "X-CSRF-Token": self.csrf}
        return await self.request(method, path, json=json, headers=ours | headers)


OpenApp = Callable[..., AbstractAsyncContextManager[FastAPI]]


@pytest.fixture
def open_app(database: Database) -> OpenApp:
    @contextlib.asynccontextmanager
    async def opened(**settings: Any) -> AsyncIterator[FastAPI]:
        app = build(database, **settings)
        app.state.desk = Connections(database.pool, most=4)
        async with access.open_gate(app, app.state.forager):
            yield app

    return opened


@pytest.fixture
async def desk(open_app: OpenApp, conn: Any) -> AsyncIterator[Desk]:
    async with AsyncExitStack() as stack:
        yield Desk(await stack.enter_async_context(open_app()), conn)
