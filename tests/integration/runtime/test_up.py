"""A foreman without workers of its own (`forager up --workers 0`) still gives every domain to the standing run, and
says what its address guard allows."""

import asyncio
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from tests.ground import Ground, database, database_url, ground

from forager.config.loader import load
from forager.db.database import Database
from forager.engine.stop import StopRequest
from forager.instance import Forager
from forager.runtime.up import ProcessSupervisor
from forager.stats.store import continuous_networks

__all__ = ["database", "database_url", "ground"]


@pytest.mark.timeout(60)
async def test_domains_are_adopted_for_workers_elsewhere(
    database: Database, ground: Ground, conn: asyncpg.Connection, tmp_path: Path
) -> None:
    domain = await ground.a_domain("a.example")
    assert await conn.fetchval("SELECT run_id FROM domains WHERE id = $1", domain) is None
    settings = load(
        {
            "home": tmp_path,
            "database.url": database.dsn,
            "backup.schedule": "never",
            "archive.schedule": "never",
            "fetch.allow_networks": "127.0.0.0/8",
        },
        {},
    )
    stop = StopRequest()
    working = asyncio.create_task(ProcessSupervisor(Forager(settings, database), stop, workers=0).work())
    adopted = asyncio.create_task(_adopted(conn, domain))
    await asyncio.wait({working, adopted}, return_when=asyncio.FIRST_COMPLETED, timeout=30)
    assert adopted.done()
    assert await continuous_networks(conn) == ("127.0.0.0/8",)
    stop.ask()
    await working


async def _adopted(conn: Any, domain: int) -> None:
    """A row tells nobody that it changed."""
    query = "SELECT r.keeper = 'standing' FROM domains d JOIN runs r ON r.id = d.run_id WHERE d.id = $1"
    while not await conn.fetchval(query, domain):  # noqa: ASYNC110
        await asyncio.sleep(0.05)
