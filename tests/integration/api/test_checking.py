"""A check over HTTP is a job: started by an admin, one at a time, seen by all, with its result."""

import asyncio
from typing import Any

import asyncpg
import httpx
from tests.ground import Ground
from tests.integration.api.conftest import running

from forager.config.settings import Settings
from forager.explain import check_runs as checks

Job = dict[str, Any]


async def over(client: httpx.AsyncClient) -> Job:
    async with asyncio.timeout(20):
        while True:
            job: Job = (await client.get("/api/check")).json()
            if job["state"] != "running":
                return job
            await asyncio.sleep(0.02)


async def test_a_check_is_started_and_its_result_is_kept(
    user: httpx.AsyncClient, admin: httpx.AsyncClient, ground: Ground
) -> None:
    assert (await user.get("/api/check")).json()["state"] == "none"
    assert (await user.post("/api/check")).status_code == 403
    started = await admin.post("/api/check")
    assert (started.status_code, started.json()["state"]) == (202, "running")
    job = await over(user)
    assert (job["state"], job["result"]["is_kept"], job["id"]) == ("finished", True, started.json()["id"])
    assert job["done"] >= job["total"] - 5
    assert [each["promise"] for each in job["result"]["promises"]] == [1, 2, 3, 4, 5, 6, 7]


async def test_what_is_broken_is_named(admin: httpx.AsyncClient, ground: Ground, conn: asyncpg.Connection) -> None:
    await ground.a_domain("a.example", pages=3)
    await conn.execute("UPDATE domains SET pages_discovered = 99 WHERE name = 'a.example'")
    await admin.post("/api/check")
    job = await over(admin)
    assert not job["result"]["is_kept"]
    broken = [each for promise in job["result"]["promises"] for each in promise["findings"] if each["broken"]]
    assert "page_counters" in {each["name"] for each in broken}


async def test_one_check_runs_at_a_time_and_others_are_served(
    admin: httpx.AsyncClient, pool: asyncpg.Pool, ground: Ground
) -> None:
    async with pool.acquire() as holder, holder.transaction():
        await holder.execute("LOCK TABLE page_images")
        await admin.post("/api/check")
        assert (await admin.post("/api/check")).status_code == 409
        assert (await admin.get("/api/check")).json()["state"] == "running"
        assert (await admin.get("/api/audit/politeness")).status_code == 200
    assert (await over(admin))["state"] == "finished"


async def test_a_check_whose_process_is_gone_is_interrupted_and_can_be_started_again(
    admin: httpx.AsyncClient, conn: asyncpg.Connection
) -> None:
    await conn.execute(
        "INSERT INTO checks (started_by, has_files, total, heard_at) VALUES ('x', false, 5, now() - interval '1 hour')"
    )
    assert (await admin.get("/api/check")).json()["state"] == "interrupted"
    assert (await admin.post("/api/check")).status_code == 202
    await over(admin)


async def test_a_process_that_stops_says_that_its_check_was_interrupted(
    settings: Settings, admin: httpx.AsyncClient, pool: asyncpg.Pool, conn: asyncpg.Connection
) -> None:
    async with pool.acquire() as holder, holder.transaction():
        await holder.execute("LOCK TABLE page_images")
        async with running(settings) as other:
            async with conn.transaction():
                job = await checks.begin(conn, by="test", has_files=False)
            other.state.checking.start(job["id"], has_files=False)
            await asyncio.sleep(0.1)
    job = (await admin.get("/api/check")).json()
    assert (job["state"], "stopped" in job["error"]) == ("failed", True)


async def test_a_deep_check_reads_everything(admin: httpx.AsyncClient, ground: Ground) -> None:
    await ground.a_domain("a.example", pages=3)
    started = await admin.post("/api/check?deep=true")
    assert (started.status_code, started.json()["is_deep"], started.json()["has_files"]) == (202, True, True)
    job = await over(admin)
    assert (job["state"], job["error"]) == ("finished", None)
    names = {each["name"] for promise in job["result"]["promises"] for each in promise["findings"]}
    await admin.post("/api/check")
    assert names > {
        each["name"] for promise in (await over(admin))["result"]["promises"] for each in promise["findings"]
    }
