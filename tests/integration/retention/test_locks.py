"""Retention, backups, vacuums and purges of history beside a crawl: no lock that keeps it from its tables."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.integration.retention.conftest import DAY, RETENTION, Past
from tests.integration.retention.test_purge import ORDER
from tests.integration.scheduler.stage import a_context

from forager import clock
from forager.backup.service import back_up
from forager.config.loader import load
from forager.db.jobs import VacuumJob
from forager.retention import archive as cold
from forager.retention import purge

Act = Callable[[Past, Path], Awaitable[object]]
STRONG = ("ShareLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock")
"""Locks of a table that a writer waits for."""


async def move(world: Past, folder: Path) -> object:
    return await cold.move(world.conn, folder / "cold", RETENTION, by="test", pause_s=0.02)


async def save(world: Past, folder: Path) -> object:
    dsn = str(world.dsn)
    return await back_up(load({"home": folder, "database.url": dsn}, {}), dsn)


async def clean(world: Past, folder: Path) -> object:
    return await VacuumJob().run(a_context(world.conn))


async def forget(world: Past, folder: Path) -> object:
    return await purge.purge_tasks(world.conn, clock.now() - 5 * DAY, None, ORDER)


@pytest.mark.parametrize("act", [move, save, clean, forget])
async def test_a_crawl_goes_on(world: Past, tmp_path: Path, pool: Any, database_url: str, act: Act) -> None:
    """Whoever would wait 200 ms for a lock fails."""
    world.dsn = database_url
    done = asyncio.Event()
    crawling, watching = asyncio.create_task(crawl(pool, done)), asyncio.create_task(watch(pool, done))
    await act(world, tmp_path)
    done.set()
    written, strong = await asyncio.gather(crawling, watching)
    assert (written > 3, strong) == (True, set())


async def crawl(pool: Any, done: asyncio.Event) -> int:
    """What a record does: a task is closed, its page and its domain are written."""
    written = 0
    page = await pool.fetchrow("SELECT id, domain_id FROM pages LIMIT 1")
    async with pool.acquire() as writer:
        await writer.execute("SET lock_timeout = '200ms'")
        while not done.is_set() or written < 5:
            async with writer.transaction():
                await writer.execute("UPDATE domains SET updated_at = now() WHERE id = $1", page["domain_id"])
                await writer.execute("UPDATE pages SET fetched_at = now() WHERE id = $1", page["id"])
                await writer.execute(
                    "INSERT INTO crawl_tasks (page_id, domain_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                    page["id"],
                    page["domain_id"],
                )
            written += 1
    return written


async def watch(pool: Any, done: asyncio.Event) -> set[tuple[str, str]]:
    strong: set[tuple[str, str]] = set()
    async with pool.acquire() as watcher:
        while not done.is_set():
            rows = await watcher.fetch(
                "SELECT DISTINCT c.relname AS name, l.mode FROM pg_locks l JOIN pg_class c ON c.oid = l.relation"
                " WHERE l.locktype = 'relation' AND l.mode = ANY ($1::text[]) AND c.relkind = 'r'"
                " AND c.relnamespace = 'public'::regnamespace"
                " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())",
                STRONG,
            )
            strong.update((row["name"], row["mode"]) for row in rows)
            await asyncio.sleep(0.002)
    return strong
