"""A search server that is away, or no search server at all: PostgreSQL answers and says why; nothing is given away."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import asyncpg
import pytest
from tests.integration.search.conftest import IN_POSTGRES, Library

from forager.cli.main import run
from forager.errors import ConflictError, SearchServerError
from forager.search import rebuild, server
from forager.search.models import Query
from forager.search.names import Names
from forager.search.server import SearchServer, open_server
from forager.search.server_query import format_cursor
from forager.search.service import ExternalSearch, search

pytestmark = IN_POSTGRES
NAMES = Names("forager-")
LIVE = "INSERT INTO search_builds (name, owner, state, is_made) VALUES ('b1', gen_random_uuid(), 'live', true)"


class Stranger:
    """Answers every request alike."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.heads: list[bytes] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(self.answer)
        await writer.drain()
        writer.close()

    @property
    def url(self) -> str:
        return f"http://crawler:s3cret@127.0.0.1:{self.port}"


Meet = Callable[[str, bytes, str], Any]


@pytest.fixture
async def meet() -> AsyncIterator[Meet]:
    servers = []

    async def start(status: str, body: bytes, headers: str = "") -> Stranger:
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
        stranger = Stranger(head.encode() + body)
        servers.append(await asyncio.start_server(stranger.serve, "127.0.0.1", 0))
        stranger.port = servers[-1].sockets[0].getsockname()[1]
        return stranger

    yield start
    for each in servers:
        each.close()


@pytest.fixture
async def nobody() -> AsyncIterator[SearchServer]:
    async with open_server("http://crawler:s3cret@127.0.0.1:9") as opened:
        yield opened


async def a_library(library: Library) -> None:
    await library.add("http://a.example/", "Tea", "a text about tea")
    await library.conn.execute(LIVE)


async def test_postgresql_answers_and_says_why(library: Any, pool: asyncpg.Pool, nobody: SearchServer) -> None:
    await a_library(library)
    answer = await search(pool, Query("tea"), elsewhere=ExternalSearch(nobody, NAMES))
    assert [hit.url for hit in answer.page.hits] == ["http://a.example/"]
    assert answer.note is not None
    assert answer.note.startswith("The search server at 127.0.0.1:9 does not answer")
    assert "s3cret" not in answer.note
    assert nobody.is_circuit_open, "the next one does not wait for it"


async def test_before_there_is_an_index_postgresql_answers(
    library: Any, pool: asyncpg.Pool, nobody: SearchServer
) -> None:
    await library.add("http://a.example/", "Tea", "a text about tea")
    answer = await search(pool, Query("tea"), elsewhere=ExternalSearch(nobody, NAMES))
    assert answer.page.total == 1
    assert answer.note == "The search server has no index yet. PostgreSQL answered instead."


async def test_its_own_places_cannot_be_gone_on_from_without_it(
    library: Any, pool: asyncpg.Pool, nobody: SearchServer
) -> None:
    await a_library(library)
    asked = Query("tea", after=format_cursor(1.5, 3))
    for elsewhere in (ExternalSearch(nobody, NAMES), None):
        with pytest.raises(ConflictError, match="ask again later"):
            await search(pool, asked, elsewhere=elsewhere)


async def test_places_of_postgresql_are_gone_on_from_by_postgresql(
    library: Any, pool: asyncpg.Pool, nobody: SearchServer
) -> None:
    await a_library(library)
    await library.add("http://a.example/2", "Tea two", "tea again")
    first = await search(pool, Query("tea", limit=1))
    rest = await search(pool, Query("tea", after=first.page.next_after), elsewhere=ExternalSearch(nobody, NAMES))
    assert len({hit.id for hit in [*first.page.hits, *rest.page.hits]}) == 2
    assert rest.note is None


@pytest.mark.parametrize(
    ("status", "body"),
    [
        ("200 OK", b"{}"),
        ("200 OK", b"<html>hello</html>"),
        ("200 OK", b'{"hits": {"hits": [{"sort": ["x"]}], "total": 3}}'),
        ("200 OK", b"[1, 2"),
        ("404 Not Found", b'{"error": {"type": "index_not_found_exception", "reason": "no such index"}}'),
        ("500 Oops", b""),
        ("401 Unauthorized", b"no"),
        ("429 Too Many Requests", b'{"error": "busy"}'),
    ],
)
async def test_strange_answers_are_one_sentence_and_postgresql_answers(
    library: Any, pool: asyncpg.Pool, meet: Meet, status: str, body: bytes
) -> None:
    await a_library(library)
    stranger = await meet(status, body, "")
    async with open_server(stranger.url) as opened:
        answer = await search(pool, Query("tea"), elsewhere=ExternalSearch(opened, NAMES))
    assert answer.page.total == 1
    assert answer.note is not None
    assert "\n" not in answer.note
    assert "s3cret" not in answer.note
    assert len(stranger.heads) == 1, "a person waits for one try only"


async def test_redirects_are_not_followed(meet: Meet) -> None:
    """Name and password, and what we crawl, go to the address in the settings and to no other."""
    other = await meet("200 OK", b"{}", "")
    stranger = await meet("307 Temporary Redirect", b"", f"Location: http://127.0.0.1:{other.port}/\r\n")
    async with open_server(stranger.url) as opened:
        with pytest.raises(SearchServerError):
            await opened.ask("GET", "/")
    assert b"authorization: basic" in stranger.heads[0].lower()
    assert other.heads == []


async def test_a_frozen_server_is_not_waited_for(
    library: Any, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    await a_library(library)
    monkeypatch.setattr(server, "SEARCH_S", 0.2)

    async def freeze(_reader: Any, writer: asyncio.StreamWriter) -> None:
        await released.wait()
        writer.close()

    released = asyncio.Event()
    frozen = await asyncio.start_server(freeze, "127.0.0.1", 0)
    async with open_server(f"http://127.0.0.1:{frozen.sockets[0].getsockname()[1]}") as opened:
        async with asyncio.timeout(5):
            answer = await search(pool, Query("tea"), elsewhere=ExternalSearch(opened, NAMES))
        assert answer.page.total == 1
        assert opened.is_circuit_open
    released.set()
    frozen.close()


async def test_who_has_no_search_server_pays_nothing(library: Any) -> None:
    """Nothing is noted for it; and once it is wanted, everything is, also what a purge takes."""
    await rebuild.switch_off(library.conn, None, NAMES)
    page = await library.add("http://a.example/", "Tea", "tea")
    await library.index()
    await library.conn.execute("UPDATE pages SET status = 'gone' WHERE id = $1", page)
    assert await library.conn.fetchval("SELECT count(*) FROM search_outbox") == 0
    await rebuild.begin(library.conn)
    await library.conn.execute("UPDATE pages SET status = 'queued' WHERE id = $1", page)
    await library.conn.execute("UPDATE pages SET status = 'fetched' WHERE id = $1", page)
    await library.conn.execute("DELETE FROM pages WHERE id = $1", page)
    noted = await library.conn.fetch("SELECT kind, id FROM search_outbox")
    assert [(row["kind"], row["id"]) for row in noted] == [("page", page)] * 2
    await rebuild.switch_off(library.conn, None, NAMES)


async def test_the_command_says_who_answered(
    library: Any, database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    await a_library(library)
    for name, value in {
        "DATABASE_URL": database_url,
        "HOME": str(tmp_path),
        "SEARCH_BACKEND": "opensearch",
        "SEARCH_URL": "http://crawler:s3cret@127.0.0.1:9",
    }.items():
        monkeypatch.setenv(f"FORAGER_{name}", value)
    assert await asyncio.to_thread(run, ["search", "tea"]) == 0
    said = capsys.readouterr()
    assert "http://a.example/" in said.out
    assert "PostgreSQL answered instead" in said.err
    assert await asyncio.to_thread(run, ["reindex"]) == 1
    said = capsys.readouterr()
    assert "run it again" in said.err
    assert "s3cret" not in said.err
    assert await asyncio.to_thread(run, ["reindex", "--status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["backend"] == "opensearch"
    assert await asyncio.to_thread(run, ["schedule", "run", "search_server", "--once"]) == 1
    assert "does not answer" in "".join(capsys.readouterr())
    await rebuild.switch_off(library.conn, None, NAMES)


async def test_without_a_search_server_postgresql_makes_its_own_index_anew(
    library: Any, database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    page = await library.add("http://a.example/", "Tea", "tea")
    await library.index()
    await library.conn.execute("DELETE FROM indexed_pages WHERE page_id = $1", page)
    monkeypatch.setenv("FORAGER_DATABASE_URL", database_url)
    monkeypatch.setenv("FORAGER_HOME", str(tmp_path))
    assert await asyncio.to_thread(run, ["reindex"]) == 0
    assert "1 page indexed again" in capsys.readouterr().err
    assert await library.found("tea") == ["a.example/"]
