"""Filters of the lists of tasks, pages and domains over HTTP."""

from typing import Any

import httpx
import pytest
from tests.ground import Ground

from forager.db import scans


async def rows(client: httpx.AsyncClient, path: str, **filters: Any) -> list[dict[str, Any]]:
    """All rows of a list, page by page."""
    found: list[dict[str, Any]] = []
    after: str | None = None
    while True:
        given = filters | ({"after": after} if after else {})
        answer = await client.get(path, params=given)
        assert answer.status_code == 200, answer.text
        found += answer.json()["items"]
        after = answer.json()["next"]
        if after is None:
            return found


async def urls(client: httpx.AsyncClient, path: str, **filters: Any) -> list[str]:
    return [row["url"].rpartition("/")[2] for row in await rows(client, path, **filters)]


@pytest.fixture
async def visits(ground: Ground) -> Ground:
    """Tasks of all kinds, in two domains."""
    await ground.a_domain("a.example", source="tranco")
    await ground.a_domain("b.example", parser_name="amazon")
    await ground.new_task.successful("http://a.example/ok")
    await ground.new_task.not_found("http://a.example/gone")
    await ground.new_task.server_error("http://a.example/down")
    await ground.new_task.timed_out("http://b.example/slow", completed_at="(now() - interval '3 days')")
    await ground.new_task.scheduled("http://b.example/later", priority=1, created_by="cli:ann")
    await ground.new_task.locked("http://b.example/now")
    return ground


async def test_tasks_by_what_people_ask_for(admin: httpx.AsyncClient, visits: Ground) -> None:
    worker = await visits.conn.fetchval("SELECT id FROM workers")
    day_ago = await visits.conn.fetchval("SELECT now() - interval '1 day'")
    for filters, found in (
        ({"status_code": "404"}, ["gone"]),
        ({"status_code": "5xx"}, ["down"]),
        ({"status_code": "2xx"}, ["ok"]),
        ({"status_code": "4xx", "domain": "b.example"}, []),
        ({"q": "EXAMPLE/l"}, ["later"]),
        ({"q": "slow", "domain": "b.example"}, ["slow"]),
        ({"worker": worker}, ["now"]),
        ({"worker": worker, "domain": "a.example"}, []),
        ({"created_by": "cli:ann"}, ["later"]),
        ({"created_by": "system", "is_open": True}, ["now"]),
        ({"priority": 1}, ["later"]),
        ({"source": "tranco"}, ["down", "gone", "ok"]),
        ({"parser": "amazon"}, ["now", "later", "slow"]),
        ({"completed_since": day_ago.isoformat()}, ["down", "gone", "ok"]),
        ({"completed_until": day_ago.isoformat()}, ["slow"]),
        ({"created_since": day_ago.isoformat(), "status": "failed"}, ["slow", "down", "gone"]),
        ({"created_until": day_ago.isoformat()}, []),
        ({"error_code": "timeout", "created_by": "system"}, ["slow"]),
    ):
        for path in ("/api/tasks", "/api/admin/tasks"):
            assert await urls(admin, path, **filters) == found, filters
            assert await urls(admin, path, limit=1, **filters) == found, filters
    for bad in (
        {"status_code": "6xx"},
        {"status_code": "40"},
        {"priority": 11},
        {"q": ""},
        {"completed_since": "soon"},
    ):
        assert (await admin.get("/api/tasks", params=bad)).status_code == 422, bad


async def test_a_task_tells_when_it_last_changed(admin: httpx.AsyncClient, ground: Ground) -> None:
    task = await ground.new_task.scheduled(created_at="(now() - interval '1 day')", amended_at=None)

    async def told() -> dict[str, Any]:
        (row,) = (await admin.get("/api/tasks", params={"limit": 1})).json()["items"]
        assert row["updated_at"] == (await admin.get(f"/api/tasks/{task}")).json()["updated_at"]
        return dict(row)

    made = await told()
    assert made["updated_at"] >= made["created_at"]
    before = made["updated_at"]
    for verb in ("pause", "resume"):
        await admin.post(f"/api/admin/tasks/{task}/{verb}")
        row = await told()
        assert row["updated_at"] > before
        before = row["updated_at"]
    await ground.conn.execute(
        "UPDATE crawl_tasks SET status = 'crawling', locked_at = now() + interval '1 minute', locked_by = 1"
        " WHERE id = $1",
        task,
    )
    claimed = await told()
    assert claimed["updated_at"] == claimed["locked_at"]
    assert await ground.conn.fetchval("SELECT amended_at < locked_at FROM crawl_tasks WHERE id = $1", task)
    await admin.post(f"/api/admin/tasks/{task}/cancel")
    closed = await told()
    assert closed["updated_at"] == closed["completed_at"]


async def test_filters_without_an_index_read_in_portions(
    admin: httpx.AsyncClient, ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of the list may end early, even empty; all pages together are complete."""
    monkeypatch.setattr(scans, "SCANNED", 3)
    monkeypatch.setattr(scans, "LONGEST_S", 0.0)
    domain = await ground.a_domain("a.example")
    for number in range(20):
        page = await ground.a_page(f"http://a.example/{'x' if number % 9 == 4 else 'y'}{number}", domain)
        await ground.a_task(page)
    first = (await admin.get("/api/tasks", params={"q": "/x"})).json()
    assert ([row["url"] for row in first["items"]], first["next"] is not None) == ([], True)
    assert await urls(admin, "/api/tasks", q="/x") == ["x13", "x4"]
    assert await urls(admin, "/api/tasks", q="/x", domain="a.example") == ["x13", "x4"]
    assert await urls(admin, "/api/tasks", q="/y", limit=2) == [f"y{n}" for n in range(19, -1, -1) if n % 9 != 4]
    assert await urls(admin, "/api/pages", q="/x") == ["x4", "x13"]
    assert await urls(admin, "/api/pages", q="/x", sort="-found") == ["x13", "x4"]
    for sort in ("found", "depth", "priority"):
        assert sorted(await urls(admin, "/api/pages", q="/x", domain="a.example", sort=sort)) == ["x13", "x4"]


async def test_pages_by_what_people_ask_for(admin: httpx.AsyncClient, visits: Ground) -> None:
    day_ago = (await visits.conn.fetchval("SELECT now() - interval '1 day'")).isoformat()
    await visits.conn.execute("UPDATE pages SET depth = 3, changed_at = now() WHERE url LIKE '%/ok'")
    for filters, found in (
        ({"status_code": "404"}, ["gone"]),
        ({"status_code": "5xx"}, ["down"]),
        ({"outcome": "timeout"}, ["slow"]),
        ({"error_code": "timeout", "domain": "b.example"}, ["slow"]),
        ({"q": "/L"}, ["later"]),
        ({"depth": 3}, ["ok"]),
        ({"source": "tranco"}, ["ok", "gone", "down"]),
        ({"parser": "amazon"}, ["slow", "later", "now"]),
        ({"discovered_until": day_ago}, []),
        ({"fetched_since": day_ago}, ["ok"]),
        ({"fetched_until": day_ago}, []),
        ({"changed_since": day_ago}, ["ok"]),
        ({"sort": "-changed_at"}, ["ok"]),
        ({"sort": "-found", "source": "tranco"}, ["down", "gone", "ok"]),
        ({"sort": "depth", "domain": "a.example"}, ["gone", "down", "ok"]),
    ):
        assert await urls(admin, "/api/pages", **filters) == found, filters
        assert await urls(admin, "/api/pages", limit=1, **filters) == found, filters
    (row,) = await rows(admin, "/api/pages", sort="-changed_at")
    assert row["updated_at"] == row["fetched_at"]
    assert (await admin.get("/api/pages", params={"sort": "depth"})).status_code == 422
    assert (await admin.get("/api/pages", params={"sort": "hash"})).status_code == 422


async def test_domains_by_what_people_ask_for(admin: httpx.AsyncClient, visits: Ground) -> None:
    await visits.a_domain("eu.example", worker_label="eu")
    await visits.new_domain.blocked("shut.example")
    for filters, found in (
        ({"source": "tranco"}, ["a.example"]),
        ({"source": "link", "parser": "auto", "label": ""}, ["shut.example"]),
        ({"parser": "amazon"}, ["b.example"]),
        ({"label": "eu"}, ["eu.example"]),
        ({"status": "blocked"}, ["shut.example"]),
        ({"parent": "a.example", "source": "tranco"}, ["a.example"]),
    ):
        for path in ("/api/domains", "/api/admin/domains"):
            assert [row["name"] for row in await rows(admin, path, **filters)] == found, filters
        top = (await admin.get("/api/domains/top", params=filters)).json()["items"]
        assert [row["name"] for row in top] == found, filters


async def test_a_domain_whose_budget_is_used_says_so(admin: httpx.AsyncClient, ground: Ground) -> None:
    run = await ground.a_run()
    await ground.a_domain("a.example", run=run, pages=3, max_pages_per_run=2, run_pages=2)
    await ground.a_domain("b.example", run=run, pages=3, max_pages_per_run=2, run_pages=1)
    told = {row["name"]: row["is_budget_used"] for row in await rows(admin, "/api/domains")}
    assert told == {"a.example": True, "b.example": False}


async def test_workers_tell_what_they_work_on(admin: httpx.AsyncClient, ground: Ground) -> None:
    worker = await ground.a_worker()
    tasks = [await ground.new_task.locked(f"http://a.example/{number}", worker=worker) for number in range(12)]
    await ground.a_worker()
    idle, busy = (await admin.get("/api/workers")).json()["items"]
    assert (idle["tasks"], idle["current"]) == (0, [])
    assert busy["tasks"] == 12
    assert [each["task_id"] for each in busy["current"]] == tasks[:10]
    assert busy["current"][0]["url"] == "http://a.example/0"
