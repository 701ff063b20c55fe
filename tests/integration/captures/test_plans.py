"""Captures of many domains are read from the index, a portion at a time."""

import json
from typing import Any

from tests.ground import Ground

from forager.captures.queries import SQL

FILL = """
INSERT INTO runs (spec, max_depth) VALUES ('{}', 10);
INSERT INTO domains (name, parent_domain, base_url, run_id)
SELECT 'd' || n || '.example', 'example', 'http://d' || n || '.example', (SELECT max(id) FROM runs)
FROM generate_series(1, 200) n;
INSERT INTO pages (domain_id, url, url_hash, depth, priority)
SELECT d.id, d.base_url || '/' || n, substring(sha256(convert_to(d.base_url || '/' || n, 'UTF8')) FROM 1 FOR 16), 1, 5
FROM domains d, generate_series(1, 100) n;
INSERT INTO crawl_tasks (page_id, domain_id, status, outcome, completed_at, body_ref)
SELECT p.id, p.domain_id, 'completed', 'success', now(), 'snapshot:' || repeat('a', 64)
FROM pages p, generate_series(1, 3);
ANALYZE;
"""
BIG = {"pages", "crawl_tasks"}


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(each for child in plan.get("Plans", ()) for each in nodes(child))]


async def test_portions_come_from_their_index(ground: Ground) -> None:
    conn = ground.conn
    await conn.execute(FILL)
    domains = [row["id"] for row in await conn.fetch("SELECT id FROM domains ORDER BY id")]
    for sql, arguments, index in (
        (SQL["captures_of_domains"], (domains, domains[3], 1, 1, 100), "crawl_tasks_captures"),
        (SQL["captures_of_page"], (1, None, 100), "crawl_tasks_bodies"),
        (SQL["versions_of_page"], (1, None, 21), "crawl_tasks_bodies"),
        (SQL["version_at"], (1, None), "crawl_tasks_bodies"),
    ):
        plan = json.loads(await conn.fetchval("EXPLAIN (FORMAT JSON) " + sql, *arguments))[0]["Plan"]
        found = nodes(plan)
        assert index in {node.get("Index Name") for node in found}
        assert not {node["Relation Name"] for node in found if node["Node Type"] == "Seq Scan"} & BIG
        assert not any(node["Node Type"] == "Sort" and node["Plan Rows"] > 5000 for node in found)
