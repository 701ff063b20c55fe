"""A small library of pages in a real database, read as a crawl reads them and indexed as the job does.

Every test of a library is run on PostgreSQL's own search, and on a real search server where `make test-search` has
started one: both have to pass.
"""

import hashlib
import os
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from tests.ground import Ground, database, database_url, ground

from forager.parsing.keywords import CONFIGS, search_config
from forager.parsing.simhash import simhash
from forager.search import index
from forager.search.bulk_index import push_changes
from forager.search.models import HitPage, ProductQuery, Query, SearchBackend
from forager.search.names import Names
from forager.search.opensearch import ServerSearch
from forager.search.postgres import PostgresSearch
from forager.search.server import open_server
from forager.search.service import ExternalSearch
from forager.search.sync import sync

__all__ = ["database", "database_url", "ground"]

SERVER_URL = os.environ.get("FORAGER_TEST_SEARCH_URL")
IN_POSTGRES = pytest.mark.in_postgres
"""For what only PostgreSQL does: a bound on what is ranked, near-duplicates."""
ENGINES = ["postgres", "opensearch"] if SERVER_URL else ["postgres"]
EMPTY = "TRUNCATE indexed_pages, indexed_products, page_clusters, search_languages, search_words, search_marks"
KEYWORDS = (
    "UPDATE pages SET keywords_tsv = setweight(to_tsvector($2::regconfig, $3), 'A') || to_tsvector($2::regconfig, $4)"
    " WHERE id = $1"
)


class Library:
    def __init__(self, ground: Ground, elsewhere: ExternalSearch | None = None) -> None:
        self.ground = ground
        self.conn = ground.conn
        self.elsewhere = elsewhere
        self.domains: dict[str, int] = {}

    async def add(
        self, url: str, title: str, text: str, *, language: str | None = "en", depth: int = 1, **columns: Any
    ) -> int:
        """A page that was read just now, unless `fetched_at` says when."""
        name = url.split("/")[2]
        if name not in self.domains:
            self.domains[name] = await self.ground.a_domain(name)
        given = {
            "status": "fetched",
            "fetched_at": "(now() - interval '1 second')",
            "title": title,
            "language": language,
            "description": text[:160],
            "content_hash": hashlib.sha256(f"{title}\n{text}".encode()).digest()[:16],
            "simhash": simhash(text),
        }
        page = await self.ground.a_page(url, self.domains[name], depth=depth, **given | columns)
        await self.conn.execute(KEYWORDS, page, search_config(language), title, text)
        return page

    async def a_product(self, url: str, name: str, description: str, **columns: Any) -> int:
        page = await self.add(url, name, description)
        product: int = await self.conn.fetchval(
            "INSERT INTO products (domain_id, page_id, url, url_hash, product_name, description, content_hash,"
            " parser_name, parser_version, confidence, is_valid, created_at, updated_at, last_seen_at)"
            " SELECT domain_id, id, url, url_hash, $2, $3, content_hash, 'test', 1, 1, true, now(), now(), now()"
            " FROM pages WHERE id = $1 RETURNING id",
            page,
            name,
            description,
        )
        await self.ground._set("products", product, columns)
        return product

    async def index(self) -> int:
        return (await index.index_many(self.conn, CONFIGS)).changed

    @property
    def backend(self) -> SearchBackend:
        if self.elsewhere is None:
            return PostgresSearch(self.conn)
        return ServerSearch(self.conn, self.elsewhere.server, self.elsewhere.names)

    async def tell_server(self) -> None:
        """As a search does: what changed is sent, and can be found at once."""
        if self.elsewhere is not None:
            server, names = self.elsewhere.server, self.elsewhere.names
            while (await push_changes(self.conn, server, names, is_hasty=True)).changes:
                pass
            await sync(self.conn, server, names, within_s=60)

    async def search(self, words: str, **filters: Any) -> HitPage:
        await self.tell_server()
        async with self.conn.transaction(readonly=True):
            return await self.backend.search_pages(Query(words, **filters))

    async def search_products(self, words: str, **filters: Any) -> HitPage:
        await self.tell_server()
        async with self.conn.transaction(readonly=True):
            return await self.backend.search_products(ProductQuery(words, **filters))

    async def correct(self, words: str) -> str | None:
        async with self.conn.transaction(readonly=True):
            return await self.backend.correct(words)

    async def found(self, words: str, **filters: Any) -> list[str]:
        """The URLs of the hits, without scheme."""
        return [hit.url.removeprefix("http://") for hit in (await self.search(words, **filters)).hits]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The search server is asked beside one PostgreSQL; which one it is makes no difference to it."""
    if "engine" in metafunc.fixturenames:
        engines = ["postgres"] if metafunc.definition.get_closest_marker("in_postgres") else ENGINES
        metafunc.parametrize("engine", engines, indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    doubled = [item for item in items if "opensearch" in item.nodeid and "external" in item.nodeid]
    config.hook.pytest_deselected(items=doubled)
    items[:] = [item for item in items if item not in doubled]


@pytest.fixture
async def engine(request: pytest.FixtureRequest) -> AsyncIterator[ExternalSearch | None]:
    """None: PostgreSQL."""
    if request.param == "postgres":
        yield None
        return
    assert SERVER_URL is not None
    names = Names(f"test-{uuid.uuid4().hex[:12]}-")
    async with open_server(SERVER_URL) as server:
        yield ExternalSearch(server, names)
        await server.tell("DELETE", f"/{names.prefix}*")


@pytest.fixture
async def library(ground: Ground, engine: ExternalSearch | None) -> Library:
    await ground.conn.execute(EMPTY)
    return Library(ground, engine)


@pytest.fixture
def paragraphs() -> Callable[[int], str]:
    """Long texts, each of words of its own."""

    def write(number: int) -> str:
        return " ".join(hashlib.sha256(f"{number} {place}".encode()).hexdigest()[:6] + "x" for place in range(60))

    return write
