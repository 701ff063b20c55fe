"""Every error is problem+json with one sentence; none shows a trace or repeats what it refused."""

import asyncio
from collections.abc import Iterator
from typing import Any

import asyncpg
import httpx
import pytest
from fastapi import FastAPI, Request
from tests.ground import Ground
from tests.integration.api.conftest import Client, client_for, running, token_of
from tests.integration.api.house import NAME, furnish
from tests.wire import a_wire_to_database

from forager import logs as observe
from forager.accounts.identity import Role, Scope, operator
from forager.api.database import change, look, snapshot
from forager.config.settings import Settings

MEDIA = "application/problem+json"


def is_problem(answer: httpx.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == MEDIA
    problem: dict[str, Any] = answer.json()
    assert problem["status"] == status
    assert problem["detail"] == problem["error"]
    assert problem["request_id"] == answer.headers["x-request-id"]
    assert "Traceback" not in answer.text
    return problem


async def test_what_is_not_there(user: httpx.AsyncClient) -> None:
    is_problem(await user.get("/api/nothing"), 404)
    is_problem(await user.get("/api/pages/7"), 404)


async def test_a_mistyped_domain_is_told_what_it_could_have_been(
    user: httpx.AsyncClient, conn: asyncpg.Connection
) -> None:
    await Ground(conn).a_domain("example.com")
    problem = is_problem(await user.get("/api/domains/exampel.com"), 404)
    assert "Did you mean example.com?" in problem["detail"]


async def test_a_method_that_is_not_there_names_those_that_are(admin: httpx.AsyncClient) -> None:
    answer = await admin.put("/api/admin/domains/a.example")
    is_problem(answer, 405)
    assert answer.headers["allow"] == "DELETE, GET, HEAD, OPTIONS, PATCH"
    options = await admin.request("OPTIONS", "/api/admin/tasks/batch")
    assert (options.status_code, options.headers["allow"]) == (204, "OPTIONS, POST")


async def test_head_is_get_without_a_body(user: httpx.AsyncClient) -> None:
    got, head = await user.get("/api/domains"), await user.head("/api/domains")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == got.headers["content-length"]
    async with asyncio.timeout(5):
        assert (await user.head("/api/exports/pages")).status_code == 200


@pytest.mark.parametrize(
    ("query", "where"),
    [("colour=red", "query.colour"), ("limit=1&limit=2", "query.limit"), ("status=nope", "query.status")],
)
async def test_a_parameter_that_is_not_understood_is_named(user: httpx.AsyncClient, query: str, where: str) -> None:
    problem = is_problem(await user.get(f"/api/domains?{query}"), 422)
    assert problem["errors"][0]["where"] == where


@pytest.mark.parametrize(
    "body",
    [
        b'{"urls": ["http://a.example/"], "extra": 1}',
        b'{"urls": "http://a.example/"}',
        b'{"urls": []}',
        b'{"urls": ["http://a.example/\\u0000"]}',
        b'{"urls": ["http://a.example/\\ud800"]}',
        b'{"urls": [1]}',
        b'{"urls": ["http://a.example/"], "source": ""}',
        b'{"urls": ["file:///etc/passwd"]}',
        b'{"urls": ["http://10.0.0.1/"]}',
        b'{"urls": ["http://0x0a000001/"]}',
        b'{"urls": ["http://a.example/"], "dry_run": "yes"}',
        b"{",
        b"[]",
        b"\xff\xfe",
        b"",
    ],
)
async def test_a_bad_body_changes_nothing(admin: httpx.AsyncClient, conn: asyncpg.Connection, body: bytes) -> None:
    answer = await admin.post("/api/frontier/seed", content=body, headers={"Content-Type": "application/json"})
    is_problem(answer, 422)
    assert await conn.fetchval("SELECT count(*) FROM domains") == 0


async def test_a_body_that_is_too_large_is_refused_without_being_kept(
    admin: httpx.AsyncClient, settings: Settings
) -> None:
    large = b"x" * (settings.api.max_body_size + 1)
    is_problem(await admin.post("/api/admin/runs", content=large), 413)

    async def in_pieces() -> Any:
        for _ in range(20):
            yield b"x" * 100_000

    is_problem(await admin.post("/api/admin/runs", content=in_pieces()), 413)


@pytest.mark.parametrize("number", ["0", str(2**53), str(2**63), str(2**64)])
async def test_a_number_no_row_can_have(user: httpx.AsyncClient, number: str) -> None:
    is_problem(await user.get(f"/api/pages/{number}"), 422)


@pytest.mark.parametrize("text", ["'; DROP TABLE pages --", "%", "\\", "a & !", "(", "\u202e", "x" * 200])
async def test_injections_through_filters_are_words(user: httpx.AsyncClient, text: str) -> None:
    for path in ("/api/domains?q=", "/api/search?q=", "/api/products?brand=", "/api/products/search?q="):
        answer = await user.get(path + str(httpx.QueryParams({"": text}))[1:])
        assert answer.status_code == 200, answer.text


@pytest.fixture
def logged(capsys: pytest.CaptureFixture[str]) -> Iterator[pytest.CaptureFixture[str]]:
    """What is written to the log in this test; the writer keeps no stream that is closed afterwards."""
    observe.configure()
    yield capsys
    observe.configure()


async def test_a_bug_shows_an_id_and_the_log_the_trace(
    app: FastAPI, admin: httpx.AsyncClient, logged: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("the secret of the house")

    monkeypatch.setattr("forager.domains.queries.list_domains", broken)
    answer = await admin.get("/api/domains")
    problem = is_problem(answer, 500)
    assert "secret" not in answer.text
    assert problem["request_id"] in logged.readouterr().err


async def test_a_statement_that_takes_too_long_is_given_up(
    app: FastAPI, admin: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(conn: Any, *_: object, **__: object) -> None:
        await conn.execute("SET statement_timeout = 50")
        await conn.execute("SELECT pg_sleep(5)")

    monkeypatch.setattr("forager.domains.queries.list_domains", slow)
    answer = await admin.get("/api/domains")
    is_problem(answer, 503)
    assert answer.headers["retry-after"] == "2"


async def test_connections_have_the_settings_limit(app: FastAPI, settings: Settings) -> None:
    request: Any = Request({"type": "http", "app": app, "method": "GET"})
    async with look(request) as conn:
        assert await conn.fetchval("SHOW statement_timeout") == f"{settings.api.statement_timeout:.0f}s"


async def test_a_route_that_may_take_longer_gives_its_statements_as_long_and_leaves_nothing_behind(
    app: FastAPI, settings: Settings
) -> None:
    request: Any = Request({"type": "http", "app": app, "method": "GET"})
    usual = f"{settings.api.statement_timeout:.0f}s"
    for within_s, told in ((90.0, "90s"), (1.0, usual), (None, usual)):
        async with snapshot(request, within_s) as conn:
            assert await conn.fetchval("SHOW statement_timeout") == told
        async with change(request, operator("cli:test"), within_s) as deed:
            assert await deed.conn.fetchval("SHOW statement_timeout") == told
        async with look(request) as conn:
            assert await conn.fetchval("SHOW statement_timeout") == usual


async def test_long_questions_do_not_keep_admins_from_long_deeds(
    app: FastAPI, admin: httpx.AsyncClient, user: httpx.AsyncClient, conn: asyncpg.Connection
) -> None:
    await Ground(conn).a_domain("a.example")
    async with app.state.long_question:
        is_problem(await user.get("/api/storage/retention"), 503)
        assert (await admin.delete("/api/admin/domains/a.example?dry_run=true")).status_code == 200
    async with app.state.long_deed:
        is_problem(await admin.delete("/api/admin/domains/a.example?dry_run=true"), 503)
        assert (await user.get("/api/storage/retention")).status_code == 200


async def test_without_a_database_the_answer_is_503_and_soon(
    settings: Settings, database_url: str, conn: asyncpg.Connection
) -> None:
    """As while a server restarts: connections are lost, and new ones refused."""
    token = await token_of(conn, Role.ADMIN, Scope.ADMIN)
    with a_wire_to_database(database_url) as wire:
        away = settings.replace(database_url=wire.url)
        async with running(away) as app, client_for(app, token) as admin, client_for(app) as anybody:
            assert (await admin.get("/api/domains")).status_code == 200
            wire.cut()
            for path in ("/api/pages", "/api/frontier/stats", "/api/stats"):
                async with asyncio.timeout(3):
                    answer = await admin.get(path)
                is_problem(answer, 503)
                assert int(answer.headers["retry-after"]) > 0
            seeds = {"urls": ["https://a.example/"]}
            unsure = is_problem(await admin.post("/api/frontier/seed", json=seeds), 503)
            assert "may or may not have been done" in unsure["detail"], "it may have been lost during COMMIT"
            health = await anybody.get("/health")
            assert (health.status_code, health.json()["parts"]["database"]["state"]) == (503, "down")
            wire.mend()
            async with asyncio.timeout(10):
                while (await admin.get("/api/domains")).status_code != 200:  # noqa: ASYNC110 (HTTP tells no events)
                    await asyncio.sleep(0.1)
    assert await conn.fetchval("SELECT count(*) FROM domains") == 0


@pytest.mark.parametrize(
    ("method", "path", "body", "where"),
    [
        ("PATCH", f"/api/admin/domains/{NAME}", {"maintenance_start": "22:00"}, "body.maintenance_start"),
        ("PATCH", f"/api/admin/domains/{NAME}", {"parser_name": "ebay"}, "body.parser_name"),
        ("GET", "/api/exports/pages?status=broken", None, "query.status"),
        ("GET", "/api/stats/timeseries?metric=visits&since=2026-01-01T00:00:00Z&step_s=61", None, "query.step_s"),
        ("POST", "/api/frontier/seed", {"urls": ["no url"]}, "body.urls"),
        ("POST", "/api/admin/users", {"name": "-", "role": "user"}, "body.name"),
        ("GET", "/api/domains?limit=0", None, "query.limit"),
    ],
)
async def test_a_422_names_the_value_it_refused(
    admin: Client, conn: asyncpg.Connection, *, method: str, path: str, body: object, where: str
) -> None:
    await furnish(conn)
    answer = await admin.request(method, path, json=body)
    assert answer.status_code == 422, answer.text
    problem = answer.json()
    assert problem["type"] == "urn:forager:problem:invalid_value"
    assert [error["where"] for error in problem["errors"]] == [where]


async def test_problems_of_one_status_are_told_apart_by_their_type(
    admin: Client, anybody: Client, conn: asyncpg.Connection
) -> None:
    await furnish(conn)
    closed = await conn.fetchval("SELECT id FROM crawl_tasks WHERE outcome = 'success'")
    name = await conn.fetchval("SELECT name FROM users LIMIT 1")
    await conn.execute("UPDATE users SET password_hash = 'x'")
    found = {
        (await admin.post(f"/api/admin/tasks/{closed}/cancel")).json()["type"],
        (await admin.post("/api/admin/users", json={"name": name, "role": "user"})).json()["type"],
        (await admin.post("/api/workers/1/drain", json={})).json()["type"],
        (await anybody.get("/api/domains")).json()["type"],
        (await admin.get("/api/domains/unknown.example")).json()["type"],
    }
    kinds = {kind.removeprefix("urn:forager:problem:") for kind in found}
    assert kinds >= {"task_closed", "account_exists", "unauthenticated", "not_found"}
