"""Rows for tests of SQL: each call names what matters, the rest is as a crawl would leave it. Counters are right."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from tests.builders import SETTINGS, a_lease, a_spec
from tests.conftest import Server, do, in_thread
from tests.conftest import _create as create_database
from tests.conftest import _template as find_template
from tests.conftest import _with_connection as with_connection
from tests.factories import DomainFactory, PageFactory, TaskFactory

from forager.db.database import Database
from forager.frontier import claim
from forager.frontier.enqueue import EnqueueResult, enqueue
from forager.frontier.models import Lease, Target
from forager.runs.models import RunSpec
from forager.stats import store as stats
from forager.stats.processes import get_host_key
from forager.urls.normalize import url_key

NO_PATTERNS = (None, None, None)
CASTS = {
    ("crawl_tasks", "status"): "::text::task_status",
    ("crawl_tasks", "outcome"): "::text::task_outcome",
    ("pages", "status"): "::text::page_status",
    ("domains", "status"): "::text::domain_status",
}
"""Columns of enumerations."""
CHOOSE = """INSERT INTO domain_settings (domain_id, settings)
SELECT id, $2::jsonb FROM domains WHERE $1::bigint IS NULL OR id = $1
ON CONFLICT (domain_id) DO UPDATE SET settings = domain_settings.settings || EXCLUDED.settings"""


class Ground:
    """Plants rows through one connection; ids are those the database gave."""

    def __init__(self, conn: Any) -> None:
        self.conn = conn
        self.new_task = TaskFactory(self)
        self.new_page = PageFactory(self)
        self.new_domain = DomainFactory(self)

    async def a_run(self, spec: RunSpec | None = None) -> int:
        return await stats.start_run(self.conn, spec or a_spec(), by="test")

    async def a_worker(self, run: int | None = None, *, silent_s: float = 0.0, pid: int = 1, **columns: Any) -> int:
        worker = await stats.add_worker(
            self.conn, run, host=columns.pop("host", get_host_key()), pid=pid, pid_started=0
        )
        await self.conn.execute(
            "UPDATE workers SET heartbeat_at = now() - make_interval(secs => $2) WHERE id = $1", worker, silent_s
        )
        await self._set("workers", worker, columns)
        return worker

    async def a_domain(
        self, name: str = "a.example", *, run: int | None = None, pages: int = 0, depth: int = 1, **columns: Any
    ) -> int:
        """Active and ready, with so many discovered pages `http://<name>/1` …"""
        domain: int = await self.conn.fetchval(
            "INSERT INTO domains (name, parent_domain, base_url, run_id, status, ready_at)"
            " VALUES ($1, $1, 'http://' || $1, $2, CASE WHEN $3 THEN 'pending' ELSE 'active' END::domain_status, now())"
            " RETURNING id",
            name,
            run,
            columns.get("status") == "pending",
        )
        for number in range(1, pages + 1):
            await self.a_page(f"http://{name}/{number}", domain, depth=depth)
        chosen = {SETTINGS[column]: columns.pop(column) for column in list(columns) if column in SETTINGS}
        await self._set("domains", domain, columns)
        await self.choose(domain, **{name: value for name, value in chosen.items() if value is not None})
        return domain

    async def choose(self, domain: int | None = None, **settings: Any) -> None:
        """Chooses crawl settings for a domain, or for all, as `forager domain NAME set` does."""
        if settings:
            await self.conn.execute(CHOOSE, domain, json.dumps(settings))

    async def a_page(self, url: str, domain: int, *, depth: int = 1, priority: int = 5, **columns: Any) -> int:
        page: int = await self.conn.fetchval(
            "INSERT INTO pages (domain_id, url, url_hash, depth, priority) VALUES ($1, $2, $3, $4, $5) RETURNING id",
            domain,
            url,
            url_key(url),
            depth,
            priority,
        )
        await self._set("pages", page, columns)
        await self.conn.execute(
            "UPDATE domains SET pages_discovered = pages_discovered + 1, frontier_size = frontier_size + $2"
            " WHERE id = $1",
            domain,
            columns.get("status", "discovered") in {"discovered", "queued"},
        )
        return page

    async def a_task(self, page: int, *, due_in_s: float = 0.0, **columns: Any) -> int:
        """An open task; its page is queued."""
        task: int = await self.conn.fetchval(
            "INSERT INTO crawl_tasks (page_id, domain_id, scheduled_for)"
            " SELECT id, domain_id, now() + make_interval(secs => $2) FROM pages WHERE id = $1 RETURNING id",
            page,
            due_in_s,
        )
        await self.conn.execute("UPDATE pages SET status = 'queued' WHERE id = $1", page)
        await self._set("crawl_tasks", task, columns)
        return task

    async def link(self, source: int, target: int, rel: str = "a") -> None:
        await self.conn.execute(
            "INSERT INTO page_link_lists AS l (from_page_id, domain_id, to_page_ids, rels, anchors)"
            " SELECT id, domain_id, ARRAY[$2::bigint], $3, '' FROM pages WHERE id = $1"
            " ON CONFLICT (from_page_id) DO UPDATE SET to_page_ids = l.to_page_ids || $2,"
            " rels = l.rels || ',' || EXCLUDED.rels, anchors = l.anchors || E'\\x1f'",
            source,
            target,
            rel,
        )

    async def a_lease(self, domain: int, worker: int, *, lease_s: float = 60.0) -> Lease:
        """As a claim would stamp it."""
        version = await self.conn.fetchval(
            "UPDATE domains SET claimed_by = $2, claim_expires_at = now() + make_interval(secs => $3),"
            " version = version + 1 WHERE id = $1 RETURNING version",
            domain,
            worker,
            lease_s,
        )
        return a_lease(domain, version)

    async def targets(self, lease: Lease, worker: int, run: int, want: int = 100, **limits: Any) -> list[Target]:
        given = {"max_pages_per_domain": None, "max_depth": 10, "patterns": NO_PATTERNS} | limits
        targets, _ = await claim.claim_tasks(self.conn, [(lease, want)], worker=worker, run=run, **given)
        return targets

    async def domain(self, domain: int) -> Any:
        return await self.conn.fetchrow("SELECT *, status::text FROM domains WHERE id = $1", domain)

    async def page(self, page: int) -> Any:
        return await self.conn.fetchrow("SELECT *, status::text FROM pages WHERE id = $1", page)

    async def task(self, task: int) -> Any:
        return await self.conn.fetchrow("SELECT *, status::text, outcome::text FROM crawl_tasks WHERE id = $1", task)

    async def tasks(self, page: int) -> list[Any]:
        found: list[Any] = await self.conn.fetch(
            "SELECT *, status::text, outcome::text FROM crawl_tasks WHERE page_id = $1 ORDER BY id", page
        )
        return found

    async def urls(self, where: str = "true") -> set[str]:
        return {row["url"] for row in await self.conn.fetch(f"SELECT url FROM pages WHERE {where}")}

    async def set_at_once(self, table: str, row: int, columns: Mapping[str, Any]) -> None:
        """Sets columns by one UPDATE, for those that only fit together. Values as for `_set`."""
        places, values = [], []
        for name, value in columns.items():
            is_sql = isinstance(value, str) and value.startswith("(")
            if not is_sql:
                values.append(value)
            cast = CASTS.get((table, name), "")
            places.append(f"{name} = {value}" if is_sql else f"{name} = ${len(values) + 1}{cast}")
        if places:
            await self.conn.execute(f"UPDATE {table} SET {', '.join(places)} WHERE id = $1", row, *values)

    async def _set(self, table: str, row: int, columns: dict[str, Any]) -> None:
        """Values are SQL where they are text in parentheses, such as `(now() + interval '1 hour')`."""
        for name, value in columns.items():
            is_sql = isinstance(value, str) and value.startswith("(")
            place, given = (value, []) if is_sql else ("$2", [value])
            await self.conn.execute(f"UPDATE {table} SET {name} = {place} WHERE id = $1", row, *given)


async def add_plainly(conn: Any, links: Iterable[Any], ids: dict[str, int]) -> EnqueueResult:
    """Learn with domains that are known already."""
    learned = EnqueueResult()

    async def find(_conn: Any, _bases: Any) -> dict[str, int]:
        return ids

    await enqueue(conn, learned, {link.key: link for link in links}, find)
    return learned


# One database for many tests -----------------------------------------------------------------------------------------

SHARED: dict[str, tuple[str, str]] = {}
"""Server → the database of this process, and what empties it. Dropped with all others when the test run ends."""


@pytest.fixture
def database_url(server: Server, run_folder: Path) -> str:
    """Emptied, not made anew: two hundred copies of the template would take minutes."""
    if server.name not in SHARED:
        name = f"{run_folder.name}-shared-{os.getpid()}"
        do(server.dsn_of("postgres"), create_database(name, find_template(server, run_folder), server.copying))
        do(server.dsn_of("postgres"), f'ALTER DATABASE "{name}" SET synchronous_commit = off')
        dsn = server.dsn_of(name)
        SHARED[server.name] = dsn, in_thread(with_connection(dsn, _how_to_empty))
    else:
        do(*SHARED[server.name])
    return SHARED[server.name][0]


async def _how_to_empty(conn: Any) -> str:
    """Every table that is empty in a new database, whatever refers to it and guards it."""
    tables = await conn.fetch("SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'")
    empty = [t["name"] for t in tables if not await conn.fetchval(f"SELECT EXISTS (SELECT FROM {t['name']})")]
    return "SET LOCAL session_replication_role = replica; " + "; ".join(f"DELETE FROM {name}" for name in empty)


@pytest.fixture
def ground(conn: asyncpg.Connection) -> Ground:
    return Ground(conn)


@pytest.fixture
def database(pool: asyncpg.Pool, database_url: str) -> Database:
    return Database(pool, "a test's database", is_embedded=False, dsn=database_url)
