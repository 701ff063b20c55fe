"""What strangers send is not read when it is large or does not tell its length, by the whole application."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import httpx
import pytest
from fastapi import FastAPI
from starlette.types import Message
from tests.integration.api.conftest import PLENTY, admin, anybody, app, client_for, running, settings, token_of

from forager.accounts import store
from forager.accounts.identity import Role, Scope
from forager.api import middleware
from forager.api.body_limit import LARGE_BYTES
from forager.config.settings import Settings

__all__ = ["admin", "anybody", "app", "settings"]
LARGE = b'{"name": "' + b"x" * LARGE_BYTES + b'"}'
JSON = {"Content-Type": "application/json"}


class Heard:
    """A body that notes whether anybody read it."""

    was_read = False

    async def body(self) -> AsyncIterator[bytes]:
        self.was_read = True
        yield LARGE


async def send(client: Any, **headers: str) -> tuple[int, bool]:
    heard = Heard()
    answer = await client.post("/api/tokens", content=heard.body(), headers=JSON | headers)
    return answer.status_code, heard.was_read


async def test_what_is_soon_over_is_thrown_away(app: FastAPI, anybody: httpx.AsyncClient) -> None:
    """Else its sender is cut off while it still sends, and does not hear why."""
    assert await send(anybody, **{"Content-Length": str(len(LARGE))}) == (401, True)


@pytest.mark.parametrize("length", [{}, {"Content-Length": str(2 * 1024 * 1024)}, {"Content-Length": str(10**12)}])
async def test_a_large_body_of_a_stranger_is_refused_unread(
    app: FastAPI, anybody: httpx.AsyncClient, length: dict[str, str]
) -> None:
    assert await send(anybody, **length) == (401, False)
    async with client_for(app, "fgr_wrong") as guesser:
        assert await send(guesser, **length) == (401, False)


async def test_strangers_with_large_bodies_are_counted(settings: Settings, conn: asyncpg.Connection) -> None:
    async with (
        running(settings.replace(api_rate_limit_anonymous=2)) as app,
        client_for(app) as stranger,
    ):
        assert [await send(stranger) for _ in range(3)] == [(401, False), (401, False), (429, False)]


async def test_a_large_body_of_somebody_we_know_is_read_and_judged(admin: httpx.AsyncClient) -> None:
    assert await send(admin) == (422, True)


async def test_a_small_one_gets_to_the_route(anybody: httpx.AsyncClient) -> None:
    assert (await anybody.post("/api/auth/login", json={})).status_code == 422


@pytest.mark.parametrize("told", ["-1", "x", "1e9", "٣"])
async def test_a_length_that_is_none_is_no_way_around(anybody: httpx.AsyncClient, told: str) -> None:
    raw = [(b"content-length", told.encode("utf-8")), (b"content-type", b"application/json")]
    answer = await anybody.post("/api/tokens", content=b"{}", headers=raw)
    assert answer.status_code == 401


async def test_reading_stops_at_the_bound(admin: httpx.AsyncClient, settings: Settings) -> None:
    """And the rest is thrown away, so that the sender hears why."""
    given = 0

    async def without_end() -> AsyncIterator[bytes]:
        nonlocal given
        while True:
            given += 1_000_000
            yield b"x" * 1_000_000

    answer = await admin.post("/api/admin/runs", content=without_end(), headers=JSON)
    assert (answer.status_code, answer.headers["connection"]) == (413, "close")
    assert given <= settings.api.max_body_size + middleware.DRAINED_BYTES + 2_000_000


async def test_a_body_that_trickles_is_given_up(
    app: FastAPI, admin: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(middleware, "BODY_WITHIN_S", 0.2)
    sent: list[Message] = []

    async def trickle() -> Message:
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b" ", "more_body": True}

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"authorization", admin.headers["authorization"].encode()), (b"transfer-encoding", b"chunked")]
    scope = {
        "type": "http",
        "method": "POST",
        "scheme": "http",
        "http_version": "1.1",
        "query_string": b"",
        "path": "/api/admin/runs",
        "raw_path": b"/api/admin/runs",
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 5000),
        "server": ("127.0.0.1", 8600),
        "asgi": {"version": "3.0"},
    }
    async with asyncio.timeout(10):
        await app(scope, trickle, send)
    assert sent[0]["status"] == 408
    assert b"took longer" in sent[1]["body"]


async def test_wrong_tokens_cost_no_look_up_when_there_were_too_many(
    settings: Settings, conn: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is known here passes all the same."""

    token = await token_of(conn, Role.USER, Scope.READ)
    find, asked = store.find_token, 0

    async def counted(*given: Any) -> Any:
        nonlocal asked
        asked += 1
        return await find(*given)

    monkeypatch.setattr(store, "find_token", counted)
    few = settings.replace(api_rate_limit_anonymous=3, api_rate_limit_user=PLENTY)
    async with running(few) as app, client_for(app, token) as user:
        assert (await user.get("/api/domains")).status_code == 200
        codes = []
        for number in range(8):
            async with client_for(app, f"fgr_{number}") as guesser:
                codes.append((await guesser.get("/api/domains")).status_code)
        assert codes == [401] * 3 + [429] * 5
        assert asked == 4
        assert (await user.get("/api/domains")).status_code == 200
