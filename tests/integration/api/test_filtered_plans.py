# ruff: noqa: E501 (statements read best in one piece)
"""Each filter of a long list finds its rows by an index: what is read and thrown away stays small, however rare the value
and however old its rows. In a table with statistics as a crawl leaves them."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.integration.api.lists import SQL
from tests.integration.api.test_plans import nodes

from forager.db.pool import open_pool
from forager.db.types import Connection

ROWS = 10_000
NO = None
FIRST, NEWEST = 0, 10**9
LISTS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "pages, failed": ("pages_by_id", (FIRST, "failed", NO, NO, NO, NO, 101)),
    "pages, gone": ("pages_by_id", (FIRST, "gone", NO, NO, NO, NO, 101)),
    "pages, blocked, none": ("pages_by_id", (FIRST, "blocked", NO, NO, NO, NO, 101)),
    "pages, queued": ("pages_by_id", (FIRST, "queued", NO, NO, NO, NO, 101)),
    "pages, fetched": ("pages_by_id", (FIRST, "fetched", NO, NO, NO, NO, 101)),
    "pages, discovered": ("pages_by_id", (FIRST, "discovered", NO, NO, NO, NO, 101)),
    "pages, language": ("pages_by_id", (FIRST, NO, "fr", NO, NO, NO, 101)),
    "pages, language, none": ("pages_by_id", (FIRST, NO, "xx", NO, NO, NO, 101)),
    "pages, seeds": ("pages_by_id", (FIRST, NO, NO, True, NO, NO, 101)),
    "pages read, failed": ("pages_by_read", (NO, NO, "failed", NO, NO, NO, 101)),
    "pages read, language": ("pages_by_read", (NO, NO, NO, "fr", NO, NO, 101)),
    "pages read, seeds": ("pages_by_read", (NO, NO, NO, NO, True, NO, 101)),
    "pages read of a domain": ("pages_by_read", (NO, NO, NO, NO, NO, "d7.example", 101)),
    "pages of a domain, failed": ("pages_of_domain", (b"", "d7.example", "failed", NO, NO, 101)),
    "tasks of a domain": ("tasks_of_domain", (NEWEST, "d7.example", NO, NO, NO, NO, NO, NO, 101)),
    "tasks of a domain, failed": ("tasks_of_domain", (NEWEST, "d7.example", NO, "failed", NO, NO, NO, NO, 101)),
    "tasks, paused, none": ("tasks_by_id", (NEWEST, NO, "paused", NO, NO, NO, NO, NO, NO, NO, 101)),
    "tasks, pending": ("tasks_by_id", (NEWEST, NO, "pending", NO, NO, NO, NO, NO, NO, NO, 101)),
    "tasks, crawling": ("tasks_by_id", (NEWEST, NO, "crawling", NO, NO, NO, NO, NO, NO, NO, 101)),
    "tasks, failed": ("tasks_by_id", (NEWEST, NO, "failed", NO, NO, NO, NO, NO, NO, NO, 101)),
    "tasks, timeout": ("tasks_by_id", (NEWEST, NO, NO, "timeout", NO, NO, NO, NO, NO, NO, 101)),
    "tasks, robots, none": ("tasks_by_id", (NEWEST, NO, NO, "blocked_robots", NO, NO, NO, NO, NO, NO, 101)),
    "tasks, error": ("tasks_by_id", (NEWEST, NO, NO, NO, "connect_timeout", NO, NO, NO, NO, NO, 101)),
    "tasks, error, none": ("tasks_by_id", (NEWEST, NO, NO, NO, "no_such", NO, NO, NO, NO, NO, 101)),
    "tasks of an old run": ("tasks_by_id", (NEWEST, NO, NO, NO, NO, 1, NO, NO, NO, NO, 101)),
    "tasks, open": ("tasks_by_id", (NEWEST, NO, NO, NO, NO, NO, True, NO, NO, NO, 101)),
    "tasks, images": ("tasks_by_id", (NEWEST, NO, NO, NO, NO, NO, NO, True, NO, NO, 101)),
}
FILL = """
INSERT INTO domains (name, parent_domain, base_url)
SELECT 'd' || n || '.example', 'd' || n || '.example', 'http://d' || n || '.example/' FROM generate_series(1, 100) n;
INSERT INTO pages (domain_id, url, url_hash, depth, priority, is_seed, is_image, status, fetched_at, language)
SELECT (SELECT min(id) FROM domains) + n % 100, 'http://d' || n % 100 || '.example/' || n, decode(md5(n::text), 'hex'), 1, 5,
       n % 500 = 0, n > 200 AND n <= 400,
       CASE WHEN n > 9990 THEN 'queued' WHEN n > 9900 THEN 'discovered' WHEN n % 250 = 1 THEN 'failed' WHEN n % 700 = 2 THEN 'gone' ELSE 'fetched' END::page_status,
       CASE WHEN n <= 9900 AND n % 250 <> 1 THEN now() - make_interval(secs => 10000 - n) END,
       CASE WHEN n % 900 = 5 THEN 'fr' ELSE 'en' END
FROM generate_series(1, 10000) n;
INSERT INTO crawl_tasks (page_id, domain_id, run_id, status, outcome, error_code, requested_at, completed_at, pace_ms, status_code)
SELECT p.id, p.domain_id, CASE WHEN n <= 300 THEN 1 ELSE 2 END,
       CASE p.status WHEN 'failed' THEN 'failed' ELSE 'completed' END::task_status,
       CASE p.status WHEN 'failed' THEN CASE WHEN n % 500 = 1 THEN 'timeout' ELSE 'failed' END ELSE 'success' END::task_outcome,
       CASE WHEN p.status = 'failed' THEN CASE WHEN n % 500 = 1 THEN 'connect_timeout' ELSE 'http_500' END END,
       now(), now(), 0, CASE WHEN p.status <> 'failed' THEN 200 END
FROM (SELECT p.*, row_number() OVER (ORDER BY p.id) AS n FROM pages p) p WHERE p.status NOT IN ('queued', 'discovered') ORDER BY p.id;
INSERT INTO crawl_tasks (page_id, domain_id, status, run_id, locked_at, locked_by)
SELECT p.id, p.domain_id, 'crawling', 2, now(), 1 FROM pages p WHERE p.status = 'queued';
INSERT INTO crawl_tasks (page_id, domain_id, scheduled_for)
SELECT p.id, p.domain_id, now() + interval '1 day' FROM pages p WHERE p.status = 'fetched' AND p.id % 400 = 3;
"""


@pytest.fixture
async def large(database_url: str) -> AsyncIterator[Connection]:
    """As the API connects."""
    pool = await open_pool(database_url, size=1, application="forager test plans", statement_limit_s=30)
    try:
        async with pool.acquire() as conn:
            await conn.execute(FILL)
            await conn.execute("VACUUM ANALYZE pages, crawl_tasks, domains")
            yield conn
    finally:
        await pool.close()


async def test_each_filter_finds_its_rows_by_an_index(large: Connection) -> None:
    """One test for all: the table costs more than the questions. What was thrown away is counted, not guessed from
    the plan's form: a walk along the primary key is right for what is everywhere, and wrong for what is rare."""
    wasted = {title: await thrown_away(large, SQL[name], arguments) for title, (name, arguments) in LISTS.items()}
    assert {title: number for title, number in wasted.items() if number > ROWS // 20} == {}
    await check_that_plans_are_made_for_each_request(large)
    await check_that_a_task_knows_whether_it_is_of_an_image(large)


async def check_that_plans_are_made_for_each_request(conn: Connection) -> None:
    name, arguments = LISTS["pages, language"]
    for _ in range(10):
        await conn.fetch(SQL[name], *arguments)
    plans = await conn.fetchrow(
        "SELECT sum(generic_plans) AS generic, sum(custom_plans) AS custom FROM pg_prepared_statements"
        " WHERE statement LIKE 'SELECT p.id, p.url%'"
    )
    assert plans is not None
    assert (plans["generic"], plans["custom"]) == (0, 10)


async def check_that_a_task_knows_whether_it_is_of_an_image(conn: Connection) -> None:
    differ = "SELECT count(*) FROM crawl_tasks t JOIN pages p ON p.id = t.page_id WHERE t.is_image <> p.is_image"
    assert await conn.fetchval(differ) == 0
    assert await conn.fetchval("SELECT count(*) FROM crawl_tasks WHERE is_image") > 50


async def thrown_away(conn: Connection, statement: str, arguments: tuple[Any, ...]) -> int:
    """Rows that were read and did not pass a filter, and rows that were only read to be sorted."""
    told = await conn.fetchval("EXPLAIN (ANALYZE, FORMAT JSON) " + statement, *arguments)
    found = nodes(json.loads(told)[0]["Plan"])
    removed = sum(
        (node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)) * node["Actual Loops"]
        for node in found
    )
    return int(removed + sum(node["Actual Rows"] for node in found if node["Node Type"] == "Seq Scan"))
