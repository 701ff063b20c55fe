"""`restart-parsing` over HTTP: a stored body is read again without a request, and what it says is recorded."""

import asyncio
import os
import sys

import asyncpg
import httpx
from tests.builders import a_fetched
from tests.ground import Ground

from forager import clock
from forager.config.loader import to_environment
from forager.config.settings import Settings
from forager.storage.body_store import open_store
from forager.urls.normalize import url_key

URL = "https://a.example/lamp"
BODY = b"""<!doctype html><html lang="en"><head><title>A lamp</title>
<meta name="description" content="It shines."></head>
<body><p>A lamp of brass that shines all evening long.</p><a href="/shade">its shade</a></body></html>"""


async def visited(ground: Ground, conn: asyncpg.Connection, settings: Settings) -> int:
    """A page whose body was kept, and of which an older Forager understood another title, and no link."""
    run = await ground.a_run()
    domain = await ground.a_domain("a.example", run=run)
    page = await ground.a_page(URL, domain, status="fetched", fetched_at="(now())", title="what?", links_count=0)
    with open_store(settings.home) as body_store:
        kept = body_store.pack("snapshot", a_fetched(200, BODY, URL, content_type="text/html"), None, clock.now())
        assert kept is not None
        (shelved,) = body_store.store([kept])
    await conn.execute(
        "INSERT INTO bodies (name, kind, size_bytes, stored_bytes) VALUES ($1, 'snapshot', $2, $3)",
        shelved.name,
        shelved.size_bytes,
        shelved.stored_bytes,
    )
    task: int = await conn.fetchval(
        "INSERT INTO crawl_tasks (page_id, domain_id, run_id, status, outcome, status_code, requested_at, completed_at,"
        " response_time_ms, bytes, pace_ms, body_ref)"
        " VALUES ($1, $2, $3, 'completed', 'success', 200, now(), now(), 12, 99, 0, $4) RETURNING id",
        page,
        domain,
        run,
        shelved.ref,
    )
    return task


async def test_a_stored_body_is_read_again(
    admin: httpx.AsyncClient, ground: Ground, conn: asyncpg.Connection, settings: Settings
) -> None:
    task = await visited(ground, conn, settings)
    visits = await conn.fetchval("SELECT count(*) FROM crawl_tasks")
    answer = await admin.post(f"/api/admin/tasks/{task}/restart-parsing", json={"reason": "a better reader"})
    assert (answer.status_code, answer.json()["status"]) == (200, "completed"), answer.text
    assert (answer.json()["task_id"], answer.json()["pages"], answer.json()["changed"]) == (task, 1, 1)
    page = (await admin.get("/api/pages/find", params={"url": URL})).json()
    assert (page["title"], page["description"], page["language"]) == ("A lamp", "It shines.", "en")
    links = (await admin.get("/api/links", params={"url": URL})).json()
    assert "https://a.example/shade" in str(links)
    assert (
        await conn.fetchval("SELECT count(*) FROM pages WHERE url_hash = $1", url_key("https://a.example/shade")) == 1
    )
    assert await conn.fetchval("SELECT count(*) FROM crawl_tasks") == visits, "nothing was fetched"
    assert await steps(conn) == [("begun", None), ("done", "1")]

    again = (await admin.post(f"/api/admin/tasks/{task}/restart-parsing")).json()
    assert (again["pages"], again["changed"]) == (1, 0), "it says the same, however often it is read"
    assert await by_hand(task, settings) == 0
    noted = await conn.fetch("SELECT via FROM audit_log WHERE action = 'task.restart_parsing' ORDER BY id")
    assert [row["via"] for row in noted] == ["token"] * 4 + ["cli"], "each by who asked"


async def steps(conn: asyncpg.Connection) -> list[tuple[str, str | None]]:
    rows = await conn.fetch(
        "SELECT details->>'step', details->>'changed' FROM audit_log WHERE action = 'task.restart_parsing' ORDER BY id"
    )
    return [tuple(row) for row in rows]


async def by_hand(task: int, settings: Settings) -> int | None:
    command = (sys.executable, "-m", "forager", "tasks", "restart-parsing", str(task))
    process = await asyncio.create_subprocess_exec(
        *command, env=os.environ | to_environment(settings), stdout=asyncio.subprocess.DEVNULL
    )
    return await process.wait()


async def test_a_body_that_is_gone_is_said_to_be(
    admin: httpx.AsyncClient, ground: Ground, conn: asyncpg.Connection, settings: Settings
) -> None:
    task = await visited(ground, conn, settings)
    for file in (settings.home / "bodies").rglob("*"):
        if file.is_file():
            file.unlink()
    answer = await admin.post(f"/api/admin/tasks/{task}/restart-parsing")
    assert answer.status_code in {404, 409}, answer.text
    assert await conn.fetchval("SELECT title FROM pages WHERE url_hash = $1", url_key(URL)) == "what?"
    assert [step for step, _ in await steps(conn)] in ([], ["begun", "stopped"])
