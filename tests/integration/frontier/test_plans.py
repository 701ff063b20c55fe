"""Hot statements use their indexes: on filled tables no plan reads pages, tasks or domains from end to end."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

import pytest
from tests.ground import Ground

from forager.domains.store import SQL as DOMAINS
from forager.frontier.claim import SQL as CLAIM
from forager.frontier.store import SQL as FRONTIER

pytestmark = pytest.mark.both_servers

BIG = {"pages", "crawl_tasks", "domains", "page_link_lists"}
RUN, WORKER = 1, 1
FILL = """
INSERT INTO runs (spec, max_depth) VALUES ('{}', 10);
INSERT INTO workers (host, pid, pid_started) VALUES ('here', 1, 1);
INSERT INTO domains (name, parent_domain, base_url, status, ready_at, run_id, claimed_by, claim_expires_at)
SELECT 'd' || n || '.example', 'd' || n || '.example', 'http://d' || n || '.example',
       CASE WHEN n <= 60 THEN 'active' ELSE 'exhausted' END::domain_status,
       CASE WHEN n <= 60 THEN now() END, CASE WHEN n <= 200 THEN (SELECT max(id) FROM runs) END,
       CASE WHEN n <= 20 THEN 1 END, CASE WHEN n <= 20 THEN now() END
FROM generate_series(1, 4000) n;
INSERT INTO pages (domain_id, url, url_hash, depth, priority, description, status)
SELECT d.id, d.base_url || '/' || n, substring(sha256(convert_to(d.base_url || '/' || n, 'UTF8')) FROM 1 FOR 16), 1, 5,
       repeat('x', 800),
       CASE WHEN n % 2 = 0 THEN 'discovered' ELSE 'fetched' END::page_status
FROM (SELECT id, base_url FROM domains ORDER BY id LIMIT 200) d, generate_series(1, 100) n;
INSERT INTO crawl_tasks (page_id, domain_id, status, outcome, completed_at)
SELECT id, domain_id, 'completed', 'success', now() FROM pages WHERE status = 'fetched';
INSERT INTO crawl_tasks (page_id, domain_id) SELECT id, domain_id FROM pages WHERE status = 'fetched' AND id % 3 = 0;
INSERT INTO page_link_lists (from_page_id, domain_id, to_page_ids, anchors)
SELECT id, domain_id, ARRAY[id + 1, id + 2, id + 3], '' FROM pages WHERE status = 'fetched';
ANALYZE;
"""


class Hot(NamedTuple):
    sql: str
    args: tuple[Any, ...]
    indexes: set[str]
    """At least these are used."""


NO_PATTERNS = (None, None, None)
KEY = bytes(16)
STANDING = ([0.0], [1.0], [0.0], [None], ["closed"], [0], [None], [0])
HOT = {
    "claim_domains": Hot(
        CLAIM["claim_domains"],
        (WORKER, RUN, 100, 60.0, 1.0, None, [""], 120.0, 30.0, None, None),
        {"domains_claimable", "domains_held"},
    ),
    "claim_tasks": Hot(
        CLAIM["claim_tasks"],
        ([1, 2], [1, 1], [50, 50], WORKER, RUN, None, 10, *NO_PATTERNS, False),
        {"pages_frontier", "pages_pkey"},  # and one of the two indexes of open tasks
    ),
    "free_tasks": Hot(CLAIM["free_tasks"], ([1, 2],), {"crawl_tasks_open"}),
    "add_pages": Hot(
        FRONTIER["add_pages"],
        ([1, 2], ["http://x/", "http://y/"], [KEY, KEY], [1, 1], [5, 5], [0, 0], False, False, False),
        {"pages_domain_id_url_hash_key"},
    ),
    "find_pages": Hot(FRONTIER["find_pages"], ([1, 2], [KEY, KEY]), {"pages_domain_id_url_hash_key"}),
    "next_pages": Hot(FRONTIER["next_pages"], ([1, 2], [KEY, b""], [20, 20]), {"pages_domain_id_url_hash_key"}),
    "update_depths": Hot(FRONTIER["update_depths"], ([1, 2], [0, 0]), {"pages_pkey", "page_link_lists_pkey"}),
    "close_tasks": Hot(
        FRONTIER["close_tasks"],
        ([1], ["success"], [None], [200], [None], [None], [None], [1], [1], [None], [0], [None], [None], [None]),
        {"crawl_tasks_pkey"},
    ),
    "save_signals": Hot(
        FRONTIER["save_signals"],
        (
            *([1], ["t"], ["d"], ["en"], [KEY], ["x"], [1], [None], [None], [None], [None], [None]),
            *([None], [None], [None], [None], ["en"], ["english"], ["english"], [bytes(4)]),
        ),
        {"pages_pkey"},
    ),
    "save_keywords": Hot(
        FRONTIER["save_keywords"], ([1], ["t"], ["h"], ["d"], ["w"], ["en"], ["english"]), {"pages_pkey"}
    ),
    "record_states": Hot(FRONTIER["record_states"], ([1], ["gone"], [None], [None], [None]), {"pages_pkey"}),
    "delete_links": Hot(FRONTIER["delete_links"], ([1, 2],), {"page_link_lists_pkey"}),
    "add_revisits": Hot(FRONTIER["add_revisits"], ([1], [1.0]), {"crawl_tasks_pkey"}),
    "add_retries": Hot(FRONTIER["add_retries"], ([1], [1.0]), {"crawl_tasks_pkey"}),
    "hold_leases": Hot(DOMAINS["hold_leases"], ([1, 2], [1, 1], WORKER), set()),
    "count_visits": Hot(
        DOMAINS["count_visits"],
        ([1], [1], [1], [0], [0], [0], [0], [None], [False], 60.0, *STANDING, [0]),
        {"domains_pkey"},
    ),
    "count_discovered": Hot(DOMAINS["count_discovered"], ([1], [1], RUN), {"domains_pkey"}),
    "wake_due": Hot(DOMAINS["wake_due"], (RUN,), {"domains_asleep"}),
    "renew_leases": Hot(DOMAINS["renew_leases"], (WORKER, 60.0), {"domains_claimed"}),
    "release": Hot(
        DOMAINS["release"],
        ([1], [0.0], [0.0], [None], [None], 10, *NO_PATTERNS, [None], 3, 60.0, True, [False], [False], *STANDING[1:]),
        {"domains_pkey", "pages_frontier"},
    ),
    "free_lost_leases": Hot(DOMAINS["free_lost_leases"], (60.0, 1.0, 7), {"domains_claimed"}),
    "next_ready": Hot(
        DOMAINS["next_ready"], (RUN, None, [""], 5.0, 60.0), {"domains_claimable", "domains_held", "domains_asleep"}
    ),
}


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def read_ends(plan: dict[str, Any]) -> set[str]:
    return {node["Relation Name"] for node in nodes(plan) if node["Node Type"] == "Seq Scan"} & BIG


def indexes(plan: dict[str, Any]) -> set[str]:
    named = {node["Index Name"] for node in nodes(plan) if "Index Name" in node}
    return named | {name for node in nodes(plan) for name in node.get("Conflict Arbiter Indexes", ())}


async def explain_custom(conn: Any, hot: Hot) -> dict[str, Any]:
    """As planned for these very values."""
    found = json.loads(await conn.fetchval("EXPLAIN (FORMAT JSON) " + hot.sql, *hot.args))
    return dict(found[0]["Plan"])


async def explain_generic(conn: Any, name: str, hot: Hot) -> dict[str, Any]:
    """As planned once for all values, which is what a worker's prepared statements come to."""
    await conn.execute(f"PREPARE {name} AS {hot.sql}")
    nothing = ", ".join(["NULL"] * len(hot.args))
    found = json.loads(await conn.fetchval(f"EXPLAIN (FORMAT JSON) EXECUTE {name} ({nothing})"))
    return dict(found[0]["Plan"])


@pytest.fixture
async def filled(ground: Ground) -> AsyncIterator[Any]:
    """On empty files, so that what other tests left behind does not sway the planner."""
    empty = "TRUNCATE runs, workers, domains, pages, page_link_lists CASCADE"
    await ground.conn.execute(empty)
    await ground.conn.execute(FILL)
    yield ground.conn
    await ground.conn.execute(empty)


async def test_hot_statements_use_their_indexes(filled: Any) -> None:
    conn = filled
    found = {name: await explain_custom(conn, hot) for name, hot in HOT.items()}
    await conn.execute("SET plan_cache_mode = force_generic_plan")
    found |= {f"{name}, generic": await explain_generic(conn, name, hot) for name, hot in HOT.items()}
    assert {name: read_ends(plan) for name, plan in found.items() if read_ends(plan)} == {}
    missing = {name: HOT[name.partition(",")[0]].indexes - indexes(plan) for name, plan in found.items()}
    assert {name: which for name, which in missing.items() if which} == {}


async def test_pages_that_are_too_deep_are_told_by_the_index_alone(filled: Any) -> None:
    """A crawl that is limited in depth knows many times as many pages as it visits, and claims twice a second."""
    found = nodes(await explain_custom(filled, HOT["claim_tasks"]))
    (condition,) = {node["Index Cond"] for node in found if node.get("Index Name") == "pages_frontier"}
    assert "depth <=" in condition


async def test_the_guard_would_notice(ground: Ground) -> None:
    plan = await explain_custom(ground.conn, Hot("SELECT count(*) FROM pages WHERE title = $1", ("x",), set()))
    assert read_ends(plan) == {"pages"}
