"""Whatever is changed over HTTP is done and is in the audit log: every route that changes something is in one of these
lists; a new one fails here until somebody says how it is noted.
"""

from typing import Any

import asyncpg
import httpx
import pytest
from tests.conftest import database_url
from tests.integration.api.house import NAME, furnish

from forager.api import routes
from forager.explain.check import check

__all__ = ["database_url"]  # a database for each: what they name has the first number
HOOK = "https://chat.example/hook/s3cret"
ELSEWHERE = {
    **dict.fromkeys(("log_in", "log_out", "accept", "change_password"), "tests/integration/accounts"),
    **dict.fromkeys(("end_other_sessions", "end_session"), "tests/integration/accounts"),
    **dict.fromkeys(("redrive_dead_messages", "purge_dead_messages", "purge_queues"), "test_queues.py"),
    "restart_parsing": "test_reread.py: it wants a body",
    "order_for_many": "test_domains_bulk.py",
    **dict.fromkeys(("read_sitemap", "map_site", "map_site_v2"), "it changes nothing"),
    **dict.fromkeys(("scrape", "scrape_v2", "crawl", "crawl_v2"), "tests/integration/firecrawl"),
    **dict.fromkeys(("cancel_crawl", "cancel_crawl_v2"), "tests/integration/firecrawl"),
    "try_extractor": "it changes nothing",
}
Deed = tuple[str, str, str, Any, str]
"""The function of the route, its method and path, what is sent, and what it is called in the log."""
SITE = f"/api/admin/domains/{NAME}"

ABOUT_DOMAINS: tuple[Deed, ...] = (
    ("drain_worker", "POST", "/api/workers/1/drain", None, "worker.drain"),
    ("start_check", "POST", "/api/check", None, "check.start"),
    ("recover", "POST", "/api/frontier/recover", {"silent_s": 1}, "frontier.recover"),
    ("add_domain", "POST", "/api/admin/domains", {"url": "https://new.example/"}, "domain.add"),
    ("configure_domain", "PATCH", SITE, {"delay": "3s"}, "domain.configure"),
    ("save_profile", "PUT", "/api/admin/profiles/shops", {"settings": {"token": "s3cret"}}, "profile.change"),
    ("delete_profile", "DELETE", "/api/admin/profiles/shops", None, "profile.delete"),
    ("pause_domain", "POST", f"{SITE}/pause", None, "domain.pause"),
    ("resume_domain", "POST", f"{SITE}/resume", None, "domain.resume"),
    ("release_trap", "POST", f"{SITE}/traps/1/release", None, "domain.release_trap"),
    ("reset_breaker", "POST", f"{SITE}/reset-breaker", None, "domain.reset_breaker"),
    ("block_domain", "POST", f"{SITE}/block", {"reason": "x"}, "domain.block"),
    ("reset_domain", "POST", f"{SITE}/reset", None, "domain.reset"),
    ("configure_page", "PATCH", "/api/admin/pages/1", {"revisit_every_s": 3600}, "page.configure"),
    ("add_to_frontier", "POST", "/api/frontier/add", {"urls": ["https://new.example/x"]}, "frontier.add"),
    ("add_seeds", "POST", "/api/frontier/seed", {"urls": ["https://new.example/y"]}, "frontier.seed"),
    ("deny_domain", "POST", "/api/admin/denied-domains", {"name": "spam.example", "reason": "x"}, "domain.deny"),
    ("allow_domain", "DELETE", "/api/admin/denied-domains/spam.example", None, "domain.allow"),
    ("run_job", "POST", "/api/admin/schedule/score/run", None, "schedule.run"),
    ("start_run", "POST", "/api/admin/runs", {"urls": ["https://new.example/"]}, "run.start"),
    ("stop_run", "POST", "/api/admin/runs/2/stop", None, "run.stop"),
    ("clear_frontier", "DELETE", "/api/frontier?domain=b.example&reason=test", None, "frontier.clear"),
    ("purge_pages", "DELETE", f"/api/admin/pages?domain={NAME}&contains=/waits&reason=test", None, "page.purge"),
    ("purge_domain", "DELETE", f"{SITE}?reason=test", None, "domain.purge"),
)
TASK, MANY = "/api/admin/tasks/{task}", {"domain": NAME}
ABOUT_TASKS: tuple[Deed, ...] = (
    ("submit_task", "POST", "/api/admin/tasks", {"url": "https://new.example/1"}, "task.submit"),
    (
        *("submit_batch", "POST", "/api/admin/tasks/batch"),
        *({"name": "lamps", "tasks": [{"url": "https://new.example/2"}]}, "task.submit_batch"),
    ),
    ("pause_task", "POST", f"{TASK}/pause", None, "task.pause"),
    ("resume_task", "POST", f"{TASK}/resume", None, "task.resume"),
    ("set_priority", "PATCH", f"{TASK}/priority", {"priority": 2}, "task.priority"),
    ("pause_tasks", "POST", "/api/admin/tasks/pause", MANY, "tasks.pause"),
    ("resume_tasks", "POST", "/api/admin/tasks/resume", MANY, "tasks.resume"),
    ("set_priorities", "POST", "/api/admin/tasks/priority", {**MANY, "priority": 3}, "tasks.priority"),
    ("cancel_tasks", "POST", "/api/admin/tasks/cancel", {"batch_id": 2}, "tasks.cancel"),
    ("restart_batch", "POST", "/api/admin/batches/2/restart", None, "tasks.restart-batch"),
    ("cancel_task", "POST", f"{TASK}/cancel", None, "task.cancel"),
    ("restart_task", "POST", f"{TASK}/restart", None, "task.restart"),
    ("restart_failed", "POST", "/api/admin/tasks/restart-failed", None, "tasks.restart-failed"),
    ("redrive", "POST", "/api/admin/errors/redrive", None, "errors.redrive"),
)
ABOUT_THE_HOUSE: tuple[Deed, ...] = (
    ("acknowledge_alert", "POST", "/api/admin/alerts/1/ack", None, "alert.acknowledge"),
    ("resolve_alert", "POST", "/api/admin/alerts/1/resolve", None, "alert.resolve"),
    ("mute_rule", "POST", "/api/admin/alerts/rules/disk_low/mute", {"seconds": 60}, "alert.mute"),
    ("unmute_rule", "DELETE", "/api/admin/alerts/rules/disk_low/mute", None, "alert.unmute"),
    ("add_target", "POST", "/api/admin/alerts/targets", {"url": HOOK}, "alert.add_target"),
    ("remove_target", "DELETE", "/api/admin/alerts/targets/1", None, "alert.remove_target"),
    ("invite", "POST", "/api/admin/users", {"name": "bob", "role": "user"}, "user.invite"),
    ("change_user", "PATCH", "/api/admin/users/2", {"role": "admin"}, "user.change"),
    ("reset_password", "POST", "/api/admin/users/2/reset-password", None, "user.reset_password"),
    ("create_token", "POST", "/api/tokens", {"name": "export", "scope": "read"}, "token.create"),
    ("revoke_token", "DELETE", "/api/tokens/2", None, "token.revoke"),
    ("clear_plugin_errors", "POST", "/api/admin/plugins/clear", {}, "plugin.clear"),
    ("remove_user", "DELETE", "/api/admin/users/2", None, "user.remove"),
)
ABOUT_PROXIES: tuple[Deed, ...] = (
    ("add_proxies", "POST", "/api/admin/proxies", {"urls": ["http://p.example:1"]}, "proxy.add"),
    ("configure_proxy", "PATCH", "/api/admin/proxies/1", {"city": "Bonn"}, "proxy.configure"),
    ("probe_proxy", "POST", "/api/proxies/1/probe", None, "proxy.probe"),
    ("disable_proxy", "POST", "/api/admin/proxies/1/disable", None, "proxy.disable"),
    ("enable_proxy", "POST", "/api/admin/proxies/1/enable", None, "proxy.enable"),
    ("assign_proxies", "POST", f"{SITE}/proxies", {"proxies": [2]}, "domain.assign_proxies"),
    ("configure_member", "PATCH", f"{SITE}/proxies/2", {"priority": 1}, "domain.configure_proxy"),
    ("unassign_proxy", "DELETE", f"{SITE}/proxies/2", None, "domain.unassign_proxy"),
    ("remove_proxy", "DELETE", "/api/admin/proxies/2", None, "proxy.remove"),
)
ALL = (*ABOUT_DOMAINS, *ABOUT_TASKS, *ABOUT_THE_HOUSE, *ABOUT_PROXIES)


def test_every_route_that_changes_something_is_noted() -> None:
    changing = {
        route.name for router in routes.ALL for route in router.routes if (route.methods or set()) - {"GET", "HEAD"}
    }
    assert {name for name, *_ in ALL} | set(ELSEWHERE) == changing, "say here how it is noted"


@pytest.mark.parametrize("deeds", [ABOUT_DOMAINS, ABOUT_TASKS, ABOUT_THE_HOUSE, ABOUT_PROXIES])
async def test_it_is_done_and_noted(
    admin: httpx.AsyncClient, conn: asyncpg.Connection, deeds: tuple[Deed, ...]
) -> None:
    await furnish(conn)
    await conn.execute("UPDATE workers SET heartbeat_at = now() - interval '1 hour', host = 'elsewhere'")
    await conn.execute("UPDATE domains SET breaker_state = 'open', breaker_opened_at = now()")
    task = await conn.fetchval("SELECT id FROM crawl_tasks WHERE outcome IS NULL")
    for name, method, path, sent, action in deeds:
        last = await conn.fetchval("SELECT COALESCE(max(id), 0) FROM audit_log")
        answer = await admin.request(method, path.format(task=task), json=sent)
        assert answer.is_success, (name, answer.text)
        rows = await conn.fetch("SELECT who, via, action, details::text AS told FROM audit_log WHERE id > $1", last)
        assert {tuple(row)[:3] for row in rows} == {("api:admin-admin", "token", action)}, name
        assert not any("s3cret" in row["told"] for row in rows), "whoever knows the URL of a webhook can call it"


async def test_orders_for_many_do_what_they_say(admin: httpx.AsyncClient, conn: asyncpg.Connection) -> None:
    orders = [{"url": f"https://a.example/{number}"} for number in range(3)]
    batch = (await admin.post("/api/admin/tasks/batch", json={"name": "three", "tasks": orders})).json()["batch_id"]
    some = {"batch_id": batch}
    hurried = (await admin.post("/api/admin/tasks/priority", json={**some, "priority": 2})).json()
    assert (hurried["count"], {task["priority"] for task in hurried["tasks"]}) == (3, {2})
    cancelled = (await admin.post("/api/admin/tasks/cancel", json=some)).json()
    assert (cancelled["count"], {task["status"] for task in cancelled["tasks"]}) == (3, {"cancelled"})
    tried = (await admin.post(f"/api/admin/batches/{batch}/restart?dry_run=true")).json()
    assert (tried["count"], tried["dry_run"]) == (3, True)
    assert (await admin.post(f"/api/admin/batches/{batch}/restart")).json()["count"] == 3
    assert await conn.fetchval("SELECT count(*) FROM crawl_tasks WHERE outcome IS NULL") == 3
    async with conn.transaction(isolation="repeatable_read", readonly=True):
        assert [f.name for v in await check(conn) for f in v.findings if f.broken] == []


async def test_dead_letters_are_driven_again_up_to_the_limit(
    admin: httpx.AsyncClient, conn: asyncpg.Connection
) -> None:
    await furnish(conn)
    await conn.execute(
        "INSERT INTO webhook_calls (kind, payload, url, died_at, next_try_at)"
        " SELECT 'alert', '{}', $1, now(), NULL FROM generate_series(1, 5)",
        HOOK,
    )
    order = {"limit": 2, "dry_run": True}
    tried = (await admin.post("/api/admin/errors/redrive", json=order)).json()
    assert (tried["count"], tried["webhooks"]) == (1, 2)
    assert await conn.fetchval("SELECT count(*) FROM webhook_calls WHERE died_at IS NOT NULL") == 5
    done = (await admin.post("/api/admin/errors/redrive", json={"limit": 2})).json()
    assert (done["count"], done["webhooks"]) == (1, 2)
    assert await conn.fetchval("SELECT count(*) FROM webhook_calls WHERE died_at IS NOT NULL") == 3
    counted = (await admin.get("/api/errors/categories")).json()
    assert counted["us"] == 1


async def test_who_may_change_nothing_sees_of_webhooks_scheme_and_host(
    admin: httpx.AsyncClient, user: httpx.AsyncClient, conn: asyncpg.Connection
) -> None:
    await admin.post("/api/admin/alerts/targets", json={"url": HOOK})
    order = {"url": "https://a.example/", "webhook_url": HOOK}
    task = (await admin.post("/api/admin/tasks", json=order)).json()["task_id"]
    await conn.execute(
        "INSERT INTO webhook_calls (kind, payload, url, died_at, next_try_at) VALUES ('alert', '{}', $1, now(), NULL)",
        HOOK,
    )
    for path in ("/api/alerts/targets", f"/api/tasks/{task}", "/api/errors/dead"):
        assert HOOK in (await admin.get(path)).text
        seen = (await user.get(path)).text
        assert '"https://chat.example"' in seen
        assert "s3cret" not in seen
    assert "s3cret" not in (await admin.get("/api/admin/audit")).text
    assert (await user.get("/api/admin/audit")).status_code == 403
