"""Exports: every row, in both forms, from one snapshot; formulas are neutral, and few run at once."""

import asyncio
import contextlib
import csv
import io
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import httpx
import pytest
from fastapi import FastAPI
from starlette.types import Message
from tests.ground import Ground

from forager.export import routes as exports
from forager.export.csv_rows import restore
from forager.export.prefetch import ReadBuffer

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
    app: FastAPI, user: httpx.AsyncClient, titles: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "WAIT_S", 0.05)
    desk: exports.Exports = app.state.exports
    async with desk.reading(-1), desk.reading(-2):
        busy = await user.get("/api/exports/pages")
    assert (busy.status_code, busy.headers["retry-after"]) == (503, "5")
    for _ in range(8):  # more than there are connections
        assert (await user.get("/api/exports/pages")).status_code == 200
        assert (await user.head("/api/exports/pages")).status_code == 200
        assert (await user.get("/api/exports/pages?domain=unknown.example")).status_code == 404
    async with desk.reading(-1), desk.reading(-2):
        pass


async def test_exports_of_one_account_do_not_keep_another_from_its_own(
    app: FastAPI, conn: asyncpg.Connection, user: httpx.AsyncClient, titles: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "WAIT_S", 0.05)
    desk: exports.Exports = app.state.exports
    account = await conn.fetchval("SELECT id FROM users")
    with contextlib.ExitStack() as stack:
        async with desk.reading(account):
            assert (await user.get("/api/exports/pages")).status_code == 429
            async with desk.reading(account + 1):
                pass
        for _ in range(exports.MOST_OF_ONE):
            stack.enter_context(desk.open_one(account))
        assert (await user.get("/api/exports/pages")).status_code == 429
        with desk.open_one(account + 1):
            pass
    assert (await user.get("/api/exports/pages")).status_code == 200


async def test_a_reader_that_stalls_is_left(
    app: FastAPI, user: httpx.AsyncClient, titles: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long before, its snapshot is gone, which would keep vacuum from everything that is deleted meanwhile."""
    monkeypatch.setattr(exports, "WITHIN_S", 1.0)
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
    sending = asyncio.create_task(app(scope, receive, send))
    await asyncio.wait_for(stalled.wait(), 10)
    async with asyncio.timeout(0.9), app.state.exports.reading(-1), app.state.exports.reading(-2):
        assert not sending.done()
    with pytest.raises(RuntimeError) as cut:  # the server cuts the connection: the reader knows that rows are missing
        await asyncio.wait_for(sending, 10)
    assert isinstance(cut.value.__cause__, TimeoutError)


async def test_a_slow_reader_gets_every_row_after_the_snapshot_is_gone(tmp_path: Path) -> None:
    read = asyncio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        for number in range(1000):
            yield b"%d\n" % number * 100

    async def on_read() -> None:
        read.set()

    ahead = ReadBuffer(pieces(), tmp_path, on_read, within_s=10)
    await asyncio.wait_for(read.wait(), 10)
    assert os.listdir(tmp_path) == []  # the file has no name: nothing is left by a kill
    assert b"".join([piece async for piece in ahead.pieces()]) == b"".join([piece async for piece in pieces()])
    await ahead.close()


async def test_a_reader_far_behind_holds_the_rows_back(tmp_path: Path) -> None:
    made = 0

    async def pieces() -> AsyncIterator[bytes]:
        nonlocal made
        while made < 100:
            made += 1
            yield b"x" * 1000

    async def on_read() -> None:
        pass

    ahead = ReadBuffer(pieces(), tmp_path, on_read, within_s=10, ahead_bytes=5000)
    stream = ahead.pieces()
    size = len(await anext(stream))
    await asyncio.sleep(0.1)
    assert made < 20
    size += sum([len(piece) async for piece in stream])
    assert size == 100_000
    await ahead.close()


async def test_what_breaks_while_it_is_read_breaks_what_is_sent(tmp_path: Path) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"first"
        raise ConnectionError

    async def on_read() -> None:
        pass

    ahead = ReadBuffer(pieces(), tmp_path, on_read, within_s=10)
    stream = ahead.pieces()
    assert await anext(stream) == b"first"
    with pytest.raises(ConnectionError):
        await anext(stream)
    await ahead.close()
