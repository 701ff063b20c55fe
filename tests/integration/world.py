"""A small crawled web in a real database: consistent in every promise, so that each test breaks exactly one thing."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.ground import database_url

from forager.cli.main import run

__all__ = ["database_url"]
SEED = "http://shop.example/"


class World:
    """Plants rows. Ids are those the database gave."""

    def __init__(self, conn: Any) -> None:
        self.conn = conn
        self.run = 0
        self.worker = 0
        self.domains: dict[str, int] = {}
        self.pages: dict[str, int] = {}

    async def add_domain(self, name: str, **columns: Any) -> int:
        self.domains[name] = await self.insert(
            "domains", name=name, parent_domain=name, base_url=f"http://{name}/", run_id=self.run, **columns
        )
        return self.domains[name]

    async def add_page(self, url: str, **columns: Any) -> int:
        domain = self.domains[url.split("/")[2]]
        key = hashlib.sha256(url.encode()).digest()[:16]
        given = {"depth": 1, "priority": 5} | columns
        self.pages[url] = await self.insert("pages", domain_id=domain, url=url, url_hash=key, **given)
        return self.pages[url]

    async def add_task(self, url: str, **columns: Any) -> int:
        domain = self.domains[url.split("/")[2]]
        return await self.insert("crawl_tasks", page_id=self.pages[url], domain_id=domain, run_id=self.run, **columns)

    async def close(self, url: str, outcome: str, code: int | None, **columns: Any) -> int:
        status = "completed" if outcome == "success" else "failed"
        at = await self.conn.fetchval("SELECT now()")
        given = {"status": status, "outcome": outcome, "status_code": code, "completed_at": at, "bytes": 100}
        return await self.add_task(url, **given | columns)

    async def link(self, source: str, *targets: str) -> None:
        await self.conn.execute(
            "INSERT INTO page_link_lists (domain_id, from_page_id, to_page_ids, anchors) VALUES ($1, $2, $3, $4)",
            self.domains[source.split("/")[2]],
            self.pages[source],
            [self.pages[target] for target in targets],
            "\x1f".join(f"to {target}" for target in targets),
        )

    async def insert(self, table: str, **columns: Any) -> int:
        names = ", ".join(columns)
        places = ", ".join(f"${index}" for index in range(1, len(columns) + 1))
        added: int = await self.conn.fetchval(
            f"INSERT INTO {table} ({names}) VALUES ({places}) RETURNING id", *columns.values()
        )
        return added

    async def damage(self, sql: str) -> None:
        """Past every trigger and foreign key, as only a broken program or disk could."""
        async with self.conn.transaction():
            await self.conn.execute("SET LOCAL session_replication_role = replica")
            await self.conn.execute(sql)


async def build(world: World) -> None:
    spec = {"seeds": [SEED], "scope": "host", "include": [], "exclude": [], "max_depth": 10}
    world.run = await world.insert("runs", spec=json.dumps(spec), max_depth=10, links_seen=4, pages_learned=4)
    world.worker = await world.insert("workers", run_id=world.run, host="here", pid=1, pid_started=1)
    await world.add_domain(
        "shop.example",
        status="active",
        pages_discovered=5,
        pages_crawled=2,
        frontier_size=2,
        total_error_count=1,
        depth_reached=1,
    )
    await world.add_domain("idle.example")
    await world.conn.execute("UPDATE domains SET ready_at = now() WHERE name = 'shop.example'")
    await _build_pages(world)
    await world.conn.execute(
        "INSERT INTO run_outcomes VALUES ($1, 'success', '200', 2, 200, 9), ($1, 'blocked_4xx', '404', 1, 100, 9)",
        world.run,
    )


async def _build_pages(world: World) -> None:
    about, gone, later, new = (f"{SEED}{name}" for name in ("about", "gone", "later", "new"))
    fetched = {"status": "fetched", "fetched_at": datetime.now(UTC)}
    signals = {**fetched, "content_hash": bytes(16), "language": "en", "content_type": "text/html"}
    await world.add_page(
        SEED, depth=0, is_seed=True, title="=Shop \x1b[31m[red]", description="All\nof it", links_count=4, **signals
    )
    await world.add_page(about, title="Über uns", links_count=0, **signals)
    await world.add_page(gone, status="gone")
    await world.add_page(later, status="queued")
    await world.add_page(new, depth=2)
    await world.link(SEED, about, gone, later, new)
    await world.close(SEED, "success", 200, response_time_ms=12)
    await world.close(about, "success", 200, response_time_ms=34)
    await world.close(
        gone, "blocked_4xx", 404, error_code="http_status", error_message="the server answered 404", blame="site"
    )
    await world.add_task(later)


@pytest.fixture
async def world(conn: Any) -> World:
    made = World(conn)
    await build(made)
    return made


# The command line ---------------------------------------------------------------------------------------------------


class Said(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def forager(
    world: Any, database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Any]:
    monkeypatch.setenv("FORAGER_DATABASE_URL", database_url)
    monkeypatch.setenv("FORAGER_HOME", str(tmp_path / "home"))

    async def call(*arguments: str) -> Said:
        code = await asyncio.to_thread(run, arguments)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Said(code, captured.out, captured.err)

    return call
