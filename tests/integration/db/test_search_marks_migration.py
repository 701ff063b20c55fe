"""Products that were indexed before their names, prices and days had marks get them with the migration, once."""

import asyncio

import asyncpg

from forager.db import migrate

A_PRODUCT = """
WITH d AS (INSERT INTO domains (name, parent_domain, base_url) VALUES ('a.example', '', '') RETURNING id),
p AS (INSERT INTO pages (domain_id, url, url_hash, depth, priority)
      SELECT id, 'http://a.example/', repeat('x', 16)::bytea, 0, 5 FROM d RETURNING id, domain_id, url, url_hash),
r AS (INSERT INTO products (domain_id, page_id, url, url_hash, product_name, price, content_hash, parser_name,
                            parser_version, confidence, is_valid, created_at, updated_at, last_seen_at)
      SELECT domain_id, id, url, url_hash, 'Blue kettle', 24.99, url_hash, 'test', 1, 1, true, now(),
             '2026-11-16 12:00Z', now() FROM p RETURNING id, updated_at)
INSERT INTO indexed_products (product_id, config, updated_at, terms)
SELECT id, 'english', updated_at, '''blue'':1A ''kettl'':2A ''water'':4 ''=cenglish'''::tsvector FROM r
"""
MARKS = ["=ablue", "=akettl", "=cenglish", "=e20261116", "=m202611", "=p1"]


async def test_products_get_their_marks(database_url: str) -> None:
    async def marks() -> list[str]:
        connection = await asyncpg.connect(database_url)
        try:
            found = await connection.fetchval("SELECT tsvector_to_array(terms) FROM indexed_products")
        finally:
            await connection.close()
        return sorted(term for term in found if term.startswith("="))

    connection = await asyncpg.connect(database_url)
    await connection.execute(A_PRODUCT)
    await connection.close()
    await asyncio.to_thread(migrate.downgrade, database_url, "0016")
    assert await marks() == ["=cenglish"]
    await asyncio.to_thread(migrate.upgrade, database_url)
    assert await marks() == MARKS
