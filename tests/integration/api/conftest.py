"""An API in this process, over a real database, and clients of each role. Limits are out of the way."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
from fastapi import FastAPI
from tests.ground import database_url, ground

from forager.accounts import service as accounts
from forager.accounts.identity import Role, Scope, operator
from forager.api.app import create_app
from forager.config.settings import Settings

BASE = "http://127.0.0.1:8600"
PLENTY = 1_000_000
__all__ = ["database_url", "ground"]
Client = httpx.AsyncClient


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings.of(
        home=tmp_path,
        database_url=database_url,
        fetch_allow_networks=("127.0.0.0/8",),
        contact="test@forager.example",
        secret_key=("8f2c1de07b94a6350d7ecb15f93a42e8",),
        api_database_connections=5,
        api_rate_limit_anonymous=PLENTY,
        api_rate_limit_user=PLENTY,
        api_rate_limit_admin=PLENTY,
        api_rate_limit_seeds=PLENTY,
    )


@contextlib.asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[FastAPI]:
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        yield app


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    async with running(settings) as opened:
        yield opened


async def token_of(conn: Any, role: Role, scope: Scope) -> str:
    """A new account of this role, and a token for it."""
    cli = operator("cli:test")
    async with conn.transaction():
        user = await accounts.add_user(conn, cli, f"{role}-{scope}", role, "no hash")
        made = await accounts.create_token(conn, cli, user, name="test", scope=scope)
    return made.token


def client_for(app: FastAPI, token: str | None = None) -> Client:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    transport = httpx.ASGITransport(app, client=("127.0.0.1", 5000))
    return httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers)


@pytest.fixture
async def anybody(app: FastAPI) -> AsyncIterator[Client]:
    async with client_for(app) as client:
        yield client


@pytest.fixture
async def user(app: FastAPI, conn: asyncpg.Connection) -> AsyncIterator[Client]:
    async with client_for(app, await token_of(conn, Role.USER, Scope.READ)) as client:
        yield client


@pytest.fixture
async def admin(app: FastAPI, conn: asyncpg.Connection) -> AsyncIterator[Client]:
    async with client_for(app, await token_of(conn, Role.ADMIN, Scope.ADMIN)) as client:
        yield client
