"""Long lists follow an index in their order: no page of them costs a walk through the table, and none is sorted."""

import json
from typing import Any

import asyncpg
import pytest
from tests.ground import Ground
from tests.integration.api.lists import SQL

NO = None
LISTS: dict[str, tuple[Any, ...]] = {
    "domains_by_id": (1, *(NO,) * 9, 101),
    "domains_by_name": ("a", *(NO,) * 9, 101),
    "moves_of_domain": (1, "d1.example", 101),
    "days_of_domain": (NO, "d1.example", 101),
    "pages_by_id": (1, NO, NO, NO, NO, NO, NO, 101),
    "newest_pages": (10**9, NO, NO, NO, NO, NO, NO, 101),
    "pages_of_domain": (bytes(16), NO, NO, NO, "d1.example", 101),
    "frontier_by_domain": (1, 1, 1, 101),
    "frontier_of_domain": (1, 1, 1, "d1.example", 101),
    "tasks_by_id": (10**9, *(NO,) * 18, 101),
    "tasks_of_domain": (10**9, "d1.example", *(NO,) * 7, 101),
    "changes_by_id": (10**9, NO, NO, NO, 101),
    "images_by_id": (1, NO, NO, NO, NO, 101),
    "images_of_page": (1, 1, NO, NO, NO, NO, 101),
    "runs_by_id": (10**9, NO, 101),
    "workers_by_id": (10**9, 120.0, NO, 101),
}
SHORT = {
    *(
        "names_near",
        "top_domains",
        "domain_groups",
        "best_scores",
        "snapshots",
        "latest_visits",
        "task_id_at",
        "page_id_at",
        "page_rows",
        "ranked_pages_of_domain",
        "sightings",
        "pages_of_image",
        "similar_images",
        "parts",
        "lock_due",
    ),
    *("products_by_seen", "dropped_parsers", "parser_rates", "without_products"),
}
"""Statements with a limit that do not return a page of a long list."""
DEAR = "SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off"
BIG = {"domains", "pages", "crawl_tasks", "product_prices", "images", "runs", "workers", "domain_history"}


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for child in plan.get("Plans", ()) for node in nodes(child))]


@pytest.fixture
async def filled(conn: asyncpg.Connection) -> asyncpg.Connection:
    ground = Ground(conn)
    for number in range(1, 4):
        await ground.a_domain(f"d{number}.example", pages=20)
    await conn.execute("ANALYZE")
    return conn


@pytest.mark.parametrize("name", LISTS)
async def test_a_list_follows_an_index(filled: asyncpg.Connection, name: str) -> None:
    """With walks and sorts made dear, the planner takes them only where there is no other way."""
    async with filled.transaction():
        await filled.execute(
            "SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off"
        )
        plan = json.loads(await filled.fetchval("EXPLAIN (FORMAT JSON) " + SQL[name], *LISTS[name]))[0]["Plan"]
    found = nodes(plan)
    assert not [node for node in found if node["Node Type"] == "Sort"]
    assert not [node for node in found if node["Node Type"] == "Seq Scan" and node["Relation Name"] in BIG]


def test_every_list_is_looked_at() -> None:
    lists = {name for name in SQL if "LIMIT" in SQL[name]}
    assert (
        lists
        == LISTS.keys()
        | {"pages_by_read", "pages_by_change", "tasks_by_codes", "products_by_created", "list_item_pages"}
        | SHORT
    )


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("pages_by_read", (NO,) * 8 + (101,)),
        ("pages_by_change", (NO,) * 8 + (101,)),
        ("products_by_created", (NO,) * 10 + (101,)),
    ],
)
async def test_lists_by_time_begin_at_the_newest(
    filled: asyncpg.Connection, name: str, arguments: tuple[Any, ...]
) -> None:
    """Rows of one moment are put in order by their ids; that is no sort of the whole."""
    async with filled.transaction():
        await filled.execute(
            "SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off"
        )
        plan = json.loads(await filled.fetchval("EXPLAIN (FORMAT JSON) " + SQL[name], *arguments))[0]["Plan"]
    kinds = {node["Node Type"] for node in nodes(plan)}
    assert "Sort" not in kinds
    assert "Index Scan" in kinds
