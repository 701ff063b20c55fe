"""Scrape, crawl and map in Firecrawl's shape: roles, robots.txt, stored pages, what is rejected, and that it is off."""

from datetime import UTC, datetime
from typing import Any

import httpx
from tests.ground import Ground
from tests.integration.api.conftest import client_for, running, token_of

from forager import clock
from forager.accounts.identity import Role, Scope
from forager.config.settings import Settings
from forager.fetch.models import Fetched
from forager.storage import store
from forager.storage.body_store import open_store
from forager_playground import open_playground

SITE = "http://shop.example"
OFF = "switched off"


async def add_stored(ground: Ground, settings: Settings, url: str, body: str, **columns: Any) -> int:
    """A page that was read just now, under the policy `snapshot`."""
    page = await ground.new_page.fetched(url)
    fetched = Fetched(url, 200, {"content-type": "text/html"}, body.encode(), len(body), 1)
    with open_store(settings.home) as bodies:
        packed = bodies.pack("snapshot", fetched, None, clock.now())
        assert packed is not None
        (stored,) = bodies.store([packed])
    await store.note_bodies(ground.conn, [stored])
    await ground.conn.execute(
        "UPDATE pages SET fetched_at = now(), content_hash = $2, status = 'fetched' WHERE id = $1", page, bytes(16)
    )
    domain = await ground.conn.fetchval("SELECT domain_id FROM pages WHERE id = $1", page)
    given = {"run_id": None} | columns
    await ground.conn.execute(
        "INSERT INTO crawl_tasks"
        " (page_id, domain_id, run_id, status, outcome, status_code, completed_at, body_ref, is_image)"
        " VALUES ($1, $2, $3, 'completed', 'success', 200, now(), $4, false)",
        page,
        domain,
        given["run_id"],
        stored.ref,
    )
    return page


async def test_a_scrape_is_one_polite_fetch_on_record(admin: httpx.AsyncClient, ground: Ground) -> None:
    async with open_playground(["strict"]) as web:
        root = web.urls[0]
        for version in ("v1", "v2"):
            answer = await admin.post(
                f"/{version}/scrape", json={"url": root, "formats": ["markdown", "links", "rawHtml"]}
            )
            assert answer.status_code == 200, answer.text
            data = answer.json()["data"]
            assert data["metadata"]["statusCode"] == 200
            assert data["metadata"]["sourceURL"] == root
            assert data["metadata"]["title"]
            assert data["markdown"]
            assert data["rawHtml"].startswith("<!")
            assert all(link.startswith("http") for link in data["links"])
            assert "warning" not in data
        forbidden = sorted(web.answer_key.forbidden())[0]
        refusal = await admin.post("/v1/scrape", json={"url": forbidden})
        assert (refusal.status_code, "robots.txt" in refusal.json()["error"]) == (409, True)
    blocked = await admin.post("/v1/scrape", json={"url": "http://169.254.169.254/latest/"})
    assert blocked.status_code == 422
    assert "169.254.169.254" in blocked.json()["error"]
    actions = await ground.conn.fetch("SELECT action FROM audit_log WHERE action = 'page.fetch'")
    assert len(actions) == 3


async def test_a_stored_page_within_max_age_needs_no_request(
    admin: httpx.AsyncClient, ground: Ground, settings: Settings
) -> None:
    url = f"{SITE}/lamp"
    await add_stored(ground, settings, url, "<title>A lamp</title><main><h1>A lamp</h1><p>It is red.</p></main>")
    answer = (
        await admin.post("/v2/scrape", json={"url": url, "maxAge": 3_600_000, "formats": [{"type": "markdown"}]})
    ).json()
    assert "It is red." in answer["data"]["markdown"]
    assert answer["data"]["metadata"]["cacheState"] == "hit"
    html = (await admin.post("/v1/scrape", json={"url": url, "maxAge": 3_600_000, "formats": ["html"]})).json()
    assert "<p>It is red.</p>" in html["data"]["html"]
    assert "warning" not in html["data"]


REJECTED: tuple[tuple[str, dict[str, Any], int, str], ...] = (
    ("/v1/scrape", {"formats": ["screenshot"]}, 400, "screenshot"),
    ("/v2/scrape", {"formats": [{"type": "json", "schema": {}}]}, 400, "json"),
    ("/v1/scrape", {"waitFor": 500}, 400, "waitFor"),
    ("/v1/scrape", {"actions": [{"type": "click"}]}, 400, "actions"),
    ("/v1/scrape", {"headers": {"Cookie": "x"}}, 400, "headers"),
    ("/v1/scrape", {"ignoreRobotsTxt": True}, 422, "ignoreRobotsTxt: not supported"),
    ("/v1/crawl", {"webhook": "https://hook.example/"}, 400, "webhook"),
    ("/v2/crawl", {"sitemap": "only"}, 400, "sitemap"),
    ("/v1/crawl", {"includePaths": ["(a|b)"]}, 422, "path pattern"),
    ("/v1/crawl", {"limit": 0}, 422, "limit"),
    ("/v1/map", {"location": {"country": "US"}}, 400, "location"),
)


async def test_what_is_not_supported_is_said(admin: httpx.AsyncClient) -> None:
    for path, body, status, says in REJECTED:
        answer = await admin.post(path, json={"url": f"{SITE}/"} | body)
        assert (answer.status_code, says in answer.json()["error"]) == (status, True), answer.text


async def test_what_asks_for_nothing_is_accepted(admin: httpx.AsyncClient, ground: Ground) -> None:
    """Clients send many options with their defaults, and more with each version."""
    await ground.new_page.fetched(f"{SITE}/")
    body = {"url": f"{SITE}/", "ignoreRobotsTxt": False, "limit": None, "newOption": [], "sitemap": "skip"}
    answer = await admin.post("/v2/map", json=body)
    assert answer.status_code == 200, answer.text
    assert [link["url"] for link in answer.json()["links"]] == [f"{SITE}/"]


async def test_a_crawl_is_a_run(admin: httpx.AsyncClient, ground: Ground, settings: Settings) -> None:
    order = {
        "url": f"{SITE}/blog/",
        "limit": 5,
        "includePaths": ["^/blog/.*"],
        "maxDiscoveryDepth": 2,
        "ignoreSitemap": True,
        "scrapeOptions": {"formats": ["markdown", "links"]},
    }
    started = (await admin.post("/v1/crawl", json=order)).json()
    run, letters = started["id"].split("-")
    assert letters == "ml"
    row = await ground.conn.fetchrow("SELECT spec, max_pages, created_by FROM runs WHERE id = $1", int(run))
    assert row["max_pages"] == 5
    assert '"scope": "prefix"' in row["spec"].replace('":"', '": "')
    policy = await ground.conn.fetchval("SELECT content_policy FROM domains WHERE name = 'shop.example'")
    assert policy == "snapshot", "without bodies there would be nothing to return"
    status = (await admin.get(f"/v1/crawl/{started['id']}")).json()
    assert (status["status"], status["completed"], status["data"]) == ("scraping", 0, [])
    await add_stored(ground, settings, f"{SITE}/blog/one", "<main><p>The first.</p></main>", run_id=int(run))
    await add_stored(ground, settings, f"{SITE}/blog/two", "<main><p>Stored before.</p></main>")
    await add_stored(ground, settings, f"{SITE}/shop", "<main><p>Elsewhere.</p></main>")
    only_run = (await admin.get(f"/v1/crawl/{started['id']}")).json()
    assert [page["markdown"].strip() for page in only_run["data"]] == ["The first."]
    with_stored = (await admin.get(f"/v2/crawl/{started['id']}-60")).json()
    assert [page["markdown"].strip() for page in with_stored["data"]] == ["The first.", "Stored before."]
    assert datetime.fromisoformat(with_stored["expiresAt"]) > datetime.now(UTC)
    cancelled = await admin.delete(f"/v1/crawl/{started['id']}")
    assert cancelled.json() == {"status": "cancelled"}
    assert (await admin.get(f"/v1/crawl/{started['id']}")).json()["status"] == "cancelled"
    assert (await admin.get("/v1/crawl/999-m")).status_code == 404
    actions = {row["action"] for row in await ground.conn.fetch("SELECT action FROM audit_log")}
    assert {"run.start", "run.stop"} <= actions


async def test_pages_of_a_crawl_come_in_parts(admin: httpx.AsyncClient, ground: Ground) -> None:
    started = (await admin.post("/v1/crawl", json={"url": f"{SITE}/", "crawlEntireDomain": True})).json()
    run = int(started["id"].split("-")[0])
    for number in range(25):
        page = await ground.new_page.fetched(f"{SITE}/{number}")
        await ground.conn.execute(
            "INSERT INTO crawl_tasks (page_id, domain_id, run_id, status, outcome, status_code, completed_at, is_image)"
            " SELECT id, domain_id, $2, 'completed', 'success', 200, now(), false FROM pages WHERE id = $1",
            page,
            run,
        )
    first = (await admin.get(f"/v1/crawl/{started['id']}")).json()
    assert (first["completed"], len(first["data"])) == (25, 20)
    assert first["data"][0]["metadata"]["error"] == "Its body is not stored."
    rest = (await admin.get(first["next"])).json()
    assert len(rest["data"]) == 5
    assert "next" not in rest


async def test_who_may_do_what(
    admin: httpx.AsyncClient, user: httpx.AsyncClient, anybody: httpx.AsyncClient, ground: Ground
) -> None:
    await ground.new_page.fetched(f"{SITE}/")
    body = {"url": f"{SITE}/", "ignoreSitemap": True}
    assert (await anybody.post("/v1/map", json=body)).status_code == 401
    assert (await user.post("/v1/map", json=body)).status_code == 403
    assert (await user.post("/v1/scrape", json={"url": f"{SITE}/"})).status_code == 403
    started = (await admin.post("/v1/crawl", json={"url": f"{SITE}/"})).json()
    assert (await user.get(f"/v1/crawl/{started['id']}")).status_code == 200
    assert (await user.delete(f"/v1/crawl/{started['id']}")).status_code == 403


async def test_it_is_off_unless_switched_on(settings: Settings, conn: Any) -> None:
    token = await token_of(conn, Role.ADMIN, Scope.WRITE)
    async with running(settings.replace(api_firecrawl=False)) as app, client_for(app, token) as client:
        for answer in (
            await client.post("/v1/scrape", json={"url": f"{SITE}/"}),
            await client.get("/v1/crawl/1-m"),
            await client.post("/v2/map", json={"url": f"{SITE}/"}),
        ):
            assert answer.status_code == 404
            assert OFF in answer.json()["error"]
