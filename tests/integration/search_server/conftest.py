"""The real search server behind a gate that tests may shut; without `make test-search` they are left out."""

import uuid
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.ground import Ground, database, database_url, ground
from tests.integration.search.conftest import EMPTY, SERVER_URL, Library
from tests.search_server.gate import Gate, open_gate

from forager.search.bulk_index import SQL
from forager.search.documents import DOCUMENTS
from forager.search.names import Names
from forager.search.server import open_server
from forager.search.service import ExternalSearch
from forager.search.sync import SyncResult, sync

__all__ = ["database", "database_url", "ground"]
collect_ignore_glob = [] if SERVER_URL else ["test_*.py"]


class Mirror(Library):
    """A library, and what the search server has of it."""

    def __init__(self, ground: Ground, elsewhere: ExternalSearch, gate: Gate) -> None:
        super().__init__(ground, elsewhere)
        self.server, self.names = elsewhere.server, elsewhere.names
        self.gate = gate

    async def tend(self, within_s: float = 60.0) -> SyncResult:
        return await sync(self.conn, self.server, self.names, within_s=within_s)

    async def there(self, kind: str) -> dict[int, dict[str, Any]]:
        """Everything that is searched on the server."""
        alias = self.names.searched(kind)
        await self.server.tell("POST", f"/{alias}/_refresh")
        answer = await self.server.tell("POST", f"/{alias}/_search", {"size": 5000})
        return {int(hit["_id"]): hit["_source"] for hit in answer["hits"]["hits"]}

    async def here(self, kind: str) -> dict[int, dict[str, Any]]:
        """What it should have."""
        ids = [row["id"] for row in await self.conn.fetch(f"SELECT id FROM {kind}s")]
        rows = await self.conn.fetch(SQL[f"{kind}_documents"], ids)
        return {row["id"]: DOCUMENTS[kind](row) for row in rows}

    async def agrees(self) -> bool:
        waiting = await self.conn.fetchval("SELECT count(*) FROM search_outbox")
        return not waiting and all([await self.there(kind) == await self.here(kind) for kind in ("page", "product")])

    async def waiting(self) -> int:
        found: int = await self.conn.fetchval("SELECT count(*) FROM search_outbox")
        return found

    async def rewrite(self, page: int, words: str) -> None:
        await self.conn.execute(
            "UPDATE pages SET fetched_at = now(), content_hash = sha256($2::text::bytea), title = $2,"
            " keywords_tsv = setweight(to_tsvector('english', $2), 'A') WHERE id = $1",
            page,
            words,
        )
        await self.index()


@pytest.fixture
async def gate() -> AsyncIterator[Gate]:
    async with open_gate(SERVER_URL or "") as opened:
        yield opened


@pytest.fixture
async def mirror(ground: Ground, gate: Gate) -> AsyncIterator[Mirror]:
    """Some pages and a product, indexed and sent."""
    await ground.conn.execute(EMPTY)
    names = Names(f"test-{uuid.uuid4().hex[:12]}-")
    async with open_server(gate.url) as server:
        mirror = Mirror(ground, ExternalSearch(server, names), gate)
        for number in range(6):
            await mirror.add(f"http://a.example/{number}", f"Tea {number}", f"a text about tea, number {number}")
        await mirror.a_product("http://a.example/pot", "Blue pot", "For tea.", price=20, currency="EUR", brand="Tansu")
        await mirror.index()
        await mirror.tend()
        yield mirror
        await gate.open()
        await server.tell("DELETE", f"/{names.prefix}*")
