"""What an operator sees, against rows planted by hand."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from forager.cli.flags import DomainStatus, PageStatus, TaskStatus
from forager.domains import queries as domain_queries
from forager.errors import NotFoundError
from forager.frontier import task_status
from forager.frontier.models import OutcomeKind
from forager.pages import queries as page_queries
from forager.runs import queries as run_queries
from forager.tasks import queries as task_queries

HOUR_AGO = datetime.now(UTC) - timedelta(hours=1)


async def test_domains_with_most_pages_come_first(world: Any) -> None:
    rows = await domain_queries.top_domains(world.conn, by="pages")
    assert [row["name"] for row in rows] == ["shop.example", "idle.example"]
    assert rows[0]["pages_discovered"] == 5
    assert not rows[0]["is_leased"]
    assert [row["name"] for row in await domain_queries.list_domains(world.conn, status="pending")] == ["idle.example"]
    assert len(await domain_queries.top_domains(world.conn, by="pages", limit=1)) == 1


async def test_domains_are_added_up_by_what_they_have_in_common(world: Any) -> None:
    await world.conn.execute("UPDATE domains SET parent_domain = 'example', images_stored = 6, pages_crawled = 3")
    (both,) = await domain_queries.group_domains(world.conn, by="parent")
    shop = (await domain_queries.group_domains(world.conn, by="status", limit=1))[0]
    assert (both["name"], both["domains"], both["pages_discovered"], both["pages_read"]) == ("example", 2, 5, 3)
    assert (both["images_stored"], both["coverage"], both["image_yield_rate"]) == (12, 3 / 5, 4)
    assert (shop["name"], shop["domains"], shop["image_yield_rate"]) == ("active", 1, 2)
    for by in ("source", "parser"):
        assert sum(row["domains"] for row in await domain_queries.group_domains(world.conn, by=by)) == 2


async def test_pages_carry_their_latest_closed_task(world: Any) -> None:
    await world.close("http://shop.example/later", "blocked_5xx", 503, error_code="http_status")
    pages = (await page_queries.list_pages(world.conn)).rows
    rows = {row["url"]: row for row in await page_queries.add_latest_visits(world.conn, pages)}
    assert len(rows) == 5
    assert rows["http://shop.example/"]["outcome"] == "success"
    assert rows["http://shop.example/later"]["status_code"] == 503
    assert rows["http://shop.example/later"]["status"] == "queued"
    assert rows["http://shop.example/new"]["outcome"] is None


async def test_a_page_tells_how_often_it_was_tried(world: Any) -> None:
    """Also that older visits may have left the database."""
    before = await page_queries.find_page(world.conn, "http://shop.example/later")
    assert (before["visits"], before["requests"], before["first_visit_at"]) == (0, 0, None)
    task = await world.close("http://shop.example/later", "blocked_5xx", 503, error_code="http_status")
    page = await page_queries.find_page(world.conn, "http://shop.example/later")
    assert page["visits"] == 1
    assert page["first_visit_at"] is not None
    assert not page["has_archived_visits"]
    await world.conn.execute(
        "INSERT INTO archived_rows (domain_id, outcome, is_image, tasks, errors, refused)"
        " SELECT domain_id, 'failed', false, 3, 3, 0 FROM crawl_tasks WHERE id = $1",
        task,
    )
    whole = await page_queries.get_page(world.conn, page["id"])
    assert (whole["visits"], whole["requests"], whole["has_archived_visits"]) == (1, page["requests"], True)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"domain": "shop.example"}, 5),
        ({"domain": "https://WWW.shop.example/x"}, 5),
        ({"domain": "idle.example"}, 0),
        ({"status": "fetched"}, 2),
        ({"outcome": "blocked_4xx"}, 1),
        ({"domain": "shop.example", "status": "gone", "outcome": "blocked_4xx"}, 1),
        ({"status": "gone", "outcome": "success"}, 0),
        ({"status_code": "404"}, 1),
        ({"status_code": "2xx"}, 2),
        ({"status_code": "5xx"}, 0),
        ({"status_code": "2xx", "domain": "shop.example"}, 2),
        ({"error_code": "http_status"}, 1),
        ({"url_part": "ABOUT"}, 1),
        ({"depth": 0}, 1),
        ({"depth": 2, "priority": 5}, 1),
        ({"priority": 1}, 0),
        ({"source": "link"}, 5),
        ({"source": "tranco"}, 0),
        ({"parser": "auto"}, 5),
        ({"parser": "amazon"}, 0),
        ({"discovered_since": HOUR_AGO}, 5),
        ({"discovered_until": HOUR_AGO}, 0),
        ({"fetched_since": HOUR_AGO}, 2),
        ({"fetched_until": HOUR_AGO}, 0),
        ({"fetched_since": HOUR_AGO, "changed_since": HOUR_AGO}, 0),
        ({"changed_since": HOUR_AGO}, 0),
        ({"limit": 2}, 2),
    ],
)
async def test_filters_of_pages(world: Any, filters: dict[str, Any], found: int) -> None:
    limit = filters.pop("limit", None)
    wanted = page_queries.PageFilter(**filters)
    assert len((await page_queries.list_pages(world.conn, wanted, limit=limit)).rows) == found


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, 4),
        ({"is_open": True}, 1),
        ({"is_open": False}, 3),
        ({"url": "http://shop.example/gone#x"}, 1),
        ({"url": "http://shop.example/unknown"}, 0),
        ({"domain": "idle.example"}, 0),
        ({"status": "pending"}, 1),
        ({"status": "failed", "error_code": "http_status"}, 1),
        ({"status": "completed", "error_code": "http_status"}, 0),
        ({"is_image": False}, 4),
        ({"is_image": True}, 0),
        ({"batch": 4711}, 0),
        ({"status_code": "404"}, 1),
        ({"status_code": "4xx"}, 1),
        ({"status_code": "2xx"}, 2),
        ({"status_code": "5xx"}, 0),
        ({"status_code": "4xx", "is_open": True}, 0),
        ({"status_code": "4xx", "is_open": False}, 1),
        ({"status_code": "4xx", "domain": "shop.example"}, 1),
        ({"status_code": "4xx", "status": "completed"}, 0),
        ({"status_code": "4xx", "error_code": "http_status", "is_image": False}, 1),
        ({"status_code": "4xx", "url_part": "about"}, 0),
        ({"url_part": "/ABOUT"}, 1),
        ({"url_part": "shop.example", "domain": "shop.example"}, 4),
        ({"priority": 5}, 4),
        ({"priority": 1}, 0),
        ({"created_by": "system"}, 4),
        ({"created_by": "system", "domain": "shop.example"}, 4),
        ({"created_by": "cli:ann"}, 0),
        ({"source": "link"}, 4),
        ({"source": "tranco"}, 0),
        ({"parser": "auto", "domain": "shop.example"}, 4),
        ({"parser": "amazon"}, 0),
        ({"worker": 1}, 0),
        ({"created_since": HOUR_AGO}, 4),
        ({"created_until": HOUR_AGO}, 0),
        ({"created_since": HOUR_AGO, "domain": "shop.example"}, 4),
        ({"created_until": HOUR_AGO, "domain": "shop.example"}, 0),
        ({"completed_since": HOUR_AGO}, 3),
        ({"completed_since": HOUR_AGO, "domain": "shop.example"}, 3),
        ({"completed_until": HOUR_AGO}, 0),
        ({"completed_since": HOUR_AGO, "status_code": "4xx"}, 1),
    ],
)
async def test_filters_of_tasks(world: Any, filters: dict[str, Any], found: int) -> None:
    wanted = task_queries.TaskFilter(**filters)
    assert len((await task_queries.list_tasks(world.conn, wanted)).rows) == found


async def test_tasks_of_a_run_newest_first(world: Any) -> None:
    wanted = task_queries.TaskFilter(run=world.run)
    ids = [row["id"] for row in (await task_queries.list_tasks(world.conn, wanted)).rows]
    assert ids == sorted(ids, reverse=True)
    with pytest.raises(NotFoundError, match="There is no run 4711"):
        await task_queries.list_tasks(world.conn, task_queries.TaskFilter(run=4711))


async def test_runs_say_what_they_did(world: Any) -> None:
    (run,) = await run_queries.list_runs(world.conn)
    assert (run["pages_done"], run["pages_ok"], run["bytes"]) == (3, 2, 300)
    assert run["spec"]["seeds"] == ["http://shop.example/"]


async def test_one_domain_with_everything(world: Any) -> None:
    card = await domain_queries.describe_domain(world.conn, "shop.example")
    assert card["page_states"] == {"discovered": 1, "queued": 1, "fetched": 2, "gone": 1}
    assert [(row["outcome"], row["reason"], row["tasks"]) for row in card["outcomes"]] == [
        ("success", "200", 2),
        ("blocked_4xx", "404", 1),
    ]
    assert card["origins"] == []


async def test_an_unknown_domain_comes_with_close_ones(world: Any) -> None:
    with pytest.raises(NotFoundError, match=r"There is no domain 'shop.exmaple'. Did you mean shop.example\?"):
        await domain_queries.describe_domain(world.conn, "shop.exmaple")
    with pytest.raises(NotFoundError, match="`forager domains` lists them all"):
        await domain_queries.describe_domain(world.conn, "zzz%_'; DROP TABLE pages --")


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("domain_status", DomainStatus),
        ("page_status", PageStatus),
        ("task_outcome", OutcomeKind),
    ],
)
async def test_the_words_of_flags_are_those_of_the_database(conn: Any, kind: str, names: Any) -> None:
    stored = await conn.fetchval(f"SELECT enum_range(NULL::{kind})::text[]")
    assert stored == [name.value for name in names]


def test_states_of_tasks_are_those_of_the_frontier() -> None:
    assert [each.value for each in TaskStatus] == [each.value for each in task_status.TaskStatus]


async def test_a_refresh_does_not_halve_the_images_per_page(world: Any) -> None:
    """Visits are counted again with every refresh, pages and images are not."""
    sql = """UPDATE domains SET pages_discovered = 5, pages_crawled = $1, images_found = 20, images_stored = 10
             WHERE name = 'shop.example' RETURNING image_yield_rate, avg_images_per_page"""
    async with world.conn.transaction():
        assert tuple(await world.conn.fetchrow(sql, 5)) == (2.0, 4.0)
        assert tuple(await world.conn.fetchrow(sql, 10)) == (2.0, 4.0)


async def test_domains_rank_by_images_that_were_only_seen_where_none_are_stored(world: Any) -> None:
    await world.conn.execute("UPDATE domains SET images_found = 9, pages_crawled = 3 WHERE name = 'shop.example'")
    first, *_ = await domain_queries.top_domains(world.conn, by="yield", limit=5)
    assert (first["name"], first["images_stored"]) == ("shop.example", 0)
    assert first["avg_images_per_page"] > 0
