"""The API as a process of its own: it says where it is, answers, and leaves when it is told to or left alone."""

import asyncio
import os
import re
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
from tests.ground import Ground, database

from forager.config.settings import Settings
from forager.db.database import Database
from forager.instance import Forager
from forager.runtime.commands import up
from forager.runtime.schedule import enabled_jobs
from forager.runtime.server import bind

__all__ = ["database"]
Process = asyncio.subprocess.Process
Part = dict[str, str]


async def start(database_url: str, home: Path, *flags: str) -> Process:
    environ = {**os.environ, "FORAGER_DATABASE_URL": database_url, "FORAGER_HOME": str(home)}
    command = (sys.executable, "-m", "forager", "api", *(flags or ("--port", "0")))
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(*command, env=environ, stdin=pipe, stdout=pipe, stderr=pipe)


async def address_of(process: Process) -> str:
    assert process.stderr is not None
    async with asyncio.timeout(30):
        line = (await process.stderr.readline()).decode()
    found = re.search(r"http://127\.0\.0\.1:\d+", line)
    assert found, line + (await process.stderr.read()).decode()
    return found[0]


@pytest.fixture
async def process(database_url: str, tmp_path: Path) -> AsyncIterator[Process]:
    started = await start(database_url, tmp_path)
    yield started
    if started.returncode is None:
        started.kill()
    await started.communicate()


async def test_it_answers_and_ends_when_told_to(process: Process) -> None:
    address = await address_of(process)
    async with httpx.AsyncClient(base_url=address, timeout=20) as client:
        answer = await client.get("/health")
        assert answer.json()["parts"]["database"]["state"] == "ok"
        assert (await client.get("/api/domains")).status_code == 401
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(15):
        assert await process.wait() == 0


async def test_a_taken_port_is_one_sentence(process: Process, database_url: str, tmp_path: Path) -> None:
    port = (await address_of(process)).rpartition(":")[2]
    other = await start(database_url, tmp_path, "--port", port)
    async with asyncio.timeout(30):
        _, told = await other.communicate()
    assert other.returncode == 4
    assert told.decode().count("\n") == 1
    assert "cannot listen" in told.decode()


# Health --------------------------------------------------------------------------------------------------------------


async def ask(process: Process) -> Any:
    async with httpx.AsyncClient(base_url=await address_of(process), timeout=20) as client:
        answer = await client.get("/health")
    assert answer.status_code == 200
    return answer.json()


async def test_all_is_well(process: Process, ground: Ground, settings: Settings) -> None:
    await ground.a_worker()
    await fill_schedule(ground, settings)
    health = await ask(process)
    assert (health["status"], {part["state"] for part in health["parts"].values()}) == ("ok", {"ok"})


async def test_a_silent_worker_is_degraded(process: Process, ground: Ground) -> None:
    await ground.a_worker()
    await ground.a_worker(silent_s=3600, pid=2)
    health = await ask(process)
    assert health["status"] == "degraded"
    assert health["parts"]["workers"] == {"state": "degraded", "detail": "1 alive, 1 silent"}


async def test_due_work_without_a_worker_is_degraded(process: Process, ground: Ground, settings: Settings) -> None:
    """It used to be `ok`: nobody is silent where nobody is."""
    await fill_schedule(ground, settings)
    await ground.a_domain(pages=3, ready_at="(now() - interval '3 minutes')")
    health = await ask(process)
    assert (health["status"], health["parts"]["workers"]["state"]) == ("degraded", "idle")
    assert health["parts"]["progress"] == {
        "state": "degraded",
        "detail": "1 domain has been due for 3 min: no worker is alive",
    }


async def test_a_folder_that_cannot_be_looked_at_is_degraded(database_url: str, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    process = await start(database_url, disk / "home")
    try:
        address = await address_of(process)
        shutil.rmtree(disk, ignore_errors=True)
        async with httpx.AsyncClient(base_url=address, timeout=20) as client:
            health = (await client.get("/health")).json()
    finally:
        process.kill()
        await process.communicate()
    assert health["status"] == "degraded"
    assert health["parts"]["disk"] == {"state": "degraded", "detail": "no such file or directory"}


async def test_a_full_disk_is_degraded(anybody: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forager.api.system.LITTLE_ROOM", 1.01)
    health = (await anybody.get("/health")).json()
    assert (health["status"], health["parts"]["disk"]["state"]) == ("degraded", "degraded")


async def fill_schedule(ground: Ground, settings: Settings) -> None:
    """As a scheduler leaves the table that has run every job."""
    names = [job.name for job in enabled_jobs(settings)]
    await ground.conn.execute(
        "INSERT INTO jobs (name, every_s, next_at, ended_at, times)"
        " SELECT name, 60, now() + interval '1 minute', now(), 1 FROM unnest($1::text[]) AS n (name)",
        names,
    )


async def be_late(ground: Ground, late_s: float, *names: str) -> None:
    await ground.conn.execute(
        "UPDATE jobs SET next_at = now() - make_interval(secs => $1) WHERE name = ANY ($2)", late_s, names
    )


async def scheduler(client: httpx.AsyncClient) -> Part:
    part: Part = (await client.get("/health")).json()["parts"]["scheduler"]
    return part


async def test_over_http_a_late_schedule_is_degraded(process: Process, ground: Ground, settings: Settings) -> None:
    await fill_schedule(ground, settings)
    await be_late(ground, 400, "alerts")
    health = await ask(process)
    assert health["status"] == "degraded"
    assert health["parts"]["scheduler"]["state"] == "degraded"
    assert health["parts"]["scheduler"]["detail"].startswith("alerts has been due for 40")


async def test_a_schedule_that_never_ran_is_idle(anybody: httpx.AsyncClient, ground: Ground) -> None:
    assert await scheduler(anybody) == {"state": "idle", "detail": "no scheduler has run yet"}
    await ground.conn.execute("INSERT INTO jobs (name, every_s) VALUES ('score', 60)")
    assert (await scheduler(anybody))["state"] == "idle"


async def test_a_job_that_failed_is_degraded(anybody: httpx.AsyncClient, ground: Ground, settings: Settings) -> None:
    """Only jobs that are enabled count; a row that another setting left behind does not."""
    await fill_schedule(ground, settings)
    await ground.conn.execute(
        "INSERT INTO jobs (name, every_s, next_at, error) VALUES ('dispatch', 1, '-infinity', '')"
    )
    assert await scheduler(anybody) == {"state": "ok", "detail": "runs on time"}
    await ground.conn.execute("UPDATE jobs SET error = 'no' WHERE name = 'score'")
    assert await scheduler(anybody) == {"state": "degraded", "detail": "1 job failed"}


async def test_a_long_job_under_way_is_no_alarm(
    anybody: httpx.AsyncClient, ground: Ground, pool: asyncpg.Pool, settings: Settings
) -> None:
    """Neither for itself nor for those that wait for it; when its scheduler dies it is one."""
    await fill_schedule(ground, settings)
    await be_late(ground, 7200, "backup", "retain")
    async with pool.acquire() as holder, holder.transaction():
        await holder.fetch("SELECT FROM jobs WHERE name = 'backup' FOR NO KEY UPDATE")
        assert await scheduler(anybody) == {"state": "ok", "detail": "runs on time"}
        await be_late(ground, 400, "alerts")
        assert (await scheduler(anybody))["detail"].startswith("alerts has been due for 40")
        await be_late(ground, 0, "alerts")
        await be_late(ground, 2 * 86_400, "retain")
        assert (await scheduler(anybody))["detail"].startswith("retain has been due for 17280")
    await be_late(ground, 0, "retain")
    assert (await scheduler(anybody))["detail"].startswith("backup has been due for 72")


async def test_a_loop_that_hangs_is_degraded_whatever_another_loop_does(
    anybody: httpx.AsyncClient, ground: Ground, pool: asyncpg.Pool, settings: Settings
) -> None:
    """A quick job that hangs keeps the others of its loop waiting, while rows elsewhere are as fresh as ever."""
    await fill_schedule(ground, settings)
    await be_late(ground, 400, "takeover", "alerts")
    async with pool.acquire() as holder, holder.transaction():
        await holder.fetch("SELECT FROM jobs WHERE name = 'takeover' FOR NO KEY UPDATE")
        assert (await scheduler(anybody))["state"] == "degraded"


# The greeting --------------------------------------------------------------------------------------------------------


async def test_a_greeting_waits_for_an_answer_and_not_for_a_port(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The port listens before anybody serves it. Whoever waits is told so, once."""
    monkeypatch.setattr(up, "ANSWER_S", 0.05)
    monkeypatch.setattr(up, "LATE_S", 0.2)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    with bind("127.0.0.1", 0) as listening:
        forager = Forager(settings.replace(api_port=listening.getsockname()[1]), database)
        greeting = asyncio.create_task(up._announce_when_ready(forager, workers=0))
        said = ""
        async with asyncio.timeout(20):
            while "does not respond" not in said:
                await asyncio.sleep(0.05)
                said += capsys.readouterr().err
        assert "is up" not in said
        monkeypatch.setattr(up, "ANSWER_S", 5.0)
        async with asyncio.timeout(20), await asyncio.start_server(answer, sock=listening):
            await greeting
    said += capsys.readouterr().err
    assert said.count("does not respond") == 1
    assert "Forager is up: http://127.0.0.1:" in said
