"""The text of a page over HTTP: stored or made from its body, in three forms, compared, exported; never live HTML."""

import asyncpg
import httpx
from tests.builders import a_fetched
from tests.ground import Ground

from forager import clock
from forager.config.settings import Settings
from forager.storage.body_store import open_store

URL = "https://a.example/lamp"
OLD = "# Lamp\n\nIt shines.\n\n[x](https://a.example/<b>) \\<script>alert(1)\\</script>"
BODY = b"<h1>Lamp</h1><p>It <b>glows</b>.</p><script>alert(1)</script>"


async def visited(ground: Ground, conn: asyncpg.Connection, settings: Settings) -> tuple[int, int, int]:
    """A page, the task that kept its text, and a later one that kept its body."""
    run = await ground.a_run()
    domain = await ground.a_domain("a.example", run=run)
    page = await ground.a_page(URL, domain, status="fetched", fetched_at="(now())")
    fetched, now = a_fetched(200, BODY, URL, content_type="text/html"), clock.now()
    with open_store(settings.home) as store:
        kept = [store.pack("text", fetched, None, now, markdown=OLD), store.pack("snapshot", fetched, None, now)]
        results = store.store([each for each in kept if each is not None])
    tasks = []
    for result in results:
        await conn.execute(
            "INSERT INTO bodies (name, kind, size_bytes, stored_bytes) VALUES ($1, $2, 1, 1)", result.name, result.kind
        )
        tasks.append(
            await conn.fetchval(
                "INSERT INTO crawl_tasks (page_id, domain_id, run_id, status, outcome, status_code, requested_at,"
                " completed_at, response_time_ms, bytes, pace_ms, body_ref)"
                " VALUES ($1, $2, $3, 'completed', 'success', 200, now(), now(), 12, 99, 0, $4) RETURNING id",
                *(page, domain, run, result.ref),
            )
        )
    return page, tasks[0], tasks[1]


async def test_a_text_in_all_its_forms(
    admin: httpx.AsyncClient, ground: Ground, conn: asyncpg.Connection, settings: Settings
) -> None:
    page, old, new = await visited(ground, conn, settings)
    path = f"/api/pages/{page}/text"
    newest = await admin.get(path)
    assert (newest.status_code, newest.text) == (200, "# Lamp\n\nIt **glows**.")
    assert newest.headers["forager-task"] == str(new)
    assert (await admin.get(path, params={"task": old})).text == OLD

    types = {"markdown": "text/markdown", "text": "text/plain", "html": "text/html"}
    for form, media_type in types.items():
        found = await admin.get(path, params={"task": old, "format": form})
        assert found.headers["content-type"] == f"{media_type}; charset=utf-8"
        assert "sandbox" in found.headers["content-security-policy"]
        assert found.headers["x-content-type-options"] == "nosniff"
        assert "<script" not in found.text.replace("\\<", "") or form == "text"

    changed = await admin.get(path, params={"against": old})
    assert changed.headers["content-type"].startswith("text/x-diff")
    assert {"-It shines.", "+It **glows**."} <= set(changed.text.splitlines())
    assert (await admin.get(path, params={"task": old, "against": old})).text == ""

    lines = await admin.get("/api/exports/pages", params={"with": "text"})
    assert '"text":"# Lamp\\n\\nIt **glows**."' in lines.text
    table = await admin.get("/api/exports/pages", params={"with": "text", "format": "csv"})
    assert table.text.splitlines()[0].endswith(",text")
    assert (await admin.get("/api/exports/links", params={"with": "text"})).status_code == 422


async def test_where_there_is_none_it_says_why(
    admin: httpx.AsyncClient, ground: Ground, conn: asyncpg.Connection, settings: Settings
) -> None:
    page, old, new = await visited(ground, conn, settings)
    path = f"/api/pages/{page}/text"
    assert "There is no page 999999" in (await admin.get("/api/pages/999999/text")).json()["detail"]
    assert (await admin.get(path, params={"task": 999_999})).status_code == 404
    await conn.execute("UPDATE bodies SET dropped_at = now()")
    assert "was deleted" in (await admin.get(path)).json()["detail"]
    await conn.execute("UPDATE bodies SET dropped_at = NULL")
    for path_of in settings.home.glob("bodies/*/*.zst"):
        path_of.unlink()
    gone = await admin.get(path)
    assert gone.status_code in {404, 409, 503}, gone.text
    assert "store" in gone.json()["detail"]
    await conn.execute("ALTER TABLE crawl_tasks DISABLE TRIGGER crawl_tasks_closed_stay")
    await conn.execute("UPDATE crawl_tasks SET body_ref = NULL WHERE id = ANY ($1::bigint[])", [old, new])
    await conn.execute("ALTER TABLE crawl_tasks ENABLE TRIGGER crawl_tasks_closed_stay")
    said = (await admin.get(path)).json()["detail"]
    assert "the content policy is 'signals'" in said
    assert "forager domain a.example set --keep text" in said
