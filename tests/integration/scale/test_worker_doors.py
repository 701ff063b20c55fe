"""Workers through the API and on the command line: labels are shown, and an admin may send one away."""

from typing import Any

import asyncpg
import httpx
import pytest
from tests.ground import Ground
from tests.integration.api.conftest import admin, app, settings, user
from tests.integration.explain.fetch_policies import MANNERS

from forager.explain.why import explain
from forager.workers.commands.workers import state_of

__all__ = ["admin", "app", "settings", "user"]


async def test_an_admin_sends_a_worker_away(
    admin: httpx.AsyncClient, user: httpx.AsyncClient, ground: Ground, conn: asyncpg.Connection
) -> None:
    worker = await ground.a_worker(await ground.a_run(), host="here/boot/pid", labels=["eu"])
    path = f"/api/workers/{worker}/drain"
    assert (await user.post(path)).status_code == 403
    assert (await admin.get("/api/workers")).json()["items"][0]["drain_asked_at"] is None
    answer = (await admin.post(path)).json()
    assert (answer["worker"], answer["host"]) == (worker, "here")
    (row,) = (await admin.get("/api/workers")).json()["items"]
    assert (row["labels"], row["drain_asked_at"]) == (["eu"], answer["drain_asked_at"])
    assert await conn.fetchval("SELECT object_id FROM audit_log WHERE action = 'worker.drain'") == str(worker)
    await conn.execute("UPDATE workers SET status = 'stopped', ended_at = now()")
    assert (await admin.post(path)).status_code == 409
    assert (await admin.post("/api/workers/999999/drain")).status_code == 404


async def test_a_label_is_set_through_the_api(admin: httpx.AsyncClient, ground: Ground) -> None:
    domain = await ground.a_domain("a.example")
    path = "/api/admin/domains/a.example"
    assert (await admin.patch(path, json={"worker_label": "E U"})).status_code == 422
    assert (await admin.patch(path, json={"worker_label": "eu"})).is_success
    assert (await ground.domain(domain))["worker_label"] == "eu"
    assert (await admin.get("/api/domains/a.example")).json()["worker_label"] == "eu"
    assert (await admin.patch(path, json={"worker_label": None})).is_success
    assert (await ground.domain(domain))["worker_label"] == ""


async def test_why_says_that_nobody_has_the_label(ground: Ground) -> None:
    run = await ground.a_run()
    await ground.a_domain("a.example", run=run, pages=1, worker_label="eu")
    await ground.a_worker(run)
    answer = await explain(ground.conn, "a.example", MANNERS)
    assert answer.outlook.kind == "never"
    assert "it wants a worker with the label eu, and none of its run lives" in answer.outlook.because
    assert answer.outlook.remedy == f"forager worker --run {run} --label eu"
    await ground.a_worker(run, labels=["eu"])
    assert (await explain(ground.conn, "a.example", MANNERS)).outlook.kind == "at"


@pytest.mark.parametrize(
    ("more", "state"),
    [
        ({}, "running"),
        ({"drain_asked_at": 1}, "sent away"),
        ({"drain_asked_at": 1, "is_silent": True}, "silent"),
        ({"status": "dead"}, "dead"),
        ({"pause_reason": "no_parser", "pause_detail": "signal 9"}, "paused: no parser process starts (signal 9)"),
    ],
)
def test_the_state_of_a_worker(more: dict[str, Any], state: str) -> None:
    row = {"status": "running", "is_silent": False, "drain_asked_at": None, "pause_reason": None, "pause_detail": None}
    assert state_of(row | more).text == state
