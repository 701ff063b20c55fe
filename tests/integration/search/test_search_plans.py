"""Searching, indexing and near-duplicates use their indexes: on filled tables nothing is read from end to end."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from tests.integration.search.conftest import IN_POSTGRES

from forager import clock
from forager.pages.queries import SQL as LISTING
from forager.search.cursor import EVER, NEVER
from forager.search.duplicates import SQL as DUPLICATES
from forager.search.index import FIRST
from forager.search.index import SQL as INDEX
from forager.search.postgres import SQL as SEARCH

pytestmark = [pytest.mark.both_servers, IN_POSTGRES]
FILL = """
INSERT INTO domains (name, parent_domain, base_url, status)
SELECT 'd' || n || '.example', '', '', 'active' FROM generate_series(1, 2000) n;
INSERT INTO pages (domain_id, url, url_hash, depth, priority, status, fetched_at, title, description, language,
                   keywords_tsv, simhash)
SELECT d.id, d.name || '/' || n, substring(sha256(convert_to(d.name || '/' || n, 'UTF8')) FOR 16), 1, 5, 'fetched',
       now() - interval '1 hour', 'title', repeat('x', 400),
       CASE WHEN d.id % 1000 = 0 AND n = 1 THEN 'cs' ELSE 'en' END,
       to_tsvector('simple', 'common word' || n || ' ' || d.name),
       hashint8extended(d.id, n)
FROM domains d, generate_series(1, 10) n;
INSERT INTO page_clusters (simhash, bands, pages) SELECT simhash, ARRAY[(simhash & 65535)::int], 1 FROM pages;
INSERT INTO indexed_pages (page_id, domain_id, config, read_at, cluster_id, terms)
SELECT p.id, p.domain_id, 'simple', now(), c.id, strip(p.keywords_tsv) || '''=t1'' ''=csimple'''::tsvector
FROM pages p JOIN page_clusters c ON c.simhash = p.simhash;
INSERT INTO products (domain_id, page_id, url, url_hash, product_name, content_hash, parser_name, parser_version,
                      confidence, is_valid, created_at, updated_at, last_seen_at)
SELECT domain_id, id, url, url_hash, 'common', url_hash, 'test', 1, 1, true, now(), now(), now()
FROM pages WHERE id % 4 = 0;
INSERT INTO indexed_products (product_id, config, updated_at, terms)
SELECT id, 'simple', updated_at, '''common'' ''=acommon'' ''=csimple'''::tsvector FROM products;
INSERT INTO search_words SELECT 'word' || n, 1, ARRAY[n, n + 1] FROM generate_series(1, 20000) n;
UPDATE page_clusters SET pages = 7 WHERE id % 1000 = 0;
ANALYZE;
"""
BIG = {"pages", "indexed_pages", "indexed_products", "products", "page_clusters", "search_words", "domains"}
QUERY = "'common' & '=t1'"
PLANS = {
    "candidates": (SEARCH["candidates"], ([QUERY], 1000, EVER, NEVER), {"indexed_pages_terms"}),
    "rank": (SEARCH["rank"], ([1, 2], ["simple", "simple"], ["simple"], ["'common'"], 300), {"pages_pkey"}),
    "count_unsearched": (SEARCH["count_unsearched"], (1000,), {"pages_unsearched"}),
    "pages_by_id": (LISTING["pages_by_id"], (None, None, "cs", None, None, None, None, 100), {"pages_language"}),
    "show": (SEARCH["show"], ([1, 2], ["simple"], ["'common'"]), {"pages_pkey"}),
    "rank_products": (
        SEARCH["rank_products"],
        (["'common' & '=acommon'"], 1000, ["simple"], ["'common'"], None, None, EVER, NEVER),
        {"indexed_products_terms", "products_pkey"},
    ),
    "show_products": (SEARCH["show_products"], ([1, 2], ["simple"], ["'common'"]), {"products_pkey"}),
    "known_words": (SEARCH["known_words"], (["word1"],), {"search_words_pkey"}),
    "near_words": (SEARCH["near_words"], ([5, 6],), {"search_words_near"}),
    "take_read": (INDEX["take_read"], (*FIRST, EVER, 500), {"pages_read"}),
    "count_waiting": (INDEX["count_waiting"], (clock.now(), 0, 100), {"pages_read"}),
    "find_clusters": (INDEX["find_clusters"], ([1, 2, 3],), {"page_clusters_bands"}),
    "put_pages": (INDEX["put_pages"], ([1], ["simple"], [1], ["d1 example"]), {"pages_pkey"}),
    "count_words": (INDEX["count_words"], (["word1"], [1]), {"search_words_pkey"}),
    "largest_clusters": (DUPLICATES["largest_clusters"], (None, None, 20), {"page_clusters_large"}),
    "clusters_of_domain": (DUPLICATES["clusters_of_domain"], (None, None, "d1.example", 20), {"indexed_pages_domain"}),
    "members": (DUPLICATES["members"], ([1, 2], 5), {"indexed_pages_cluster"}),
    "count_members": (DUPLICATES["count_members"], ([1, 2],), {"indexed_pages_cluster"}),
    "near_clusters": (DUPLICATES["near_clusters"], (1, [1, 2]), {"page_clusters_bands"}),
}


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


@pytest.fixture
async def filled(library: Any) -> AsyncIterator[Any]:
    empty = "TRUNCATE domains, pages, page_clusters, search_words CASCADE"
    await library.conn.execute(empty)
    await library.conn.execute(FILL)
    yield library.conn
    await library.conn.execute(empty)


async def plan_of(conn: Any, sql: str, arguments: tuple[Any, ...]) -> dict[str, Any]:
    found = json.loads(await conn.fetchval("EXPLAIN (FORMAT JSON) " + sql, *arguments))
    return dict(found[0]["Plan"])


async def test_no_statement_reads_a_table_from_end_to_end(filled: Any) -> None:
    """As the statements run: a search forbids whole tables to the planner, the others do not."""
    whole, missing = {}, {}
    for name, (sql, arguments, wanted) in PLANS.items():
        async with filled.transaction():
            if sql in SEARCH.values():
                await filled.execute(SEARCH["keep_it_short"], "20s")
            found = list(nodes(await plan_of(filled, sql, arguments)))
        read = {node["Relation Name"] for node in found if node["Node Type"] == "Seq Scan"} & BIG
        used = {node["Index Name"] for node in found if "Index Name" in node}
        if read:
            whole[name] = read
        if wanted - used:
            missing[name] = wanted - used
    assert (whole, missing) == ({}, {})


async def test_a_word_on_every_page_is_ranked_on_some_of_them(filled: Any) -> None:
    sql, arguments, _ = PLANS["candidates"]
    async with filled.transaction():
        await filled.execute(SEARCH["keep_it_short"], "20s")
        found = json.loads(await filled.fetchval("EXPLAIN (ANALYZE, FORMAT JSON) " + sql, *arguments))
    read = [node for node in nodes(found[0]["Plan"]) if node.get("Relation Name") == "indexed_pages"]
    assert sum(node["Actual Rows"] * node["Actual Loops"] for node in read) <= 1000
