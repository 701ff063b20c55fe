"""Exports: every row, in both forms, from one snapshot; formulas are neutral, and few run at once."""

import asyncio
import csv
import io
import json

import asyncpg
import httpx
import pytest
from fastapi import FastAPI
from starlette.types import Message
from tests.ground import Ground

from forager.api.routes import exports
from forager.control.cells import restore

TITLES = ["=1+1", "+x", "-x", "@x", "'x", "plain", 'with "quotes", and; more', "", " space", "line\nbreak"]


@pytest.fixture
async def titles(conn: asyncpg.Connection) -> list[str]:
    ground = Ground(conn)
    domain = await ground.a_domain("a.example")
    for number, title in enumerate(TITLES):
        await ground.a_page(f"http://a.example/{number}", domain, title=title)
    return TITLES


async def test_json_lines_have_every_row(user: httpx.AsyncClient, titles: list[str]) -> None:
    answer = await user.get("/api/exports/pages")
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.headers["content-disposition"] == 'attachment; filename="pages.jsonl"'
    assert [json.loads(line)["title"] for line in answer.text.splitlines()] == titles


async def test_csv_is_neutral_and_comes_back(user: httpx.AsyncClient, titles: list[str]) -> None:
    answer = await user.get("/api/exports/pages?format=csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [restore(row["title"]) for row in rows] == titles
    assert not any(row["title"].startswith(("=", "+", "-", "@")) for row in rows)


async def test_an_empty_export_is_empty(user: httpx.AsyncClient) -> None:
    assert (await user.get("/api/exports/products")).text == ""
    assert (await user.get("/api/exports/products?format=csv")).text.startswith("id,url,domain,")


async def test_a_bad_filter_is_an_error_and_no_broken_file(user: httpx.AsyncClient) -> None:
    assert (await user.get("/api/exports/pages?domain=unknown.example")).status_code == 404
    assert (await user.get("/api/exports/pages?status=nope")).status_code == 422
    assert (await user.get("/api/exports/links?status=gone")).status_code == 422
    assert (await user.get("/api/exports/nothing")).status_code == 422


async def test_few_exports_run_at_once_and_all_give_their_connection_back(
    app: FastAPI, user: httpx.AsyncClient, titles: list[str]
) -> None:
    desk: asyncio.Semaphore = app.state.exports
    await desk.acquire()
    await desk.acquire()
    busy = await user.get("/api/exports/pages")
    assert (busy.status_code, busy.headers["retry-after"]) == (503, "5")
    desk.release()
    desk.release()
    for _ in range(8):  # more than there are connections
        assert (await user.get("/api/exports/pages")).status_code == 200
        assert (await user.head("/api/exports/pages")).status_code == 200
        assert (await user.get("/api/exports/pages?domain=unknown.example")).status_code == 404
    assert not desk.locked()


async def test_a_reader_that_stalls_is_left(
    app: FastAPI, user: httpx.AsyncClient, titles: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its snapshot would keep vacuum from everything that is deleted meanwhile."""
    monkeypatch.setattr(exports, "WITHIN_S", 0.2)
    stalled = asyncio.Event()

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            stalled.set()
            await asyncio.Event().wait()

    scope = {
        "type": "http",
        "method": "GET",
        "scheme": "http",
        "http_version": "1.1",
        "query_string": b"",
        "path": "/api/exports/pages",
        "raw_path": b"/api/exports/pages",
        "root_path": "",
        "headers": [(b"authorization", user.headers["authorization"].encode())],
        "client": ("127.0.0.1", 5000),
        "server": ("127.0.0.1", 8600),
        "asgi": {"version": "3.0", "spec_version": "2.4"},
    }
    with pytest.raises(TimeoutError):  # the server cuts the connection, so that the reader knows that rows are missing
        await asyncio.wait_for(app(scope, receive, send), 10)
    assert stalled.is_set()
    async with asyncio.timeout(5), app.state.exports, app.state.exports:
        pass
