"""A crawled web with a past: pages that were visited again and again, some of it months ago; every promise kept."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.ground import database_url
from tests.integration.world import World, forager

from forager import clock
from forager.explain.check import check
from forager.frontier.history import Retention

__all__ = ["database_url", "forager"]
DAY = timedelta(days=1)
RETENTION = Retention(7 * 86400.0, 30 * 86400.0)
PAGES = 4


class Past(World):
    """Visits at any moment, with the counters they leave."""

    dsn = ""

    async def visit(self, url: str, ago: timedelta, outcome: str = "success", **columns: Any) -> int:
        at = clock.now() - ago
        code, more = (200, {}) if outcome == "success" else (500, {"error_code": "http_status", "blame": "site"})
        given: dict[str, Any] = {"created_at": at, "scheduled_for": at, "requested_at": at, "completed_at": at}
        task = await self.close(url, outcome, code, pace_ms=0, **given | more | columns)
        good, bad = int(outcome == "success"), int(outcome != "success")
        await self.conn.execute(
            "UPDATE domains SET pages_crawled = pages_crawled + $2, total_error_count = total_error_count + $3"
            " WHERE id = $1",
            self.domains[url.split("/")[2]],
            good,
            bad,
        )
        await self.conn.execute(
            "INSERT INTO run_outcomes VALUES ($1, $2, $3, 1, 100, 9) ON CONFLICT (run_id, outcome, reason)"
            " DO UPDATE SET pages = run_outcomes.pages + 1",
            self.run,
            outcome,
            str(code),
        )
        return task

    async def tasks(self) -> list[int]:
        return [row["id"] for row in await self.conn.fetch("SELECT id FROM crawl_tasks ORDER BY id")]

    async def broken(self) -> dict[str, tuple[str, ...]]:
        async with self.conn.transaction(isolation="repeatable_read", readonly=True):
            verdicts = await check(self.conn)
        return {f.name: f.examples for verdict in verdicts for f in verdict.findings if f.broken}


@pytest.fixture
async def world(conn: Any) -> AsyncIterator[Past]:
    """Each page: a visit 100 days ago, a failure and another try 60 days ago, a visit 10 days ago, one yesterday."""
    past = Past(conn)
    spec = '{"seeds": [], "scope": "host", "include": [], "exclude": [], "max_depth": 10}'
    past.run = await past.insert("runs", spec=spec, max_depth=10, max_pages=1000, pages_claimed=5 * PAGES)
    await past.add_domain("old.example", status="active", pages_discovered=PAGES, depth_reached=1)
    for number in range(PAGES):
        url = f"http://old.example/{number}"
        await past.add_page(url, status="fetched")
        await past.visit(url, 100 * DAY)
        failed = await past.visit(url, 60 * DAY, "blocked_5xx")
        await past.visit(url, 60 * DAY, parent_task_id=failed, retry_count=1)
        await past.visit(url, 10 * DAY)
        await past.visit(url, 1 * DAY)
    await rolled_up(conn)
    assert await past.broken() == {}
    yield past
    await go_on(past)


async def stop_after(world: World, statement: str, times: int) -> None:
    """From then on the database refuses, as if the process had been killed there."""
    await world.conn.execute(
        f"CREATE SEQUENCE patience; CREATE FUNCTION stop_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" IF nextval('patience') > {times} THEN RAISE EXCEPTION 'killed'; END IF; RETURN COALESCE(NEW, OLD); END $$;"
        f" CREATE TRIGGER stop_it BEFORE {statement} FOR EACH ROW EXECUTE FUNCTION stop_it()"
    )


async def go_on(world: World) -> None:
    await world.conn.execute("DROP FUNCTION IF EXISTS stop_it CASCADE; DROP SEQUENCE IF EXISTS patience")


async def rolled_up(conn: Any) -> None:
    """The job has been here today."""
    await conn.execute(
        "INSERT INTO domain_days SELECT id, (now() AT TIME ZONE 'UTC')::date, 0, 0, 0, 0, 0, 0 FROM domains"
        " ON CONFLICT DO NOTHING"
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "home" / "cold"


def month_of(ago: timedelta) -> str:
    return f"{clock.now() - ago:%Y-%m}"


def files(folder: Path, pattern: str = "**/*.csv.gz") -> list[Path]:
    return sorted(folder.glob(pattern))
