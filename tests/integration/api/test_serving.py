"""The API as a process of its own: it says where it is, answers, and leaves when it is told to or left alone."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

Process = asyncio.subprocess.Process


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
    async with httpx.AsyncClient(base_url=address) as client:
        async with asyncio.timeout(20):
            while True:
                try:
                    answer = await client.get("/health")
                    break
                except httpx.ConnectError:
                    await asyncio.sleep(0.05)
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
