"""Changes through the API: what they do, who is on record for them, and that a refused one leaves nothing."""

import json
from typing import Any

import asyncpg
import httpx
import pytest
from fastapi import FastAPI
from tests.ground import Ground
from tests.integration.api.conftest import client_for, token_of

from forager.accounts.identity import Role, Scope
from forager.explain.check import check

SEEDS = {"urls": ["https://a.example/", "https://b.example/x", "nonsense", "http://10.0.0.1/"]}


async def noted(conn: asyncpg.Connection, action: str) -> list[dict[str, Any]]:
    rows = await conn.fetch("SELECT *, details::text AS told FROM audit_log WHERE action = $1 ORDER BY id", action)
    return [dict(row) | {"told": json.loads(row["told"])} for row in rows]


async def assert_kept(conn: asyncpg.Connection) -> None:
    async with conn.transaction(isolation="repeatable_read", readonly=True):
        broken = [(f.name, f.examples) for v in await check(conn) for f in v.findings if f.broken]
    assert broken == []


@pytest.fixture
def ground(conn: asyncpg.Connection) -> Ground:
    return Ground(conn)


async def test_seeds_are_planted_and_the_bad_ones_told(admin: httpx.AsyncClient, conn: asyncpg.Connection) -> None:
    answer = await admin.post("/api/frontier/seed", json=SEEDS)
    told = answer.json()
    assert (told["seeds"], told["new_pages"], told["new_domains"], told["bad"]) == (2, 2, 2, 2)
    assert [bad["line"] for bad in told["bad_seeds"]] == [3, 4]
    assert await conn.fetchval("SELECT count(*) FROM pages WHERE is_seed AND priority = 1") == 2
    again = (await admin.post("/api/frontier/seed", json=SEEDS)).json()
    assert (again["new_pages"], again["known"]) == (0, 2)
    assert [row["who"] for row in await noted(conn, "frontier.seed")] == ["api:admin-admin"] * 2
    await assert_kept(conn)


async def test_urls_that_are_added_are_no_seeds(admin: httpx.AsyncClient, conn: asyncpg.Connection) -> None:
    assert (await admin.post("/api/frontier/add", json={"urls": ["https://a.example/x"]})).json()["new_pages"] == 1
    row = await conn.fetchrow("SELECT is_seed, priority FROM pages")
    assert row is not None
    assert (row["is_seed"], row["priority"]) == (False, 2)
    await assert_kept(conn)


async def test_a_dry_run_of_seeds_changes_nothing(admin: httpx.AsyncClient, conn: asyncpg.Connection) -> None:
    told = (await admin.post("/api/frontier/seed", json={**SEEDS, "dry_run": True})).json()
    assert (told["seeds"], told["bad"], told["dry_run"]) == (2, 2, True)
    assert await conn.fetchval("SELECT count(*) FROM domains") == 0
    assert await noted(conn, "frontier.seed") == []


async def test_a_domain_is_added_with_all_its_settings(admin: httpx.AsyncClient, conn: asyncpg.Connection) -> None:
    settings = {"parser": "amazon", "delay": 2, "revisit_every": 86_400, "user_agent": "shop-bot/1"}
    body = {"url": "https://shop.example/", "settings": settings, "hold": True}
    answer = await admin.post("/api/admin/domains", json=body)
    assert answer.status_code == 201, answer.text
    added = answer.json()
    assert (added["name"], added["is_new"], added["new_pages"]) == ("shop.example", True, 1)
    card = (await admin.get("/api/domains/shop.example")).json()
    assert (card["id"], card["is_active"], card["parser_name"]) == (added["id"], False, "amazon")
    found = (await admin.get("/api/domains/shop.example/settings")).json()["settings"]
    assert {row["name"]: row["origin"] for row in found if row["name"] in settings} == dict.fromkeys(settings, "domain")
    again = (await admin.post("/api/admin/domains", json={"url": "https://shop.example/"})).json()
    assert again == {"id": added["id"], "name": "shop.example", "is_new": False, "new_pages": 0}
    await assert_kept(conn)


async def test_a_domain_is_paused_and_resumed(
    admin: httpx.AsyncClient, ground: Ground, conn: asyncpg.Connection
) -> None:
    domain = await ground.a_domain("a.example", pages=1)
    paused = await admin.post("/api/admin/domains/a.example/pause", json={"reason": "the owner asked"})
    assert paused.json() == {"name": "a.example", "is_active": False, "was_turned": True, "is_leased": False}
    assert (await ground.domain(domain))["is_active"] is False
    history = (await admin.get("/api/domains/a.example/history")).json()["items"]
    assert (history[0]["reason"], history[0]["moved_by"]) == ("the owner asked", "api:admin-admin")
    await admin.post("/api/admin/domains/a.example/resume")
    assert (await ground.domain(domain))["is_active"] is True
    (note,) = await noted(conn, "domain.pause")
    assert (note["object_id"], note["told"]["reason"], note["via"]) == ("a.example", "the owner asked", "token")


async def test_a_domain_is_configured(admin: httpx.AsyncClient, ground: Ground) -> None:
    domain = await ground.a_domain("a.example")
    changes = {"delay": 2.5, "window": "22:00-06:00", "is_active": False}
    answer = await admin.patch("/api/admin/domains/a.example", json=changes)
    assert answer.status_code == 200, answer.text
    row = await ground.domain(domain)
    assert (row["crawl_delay_s"], str(row["maintenance_start"]), row["is_active"]) == (2.5, "22:00:00", False)
    cleared = await admin.patch("/api/admin/domains/a.example", json={"delay": None})
    assert cleared.status_code == 200
    assert (await ground.domain(domain))["crawl_delay_s"] is None
    assert (await admin.patch("/api/admin/domains/a.example", json={})).status_code == 422
    assert (await admin.patch("/api/admin/domains/a.example", json={"claimed_by": 1})).status_code == 422


async def test_what_is_refused_is_not_on_record(
    admin: httpx.AsyncClient, ground: Ground, conn: asyncpg.Connection
) -> None:
    await ground.a_domain("a.example")
    half = await admin.patch("/api/admin/domains/a.example", json={"window": "22:00", "is_active": False})
    assert half.status_code == 422
    assert await conn.fetchval("SELECT is_active FROM domains") is True
    assert await noted(conn, "domain.configure") == []


async def test_a_blocked_domain_is_reset(admin: httpx.AsyncClient, ground: Ground) -> None:
    domain = await ground.a_domain("a.example", pages=1)
    blocked = await admin.post("/api/admin/domains/a.example/block", json={"reason": "by order"})
    assert blocked.status_code == 200, blocked.text
    assert (await ground.domain(domain))["status"] == "blocked"
    assert (await admin.post("/api/admin/domains/a.example/reset")).json()["status"] == "pending"


async def test_a_task_is_ordered_paused_resumed_cancelled_and_restarted(
    admin: httpx.AsyncClient, conn: asyncpg.Connection
) -> None:
    made = await admin.post("/api/admin/tasks", json={"url": "https://a.example/x", "priority": 3})
    assert made.status_code == 201, made.text
    task = made.json()["task_id"]
    for verb, status in (("pause", "paused"), ("pause", "paused"), ("resume", "pending"), ("cancel", "cancelled")):
        answer = await admin.post(f"/api/admin/tasks/{task}/{verb}")
        assert (answer.status_code, answer.json()["status"]) == (200, status), answer.text
    assert (await admin.post(f"/api/admin/tasks/{task}/pause")).status_code == 409
    first = (await admin.post(f"/api/admin/tasks/{task}/restart", json={"priority": 1})).json()
    second = (await admin.post(f"/api/admin/tasks/{task}/restart", json={"priority": 1})).json()
    assert first["task_id"] == second["task_id"] != task
    assert (first["retry_count"], first["priority"]) == (0, 1)
    assert {"task_id", "status", "scheduled_at", "retry_count", "message"} <= first.keys()
    for name, when in (("scheduled_at", "2036-01-31T10:00:00+00:00"), ("scheduled_for", "2036-02-01T10:00:00+00:00")):
        later = (await admin.post(f"/api/admin/tasks/{task}/restart", json={name: when})).json()
        assert (later["was_changed"], later["scheduled_for"], later["scheduled_at"]) == (True, when, when)
        assert (await admin.post(f"/api/admin/tasks/{task}/restart", json={name: when})).json()["was_changed"] is False
    moved = await admin.patch(f"/api/admin/tasks/{first['task_id']}/priority", json={"priority": 9})
    assert moved.json()["priority"] == 9
    assert (await admin.patch(f"/api/admin/tasks/{task}/priority", json={"priority": 11})).status_code == 422
    assert len(await noted(conn, "task.restart")) == 6
    ordered = {"url": "https://a.example/y", "scheduled_at": "2036-01-31T10:00:00+00:00"}
    assert (await admin.post("/api/admin/tasks", json=ordered)).json()["scheduled_for"] == ordered["scheduled_at"]
    both = ordered | {"scheduled_for": ordered["scheduled_at"]}
    assert (await admin.post("/api/admin/tasks", json=both)).status_code == 422
    for number, name in enumerate(("crawl_frequency", "revisit_every_s")):
        order = {"url": f"https://a.example/often/{number}", name: 3600}
        assert (await admin.post("/api/admin/tasks", json=order)).status_code == 201
        query = "SELECT t.revisit_every_s FROM crawl_tasks t JOIN pages p ON p.id = t.page_id WHERE p.url = $1"
        assert await conn.fetchval(query, order["url"]) == 3600.0
    await assert_kept(conn)


async def test_parsing_again_needs_a_stored_body(admin: httpx.AsyncClient) -> None:
    task = (await admin.post("/api/admin/tasks", json={"url": "https://a.example/x"})).json()["task_id"]
    answer = await admin.post(f"/api/admin/tasks/{task}/restart-parsing")
    assert answer.status_code == 409
    assert "no body was kept" in answer.json()["detail"]
    assert (await admin.post("/api/admin/tasks/999/restart-parsing")).status_code == 404


async def test_bulk_verbs_have_a_dry_run(admin: httpx.AsyncClient, conn: asyncpg.Connection) -> None:
    orders = [{"url": f"https://a.example/{number}"} for number in range(3)]
    batch = await admin.post("/api/admin/tasks/batch", json={"name": "three", "tasks": orders})
    assert (batch.status_code, batch.json()["new"]) == (201, 3)
    tried = (await admin.post("/api/admin/tasks/pause", json={"domain": "a.example", "dry_run": True})).json()
    assert (tried["count"], tried["dry_run"]) == (3, True)
    assert await conn.fetchval("SELECT count(*) FROM crawl_tasks WHERE status = 'paused'") == 0
    done = (await admin.post("/api/admin/tasks/pause", json={"batch_id": batch.json()["batch_id"]})).json()
    assert done["count"] == 3
    assert await conn.fetchval("SELECT count(*) FROM crawl_tasks WHERE status = 'paused'") == 3
    assert len(await noted(conn, "tasks.pause")) == 1


async def test_a_dry_run_says_which_seeds_would_not_be_visited(admin: httpx.AsyncClient, ground: Ground) -> None:
    """It used to say that all of them would be crawled; a page that was read is not visited again by a run."""
    domain = await ground.a_domain("a.example")
    await ground.a_page("http://a.example/", domain, status="fetched", fetched_at="(now())")
    order = {"urls": ["http://a.example/", "http://a.example/new"], "dry_run": True}
    told = (await admin.post("/api/admin/runs", json=order)).json()
    assert (told["visited"], told["waiting"]) == (["http://a.example/"], 0)


async def test_a_run_is_ordered_and_stopped(admin: httpx.AsyncClient, conn: asyncpg.Connection) -> None:
    order = {"urls": ["https://a.example/"], "max_pages": 10, "scope": "host"}
    assert (await admin.post("/api/admin/runs", json={**order, "dry_run": True})).json()["run"] is None
    assert await conn.fetchval("SELECT count(*) FROM runs") == 0
    made = await admin.post("/api/admin/runs", json=order)
    assert made.status_code == 201, made.text
    run = made.json()["run"]
    shown = (await admin.get(f"/api/runs/{run}")).json()
    assert (shown["status"], shown["created_by"]) == ("running", "api:admin-admin")
    assert (await admin.post(f"/api/admin/runs/{run}/stop")).status_code == 200
    assert (await admin.post("/api/admin/runs/999/stop")).status_code == 404


async def test_a_proxys_password_goes_in_and_never_out(admin: httpx.AsyncClient, conn: asyncpg.Connection) -> None:
    made = await admin.post("/api/admin/proxies", json={"urls": ["http://me:s3cret-word@proxy.example:3128"]})
    assert made.status_code == 201, made.text
    proxy = made.json()["proxies"][0]["id"]
    changed = await admin.patch(f"/api/admin/proxies/{proxy}", json={"city": "Bonn", "password": "other-s3cret"})
    assert (changed.json()["city"], changed.json()["has_password"]) == ("Bonn", True)
    everything = [(await admin.get(path)).text for path in ("/api/proxies", "/api/admin/audit", "/api/settings")]
    everything += [row["told"] for row in await conn.fetch("SELECT details::text AS told FROM audit_log")]
    assert not any("s3cret" in text for text in everything)
    cleared = (await admin.patch(f"/api/admin/proxies/{proxy}", json={"city": None, "is_default": True})).json()
    assert (cleared["city"], cleared["is_default"], cleared["has_password"]) == (None, True, True)
    probed = await admin.post(f"/api/proxies/{proxy}/probe")
    assert (probed.status_code, probed.json()["works"]) == (200, False)
    assert (await admin.post("/api/proxies/999999/probe")).status_code == 404
    assert (await admin.post(f"/api/admin/proxies/{proxy}/disable")).json()["is_active"] is False
    assert (await admin.post(f"/api/admin/proxies/{proxy}/enable")).json()["is_active"] is True
    assert (await admin.delete(f"/api/admin/proxies/{proxy}")).json() == {"removed": [proxy]}


async def test_a_pool_is_made_changed_and_left(admin: httpx.AsyncClient, ground: Ground) -> None:
    await ground.a_domain("a.example")
    made = await admin.post("/api/admin/proxies", json={"urls": ["http://one.example:1", "http://two.example:2"]})
    one, two = (each["id"] for each in made.json()["proxies"])
    pool = "/api/admin/domains/a.example/proxies"
    assert (await admin.post(pool, json={"proxies": [one, two]})).json()["new"] == [one, two]
    assert (await admin.post(pool, json={"proxies": [one]})).json()["new"] == []
    changed = (await admin.patch(f"{pool}/{one}", json={"is_active": False, "priority": 1})).json()
    assert (changed["is_active"], changed["priority"]) == (False, 1)
    assert (await admin.delete(f"{pool}/{two}")).json()["proxies"] == [two]
    assert (await admin.delete(f"/api/admin/proxies/{one}")).status_code == 409
    assert (await admin.delete(f"/api/admin/proxies/{one}?force=true")).status_code == 200


@pytest.mark.parametrize(("pages", "needed"), [(10, 2), (100, 6), (1000, 60)])
async def test_how_many_proxies_are_needed(user: httpx.AsyncClient, pages: int, needed: int) -> None:
    answer = await user.get(f"/api/proxies/sizing?pages_per_hour={pages}&per_proxy=20")
    assert answer.json()["needed"] == needed


async def test_the_frontier_is_cleared(admin: httpx.AsyncClient, ground: Ground, conn: asyncpg.Connection) -> None:
    await admin.post("/api/frontier/seed", json={"urls": ["https://a.example/", "https://b.example/"]})
    await admin.post("/api/admin/tasks", json={"url": "https://a.example/ordered"})
    tried = (await admin.delete("/api/frontier?dry_run=true")).json()
    assert (tried["counts"]["pages"], tried["counts"]["tasks"], tried["dry_run"]) == (3, 1, True)
    assert await conn.fetchval("SELECT count(*) FROM pages") == 3
    one = (await admin.delete("/api/frontier?domain=b.example&reason=test")).json()
    assert one["counts"] == {"pages": 1, "tasks": 0, "domains": 1}
    assert (await admin.delete("/api/frontier")).status_code == 422, "nobody would know why"
    assert await conn.fetchval("SELECT count(*) FROM pages") == 2
    done = (await admin.delete("/api/frontier?reason=test")).json()
    assert (done["counts"]["pages"], done["counts"]["tasks"]) == (2, 1)
    assert await conn.fetchval("SELECT count(*) FROM pages") == 0
    assert await conn.fetchval("SELECT sum(frontier_size + pages_discovered) FROM domains") == 0
    assert [row["told"]["step"] for row in await noted(conn, "frontier.clear")] == 2 * ["begun", "done"]
    assert len((await admin.get("/api/storage/purges")).json()["items"]) == 2
    await assert_kept(conn)


async def test_clearing_keeps_what_was_visited(
    admin: httpx.AsyncClient, ground: Ground, conn: asyncpg.Connection
) -> None:
    domain = await ground.a_domain("a.example", pages=2)
    page = await ground.a_page("http://a.example/read", domain, status="fetched", fetched_at="(now())")
    await admin.delete("/api/frontier?reason=test")
    assert [row["id"] for row in await conn.fetch("SELECT id FROM pages")] == [page]


async def test_workers_that_run_are_no_obstacle(
    admin: httpx.AsyncClient, ground: Ground, conn: asyncpg.Connection
) -> None:
    await ground.a_domain("a.example", pages=2)
    await ground.a_worker()
    assert (await admin.delete("/api/frontier?reason=test")).json()["counts"]["pages"] == 2
    assert (await admin.delete("/api/admin/domains/a.example?reason=test")).status_code == 200
    assert await conn.fetchval("SELECT count(*) FROM domains") == 0


async def test_a_domain_and_pages_are_purged(
    admin: httpx.AsyncClient, ground: Ground, conn: asyncpg.Connection
) -> None:
    await ground.a_domain("a.example", pages=3)
    tried = await admin.delete("/api/admin/pages?domain=a.example&contains=/1&dry_run=true")
    assert tried.json()["counts"]["pages"] == 1
    await admin.delete("/api/admin/pages?domain=a.example&contains=/1")
    assert await ground.urls() == {"http://a.example/2", "http://a.example/3"}
    assert (await admin.delete("/api/admin/domains/a.example?reason=test")).status_code == 200
    assert await conn.fetchval("SELECT count(*) FROM domains") == 0


async def test_a_job_becomes_due(admin: httpx.AsyncClient, conn: asyncpg.Connection) -> None:
    await conn.execute("INSERT INTO jobs (name, every_s, next_at) VALUES ('score', 60, now() + interval '1 day')")
    assert (await admin.post("/api/admin/schedule/score/run")).status_code == 202
    assert await conn.fetchval("SELECT next_at <= now() FROM jobs WHERE name = 'score'")
    assert (await admin.post("/api/admin/schedule/rollup/run")).status_code == 202
    assert (await admin.post("/api/admin/schedule/nothing/run")).status_code == 404
    async with conn.transaction():
        await conn.execute("SELECT FROM jobs WHERE name = 'score' FOR NO KEY UPDATE")
        assert (await admin.post("/api/admin/schedule/score/run")).status_code == 409


async def test_silent_workers_lose_their_domains(
    admin: httpx.AsyncClient, ground: Ground, conn: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await ground.a_run()
    domain = await ground.a_domain("a.example", run=run, pages=1)
    worker = await ground.a_worker(run, silent_s=400, host="elsewhere")
    await ground.a_lease(domain, worker)
    with monkeypatch.context() as broken:
        broken.setattr("forager.accounts.audit.note", None)
        assert (await admin.post("/api/frontier/recover")).status_code == 500
    assert (await ground.domain(domain))["claimed_by"] == worker, "what cannot be noted is not done"
    assert (await admin.post("/api/frontier/recover")).json() == {"domains": ["a.example"]}
    assert (await ground.domain(domain))["claimed_by"] is None
    assert len(await noted(conn, "frontier.recover")) == 1


async def test_an_alert_is_taken_and_ended(admin: httpx.AsyncClient, conn: asyncpg.Connection) -> None:
    alert = await conn.fetchval(
        "INSERT INTO alerts (rule, subject, severity, message, value)"
        " VALUES ('error_rate', '', 'warning', 'many errors', 0.3) RETURNING id"
    )
    assert (await admin.post(f"/api/admin/alerts/{alert}/ack", json={"reason": "mine"})).json()["changed"] == [alert]
    assert (await admin.post(f"/api/admin/alerts/{alert}/resolve")).json()["changed"] == [alert]
    assert (await admin.get(f"/api/alerts/{alert}")).json()["status"] == "resolved"
    assert (await admin.get("/api/alerts")).json()["items"] == []
    assert (await admin.post("/api/admin/alerts/999/ack")).status_code == 404


async def test_a_webhook_may_not_lead_inside(admin: httpx.AsyncClient) -> None:
    for url in ("http://169.254.169.254/", "http://10.0.0.1/x", "ftp://a.example/"):
        assert (await admin.post("/api/admin/alerts/targets", json={"url": url})).status_code == 422
        order = {"url": "https://a.example/", "webhook_url": url}
        assert (await admin.post("/api/admin/tasks", json=order)).status_code == 422


async def test_history_is_deleted_by_who_may_manage_accounts_and_says_why(
    app: FastAPI, admin: httpx.AsyncClient, ground: Ground, conn: asyncpg.Connection
) -> None:
    writer = client_for(app, await token_of(conn, Role.ADMIN, Scope.WRITE))
    await ground.new_domain.active("a.example")
    await ground.new_page.fetched("http://a.example/read")
    for path in (
        "/api/admin/domains/a.example?reason=test",
        "/api/admin/pages?domain=a.example&contains=/&reason=test",
    ):
        refused = await writer.delete(path)
        assert (refused.status_code, refused.json()["detail"]) == (403, "Deleting history needs a token of scope admin")
    assert (await writer.delete("/api/admin/domains/a.example?dry_run=true")).status_code == 200
    assert (await admin.delete("/api/admin/domains/a.example")).status_code == 422
    assert await conn.fetchval("SELECT count(*) FROM crawl_tasks") == 1
    assert (await admin.delete("/api/admin/domains/a.example?reason=asked")).status_code == 200
    await ground.a_domain("b.example", pages=1)
    assert (await writer.delete("/api/admin/domains/b.example?reason=test")).status_code == 403
    assert (await admin.delete("/api/admin/domains/b.example?reason=%20")).status_code == 422
    assert await conn.fetchval("SELECT count(*) FROM domains") == 1


@pytest.mark.parametrize(
    "url", ["http://metadata.google.internal/", "http://169.254.169.254/latest", "http://10.0.0.1/"]
)
async def test_a_webhook_that_could_never_be_called_is_refused_when_it_is_given(
    admin: httpx.AsyncClient, url: str
) -> None:
    for path, body in (
        ("/api/admin/tasks", {"url": "https://a.example/", "webhook_url": url}),
        ("/api/admin/tasks/batch", {"name": "b", "tasks": [{"url": "https://a.example/", "webhook_url": url}]}),
        ("/api/admin/alerts/targets", {"url": url}),
    ):
        answer = await admin.post(path, json=body)
        assert (answer.status_code, "could never be called" in answer.text) == (422, True), f"{path}: {answer.text}"
