"""A small library of pages in a real database, read as a crawl reads them and indexed as the duty does."""

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from tests.ground import Ground, database, database_url, ground

from forager.extract.keywords import CONFIGS, search_config
from forager.extract.simhash import simhash
from forager.records.search import HitPage, ProductQuery, Query
from forager.search import index
from forager.search.postgres import PostgresSearch

__all__ = ["database", "database_url", "ground"]

EMPTY = "TRUNCATE indexed_pages, indexed_products, page_clusters, search_languages, search_words, search_marks"
KEYWORDS = (
    "UPDATE pages SET keywords_tsv = setweight(to_tsvector($2::regconfig, $3), 'A') || to_tsvector($2::regconfig, $4)"
    " WHERE id = $1"
)


class Library:
    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.conn = ground.conn
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

    async def search(self, words: str, **filters: Any) -> HitPage:
        async with self.conn.transaction(readonly=True):
            return await PostgresSearch(self.conn).search_pages(Query(words, **filters))

    async def search_products(self, words: str, **filters: Any) -> HitPage:
        async with self.conn.transaction(readonly=True):
            return await PostgresSearch(self.conn).search_products(ProductQuery(words, **filters))

    async def found(self, words: str, **filters: Any) -> list[str]:
        """The URLs of the hits, without scheme."""
        return [hit.url.removeprefix("http://") for hit in (await self.search(words, **filters)).hits]


@pytest.fixture
async def library(ground: Ground) -> Library:
    await ground.conn.execute(EMPTY)
    return Library(ground)


@pytest.fixture
def paragraphs() -> Callable[[int], str]:
    """Long texts, each of words of its own."""

    def write(number: int) -> str:
        return " ".join(hashlib.sha256(f"{number} {place}".encode()).hexdigest()[:6] + "x" for place in range(60))

    return write
