"""Live numbers: one sampler for all, what was missed, an end with the session, and no more listeners than allowed."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest
from fastapi import FastAPI, Request
from tests.integration.api.conftest import client_for, token_of

from forager.accounts.identity import Role, Scope
from forager.stats import overview as numbers
from forager.stats.routes import live
from forager.stats.routes.live import EventStream


def a_request(app: FastAPI, token: str) -> Request:
    headers = [(b"authorization", f"Bearer {token}".encode()), (b"host", b"127.0.0.1:8600")]
    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/api/live", "headers": headers, "app": app}
    return Request({**scope, "query_string": b"", "scheme": "http", "client": ("127.0.0.1", 1), "server": ("x", 1)})


def read(event: bytes) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in event.decode().strip().splitlines() if ": " in line)


async def next_event(stream: AsyncIterator[bytes]) -> dict[str, str]:
    async with asyncio.timeout(10):
        return read(await anext(stream))


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "EVERY_S", 0.02)
    monkeypatch.setattr(live, "REST", 0)


@pytest.fixture
async def token(app: FastAPI, conn: asyncpg.Connection) -> str:
    return await token_of(conn, Role.USER, Scope.READ)


async def test_numbers_come_again_and_again(app: FastAPI, token: str, fast: None) -> None:
    stream = app.state.live.listen(a_request(app, token), None)
    assert (await next_event(stream))["retry"] == "2000"
    first, second = await next_event(stream), await next_event(stream)
    assert first["event"] == second["event"] == "numbers"
    assert json.loads(first["data"])["pages_crawled"] == 0
    assert first["id"] != second["id"]
    await stream.aclose()


async def test_however_many_listen_one_asks(
    app: FastAPI, token: str, fast: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0
    overview = numbers.overview

    async def counted(*arguments: Any, **more: Any) -> Any:
        nonlocal asked
        asked += 1
        return await overview(*arguments, **more)

    monkeypatch.setattr(numbers, "overview", counted)
    streams = [app.state.live.listen(a_request(app, token), None) for _ in range(20)]
    for stream in streams:
        await next_event(stream)
    events = [await next_event(stream) for stream in streams]
    assert len({event["id"] for event in events}) <= asked <= 5
    for stream in streams:
        await stream.aclose()


async def test_who_comes_back_gets_what_was_missed(app: FastAPI, token: str, fast: None) -> None:
    watching = app.state.live.listen(a_request(app, token), None)
    await next_event(watching)
    ids = [(await next_event(watching))["id"] for _ in range(4)]
    back = app.state.live.listen(a_request(app, token), ids[0])
    async with asyncio.timeout(5):
        missed = (await anext(back)).decode()
    assert all(f"id: {number}\n" in missed for number in ids[1:])
    assert f"id: {ids[0]}\n" not in missed
    stranger = app.state.live.listen(a_request(app, token), "elsewhere-99999999999999999999")
    assert (await next_event(stranger))["retry"] == "2000"
    for stream in (watching, back, stranger):
        await stream.aclose()


async def test_it_ends_with_the_token(
    app: FastAPI, token: str, conn: asyncpg.Connection, fast: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "RECOGNISED_FOR_S", 0.0)
    stream = app.state.live.listen(a_request(app, token), None)
    await next_event(stream)
    assert (await next_event(stream))["event"] == "numbers"
    await conn.execute("UPDATE api_tokens SET revoked_at = now()")
    assert (await next_event(stream))["event"] == "end"
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_a_quiet_stream_has_a_heartbeat(app: FastAPI, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "HEARTBEAT_S", 0.05)
    monkeypatch.setattr(EventStream, "_start", lambda _self: None)
    stream = app.state.live.listen(a_request(app, token), None)
    await next_event(stream)
    async with asyncio.timeout(5):
        assert await anext(stream) == b": still here\n\n"
    await stream.aclose()


async def test_places_are_bounded_and_given_back(app: FastAPI, token: str) -> None:
    app.state.live._most = 1
    stream = app.state.live.listen(a_request(app, token), None)
    await next_event(stream)
    async with client_for(app, token) as user:
        assert (await user.get("/api/live")).status_code == 503
    await stream.aclose()
    app.state.live.leave(app.state.live.join(None))


async def test_one_account_takes_some_of_the_places(app: FastAPI, token: str, conn: asyncpg.Connection) -> None:
    app.state.live._most_of_one = 2
    user_id = await conn.fetchval("SELECT id FROM users")
    places = [app.state.live.join(user_id) for _ in range(2)]
    async with client_for(app, token) as user:
        answer = await user.get("/api/live")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "5")
    app.state.live.join(user_id + 1)
    app.state.live.leave(places[0])
    app.state.live.join(user_id)


async def test_who_only_wants_the_headers_takes_no_place(app: FastAPI, token: str) -> None:
    async with client_for(app, token) as user, asyncio.timeout(5):
        assert (await user.head("/api/live")).headers["content-type"].startswith("text/event-stream")
    assert not app.state.live._listeners


async def test_a_slow_listener_loses_the_oldest(app: FastAPI, token: str) -> None:
    stream = app.state.live.listen(a_request(app, token), None)
    await next_event(stream)
    app.state.live._start = lambda: None
    for number in range(live.MOST_QUEUED + 5):
        app.state.live._send("numbers", {"number": number})
    assert json.loads((await next_event(stream))["data"]) == {"number": 5}
    await stream.aclose()


async def test_closing_lets_everybody_go(app: FastAPI, token: str, fast: None) -> None:
    stream = app.state.live.listen(a_request(app, token), None)
    await next_event(stream)
    app.state.live.close()
    async with asyncio.timeout(5):
        assert [event async for event in stream] == []
