# ruff: noqa: E501 (statements read best in one piece)
"""Each filter of a long list finds its rows by an index: what is read and thrown away stays small, however rare the value
and however old its rows. In a table with statistics as a crawl leaves them."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.integration.api.lists import SQL
from tests.integration.api.test_plans import nodes

from forager.db.pool import open_pool
from forager.db.types import Connection

ROWS = 10_000
NO = None
FIRST, NEWEST = 0, 10**9
COLUMNS = {
    "pages_by_id": ("after", "status", "language", "is_seed", "domain", "first", "last", "limit"),
    "pages_by_read": ("at", "after", "status", "language", "is_seed", "domain", "since", "until", "limit"),
    "pages_by_change": ("at", "after", "status", "language", "is_seed", "domain", "since", "until", "limit"),
    "pages_of_domain": ("after", "status", "language", "is_seed", "domain", "limit"),
    "tasks_by_id": (
        *(
            "after",
            "domain",
            "status",
            "outcome",
            "error",
            "run",
            "is_open",
            "is_image",
            "batch",
            "page",
            "first",
            "worker",
        ),
        *("low", "high", "author", "created_since", "created_until", "since", "until", "limit"),
    ),
    "tasks_of_domain": (
        *("after", "domain", "status", "outcome", "error", "run", "is_open", "is_image", "first", "limit"),
    ),
    "list_item_pages": ("after", "type", "domain", "page", "limit"),
    "tasks_by_codes": ("after", "low", "high", "first", "limit"),
    "domains_by_id": (
        *("after", "status", "is_active", "parent", "run", "part", "breaker", "source", "parser", "label", "limit"),
    ),
}


def asked(statement: str, **filters: Any) -> tuple[str, tuple[Any, ...]]:
    """A list's first page, from its newest row on, with these filters."""
    given: dict[str, Any] = {
        "after": NEWEST if statement.startswith("tasks") else b"" if statement == "pages_of_domain" else FIRST
    }
    if statement in {"pages_by_read", "pages_by_change"}:
        given = {"after": NO}
    given |= {"limit": 101} | filters
    assert given.keys() <= set(COLUMNS[statement]), "a filter that the statement does not have"
    return statement, tuple(given.get(column) for column in COLUMNS[statement])


def moment(days: float) -> datetime:
    return datetime.now(UTC) - timedelta(days=days)


LISTS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "pages, failed": asked("pages_by_id", status="failed"),
    "pages, gone": asked("pages_by_id", status="gone"),
    "pages, blocked, none": asked("pages_by_id", status="blocked"),
    "pages, queued": asked("pages_by_id", status="queued"),
    "pages, fetched": asked("pages_by_id", status="fetched"),
    "pages, discovered": asked("pages_by_id", status="discovered"),
    "pages, language": asked("pages_by_id", language="fr"),
    "pages, language, none": asked("pages_by_id", language="xx"),
    "pages, seeds": asked("pages_by_id", is_seed=True),
    "pages read, failed": asked("pages_by_read", status="failed"),
    "pages read, language": asked("pages_by_read", language="fr"),
    "pages read, seeds": asked("pages_by_read", is_seed=True),
    "pages read of a domain": asked("pages_by_read", domain="d7.example"),
    "pages read long ago": asked("pages_by_read", until=moment(1 / 10)),
    "pages changed": asked("pages_by_change"),
    "pages changed lately, none": asked("pages_by_change", since=moment(1 / 10_000_000)),
    "pages of a domain, failed": asked("pages_of_domain", domain="d7.example", status="failed"),
    "tasks of a domain": asked("tasks_of_domain", domain="d7.example"),
    "tasks of a domain, failed": asked("tasks_of_domain", domain="d7.example", outcome="failed"),
    "tasks, paused, none": asked("tasks_by_id", status="paused"),
    "tasks, pending": asked("tasks_by_id", status="pending"),
    "tasks, crawling": asked("tasks_by_id", status="crawling"),
    "tasks, failed": asked("tasks_by_id", status="failed"),
    "tasks, timeout": asked("tasks_by_id", outcome="timeout"),
    "tasks, robots, none": asked("tasks_by_id", outcome="blocked_robots"),
    "tasks, error": asked("tasks_by_id", error="connect_timeout"),
    "tasks, error, none": asked("tasks_by_id", error="no_such"),
    "tasks of an old run": asked("tasks_by_id", run=1),
    "tasks, open": asked("tasks_by_id", is_open=True),
    "tasks, images": asked("tasks_by_id", is_image=True),
    "tasks of a worker": asked("tasks_by_id", worker=1),
    "tasks of a worker, none": asked("tasks_by_id", worker=2),
    "tasks, 404": asked("tasks_by_id", low=404, high=404),
    "tasks, 418, none": asked("tasks_by_id", low=418, high=418),
    "tasks, 200": asked("tasks_by_id", low=200, high=200),
    "tasks, 4xx": asked("tasks_by_codes", low=400, high=499),
    "tasks, 5xx, none": asked("tasks_by_codes", low=500, high=599),
    "tasks of an author": asked("tasks_by_id", author="cli:ann"),
    "tasks of an author, none": asked("tasks_by_id", author="cli:bob"),
    "tasks completed in a week, none": asked("tasks_by_id", since=moment(7), until=moment(6)),
    "domains, source": asked("domains_by_id", source="tranco"),
    "domains, source, none": asked("domains_by_id", source="api"),
    "domains, parser": asked("domains_by_id", parser="amazon"),
    "domains, label": asked("domains_by_id", label="eu"),
    "domains, blocked": asked("domains_by_id", status="unreachable"),
    "items, type": asked("list_item_pages", type="recipe"),
    "items, type, none": asked("list_item_pages", type="event"),
    "domains, parent": asked("domains_by_id", parent="d7.example"),
}
FILL = """
INSERT INTO domains (name, parent_domain, base_url, source, parser_name, worker_label, status, block_reason_code)
SELECT 'd' || n || '.example', 'd' || n || '.example', 'http://d' || n || '.example/',
       CASE WHEN n % 1000 = 5 THEN 'tranco' ELSE 'link' END, CASE WHEN n % 1000 = 6 THEN 'amazon' ELSE 'auto' END,
       CASE WHEN n % 1000 = 7 THEN 'eu' ELSE '' END, CASE WHEN n % 1000 = 8 THEN 'unreachable' ELSE 'pending' END::domain_status,
       CASE WHEN n % 1000 = 8 THEN 'timeout' END
FROM generate_series(1, 10000) n;
INSERT INTO pages (domain_id, url, url_hash, depth, priority, is_seed, is_image, status, fetched_at, language)
SELECT (SELECT min(id) FROM domains) + n % 100, 'http://d' || n % 100 || '.example/' || n, decode(md5(n::text), 'hex'), 1, 5,
       n % 500 = 0, n > 200 AND n <= 400,
       CASE WHEN n > 9990 THEN 'queued' WHEN n > 9900 THEN 'discovered' WHEN n % 250 = 1 THEN 'failed' WHEN n % 700 = 2 THEN 'gone' ELSE 'fetched' END::page_status,
       CASE WHEN n <= 9900 AND n % 250 <> 1 THEN now() - make_interval(secs => 10000 - n) END,
       CASE WHEN n % 900 = 5 THEN 'fr' ELSE 'en' END
FROM generate_series(1, 10000) n;
INSERT INTO page_details (page_id, structured_data, content_hash, item_types)
SELECT id, '\\x00', '\\x00', CASE WHEN id % 1500 = 7 THEN ARRAY['recipe'] ELSE ARRAY['product', 'offer'] END FROM pages;
UPDATE pages SET changed_at = fetched_at WHERE id % 300 = 7;
INSERT INTO crawl_tasks (page_id, domain_id, run_id, status, outcome, error_code, requested_at, created_at, completed_at, pace_ms, status_code)
SELECT p.id, p.domain_id, CASE WHEN n <= 300 THEN 1 ELSE 2 END,
       CASE p.status WHEN 'failed' THEN 'failed' ELSE 'completed' END::task_status,
       CASE p.status WHEN 'failed' THEN CASE WHEN n % 500 = 1 THEN 'timeout' ELSE 'failed' END ELSE 'success' END::task_outcome,
       CASE WHEN p.status = 'failed' THEN CASE WHEN n % 500 = 1 THEN 'connect_timeout' ELSE 'http_500' END END,
       now(), now() - make_interval(days => 10 * ((10000 - n) / 200)::int), now() - make_interval(days => 10 * ((10000 - n) / 200)::int), 0,
       CASE WHEN p.status = 'gone' THEN 404 WHEN p.status <> 'failed' THEN 200 END
FROM (SELECT p.*, row_number() OVER (ORDER BY p.id) AS n FROM pages p) p WHERE p.status NOT IN ('queued', 'discovered') ORDER BY p.id;
INSERT INTO crawl_tasks (page_id, domain_id, status, run_id, locked_at, locked_by)
SELECT p.id, p.domain_id, 'crawling', 2, now(), 1 FROM pages p WHERE p.status = 'queued';
INSERT INTO crawl_tasks (page_id, domain_id, scheduled_for, created_by)
SELECT p.id, p.domain_id, now() + interval '1 day', CASE WHEN p.id % 3 = 0 THEN 'cli:ann' ELSE 'revisit' END FROM pages p WHERE p.status = 'fetched' AND p.id % 400 = 3;
"""


@pytest.fixture
async def large(database_url: str) -> AsyncIterator[Connection]:
    """As the API connects."""
    pool = await open_pool(database_url, size=1, application="forager test plans", statement_limit_s=30)
    try:
        async with pool.acquire() as conn:
            await conn.execute(FILL)
            await conn.execute("VACUUM ANALYZE pages, page_details, crawl_tasks, domains")
            yield conn
    finally:
        await pool.close()


async def test_each_filter_finds_its_rows_by_an_index(large: Connection) -> None:
    """One test for all: the table costs more than the questions. What was thrown away is counted, not guessed from
    the plan's form: a walk along the primary key is right for what is everywhere, and wrong for what is rare."""
    wasted = {title: await thrown_away(large, SQL[name], arguments) for title, (name, arguments) in LISTS.items()}
    assert {title: number for title, number in wasted.items() if number > ROWS // 20} == {}
    await check_that_what_is_old_is_found_by_bisection(large)
    await check_that_plans_are_made_for_each_request(large)
    await check_that_a_task_knows_whether_it_is_of_an_image(large)


async def check_that_what_is_old_is_found_by_bisection(conn: Connection) -> None:
    """Newest first, what is old comes last: a walk would pass all that is newer. Ids grow with time."""
    expected = "SELECT min(id) FROM crawl_tasks WHERE created_at >= $1"
    for days in (600, 455, 305, 5, -1):
        at = moment(days)
        first = await conn.fetchval(SQL["task_id_at"], at, 100)
        assert first == (
            await conn.fetchval(expected, at) or await conn.fetchval("SELECT max(id) + 1 FROM crawl_tasks")
        )
    assert await conn.fetchval(SQL["task_id_at"], moment(305), 100_000) is None, "so small that no bound is needed"
    bound = await conn.fetchval(SQL["task_id_at"], moment(305), 100)
    for filters in ({"until": moment(305)}, {"created_until": moment(305)}):
        assert await thrown_away(conn, *prepared(*asked("tasks_by_id", after=bound, **filters))) < ROWS // 20
    assert await conn.fetchval(SQL["page_id_at"], moment(1), 100) == await conn.fetchval("SELECT min(id) FROM pages")


def prepared(name: str, arguments: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    return SQL[name], arguments


async def check_that_plans_are_made_for_each_request(conn: Connection) -> None:
    name, arguments = LISTS["pages, language"]
    for _ in range(10):
        await conn.fetch(SQL[name], *arguments)
    plans = await conn.fetchrow(
        "SELECT sum(generic_plans) AS generic, sum(custom_plans) AS custom FROM pg_prepared_statements"
        " WHERE statement LIKE 'SELECT p.id%FROM pages p%ORDER BY p.id%'"
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
