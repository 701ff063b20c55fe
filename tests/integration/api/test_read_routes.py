"""The plain routes of reads: whatever is asked, they answer as FastAPI does, and they really serve it."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import asyncpg
import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from tests.integration.api.conftest import client_for, token_of
from tests.integration.api.house import furnish
from tests.integration.api.test_surface import asked, operations, spelled

from forager.accounts.identity import Role, Scope
from forager.api import read_routes, routes
from forager.api.app import create_app

STREAMS = "/api/live"
QUERIES = (
    [("limit", "1")],
    [("limit", "0")],
    [("limit", " 1")],
    [("limit", "1"), ("limit", "2")],
    [("limit", "")],
    [("status", "nothing")],
    [("nonsense", "1")],
    [("after", "WzEsNDJd")],
    [("after", "not a cursor!")],
    [("domain", "nobody.example")],
    [("since", "2026-01-31T12:00:00Z")],
    [("since", "yesterday")],
    [("q", "\x00")],
    [("is_active", "yes")],
)
"""Each is tried where the name is known; what is fine for one list is refused by another."""
PATHS = (
    "/api/pages/0",
    "/api/pages/99999999999999999999",
    "/api/pages/one",
    "/api/pages/1/",
    "/api//pages/1",
    "/api/domains/top",
    "/api/domains/groups",
    "/api/domains/a%2Fb",
    "/api/domains/%C3%A4.example",
    "/api/domains/%FF",
    "/api/domains/",
    "/health/",
)


@pytest.fixture
async def long_way(app: FastAPI, settings: Any, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FastAPI]:
    """The same application over the same database, where FastAPI answers everything."""
    with monkeypatch.context() as patched:
        patched.setattr("forager.api.app._build_read_routes", tuple)
        other = create_app(settings, forager=app.state.forager)
    async with other.router.lifespan_context(other):
        yield other


def still(content: Any) -> Any:
    """Without what moves while one looks: ages, sizes, moments, ids of requests."""
    match content:
        case dict():
            return {name: still(value) for name, value in content.items() if name != "request_id"}
        case list():
            return [still(value) for value in content]
        case float():
            return "a number"
        case str() if is_moment(content):
            return "a moment"
        case _:
            return content


def is_moment(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


CHANGING = {"x-request-id", "content-length", "ratelimit", "content-encoding"}
"""The request's own; the sizes of numbers of this very moment, which decide whether they are compressed."""


def shown(answer: httpx.Response) -> tuple[Any, ...]:
    headers = {name: value for name, value in answer.headers.items() if name not in CHANGING}
    is_json = headers.get("content-type") in {"application/json", "application/problem+json"} and answer.content
    if answer.request.url.path in {"/metrics", "/health", "/api/stats", "/api/storage"}:
        return answer.status_code, headers  # numbers of this very moment
    return answer.status_code, headers, still(answer.json()) if is_json else answer.content


async def test_every_read_is_answered_as_fastapi_would(
    app: FastAPI, long_way: FastAPI, conn: asyncpg.Connection
) -> None:
    await furnish(conn)
    token, differing, seen = await token_of(conn, Role.ADMIN, Scope.ADMIN), [], set()
    async with client_for(app, token) as here, client_for(long_way, token) as there:
        for method, path, operation in operations(app):
            if method != "GET" or path == STREAMS:
                continue
            needed = list(asked(operation).items())
            known = {"nonsense", *(each["name"] for each in operation.get("parameters", ()))}
            for query in ([], *(query for query in QUERIES if query[0][0] in known)):
                question: dict[str, Any] = {"params": [*needed, *query]}
                short, long = await here.get(spelled(path), **question), await there.get(spelled(path), **question)
                seen.add(short.status_code)
                if shown(short) != shown(long):
                    differing.append(f"{path} {query}: {shown(short)} and {shown(long)}")
    assert differing == []
    assert seen >= {200, 404, 422}


async def test_whoever_asks_is_told_the_same(app: FastAPI, long_way: FastAPI, conn: asyncpg.Connection) -> None:
    asked_for = ("/api/domains", "/api/domains?limit=0", "/api/admin/users", "/api/pages/1", "/api/nothing", "/api/")
    for token in (None, "fgr_nobody", await token_of(conn, Role.USER, Scope.READ)):
        async with client_for(app, token) as here, client_for(long_way, token) as there:
            for path in asked_for:
                for method in ("GET", "HEAD", "OPTIONS"):
                    assert shown(await here.request(method, path)) == shown(await there.request(method, path)), path


async def test_paths_are_understood_alike(app: FastAPI, long_way: FastAPI, conn: asyncpg.Connection) -> None:
    token = await token_of(conn, Role.ADMIN, Scope.ADMIN)
    async with client_for(app, token) as here, client_for(long_way, token) as there:
        for path in PATHS:
            assert shown(await here.get(path)) == shown(await there.get(path)), path


def test_all_reads_but_the_stream_take_it() -> None:
    reads = [route for router in routes.ALL for route in router.routes if "GET" in route.methods]
    repeated = {"/api/records", "/api/items"}  # each condition is a parameter of its own
    assert {route.path for route in reads if read_routes.plan_of(route) is None} == {STREAMS, *repeated}


async def test_fastapi_is_not_asked(app: FastAPI, user: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    async def must_not(*_: Any) -> None:
        raise AssertionError("the long way was taken")

    monkeypatch.setattr(APIRoute, "handle", must_not)
    assert (await user.get("/api/domains?limit=3")).status_code == 200
