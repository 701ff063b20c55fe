"""What tests of jobs share: a context, pages with a history, and the question whether every promise is kept."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from tests.ground import Ground

from forager.config.settings import Settings
from forager.dispatch.broker import Broker
from forager.explain.check import check
from forager.instance import Forager
from forager.scheduler.job import JobContext

HOME = tempfile.TemporaryDirectory(prefix="forager-jobs-")
NO_DATABASE: Any = None
DAY_S = 86_400.0
PAST = "(now() - interval '1 minute')"
BLOCKED = {"status": "blocked", "block_reason": "it said no", "block_reason_code": "forbidden"}
UNREACHABLE = {"status": "unreachable", "block_reason": "nobody there", "block_reason_code": "unreachable"}


def a_context(
    conn: Any,
    settings: Settings | None = None,
    *,
    broker: Broker | None = None,
    job_names: tuple[str, ...] = (),
    **more: Any,
) -> JobContext:
    """For a job that works on its connection alone; by default with the usual settings and these."""
    return JobContext(Forager(settings or some_settings(**more), NO_DATABASE), conn, broker, job_names)


def some_settings(**more: Any) -> Settings:
    return Settings.of(home=Path(HOME.name), **more)


@pytest.fixture(autouse=True)
async def jobs_are_new(ground: Ground) -> None:
    """Tables that are not emptied with the domains."""
    await ground.conn.execute("DELETE FROM jobs")


async def a_visited_page(
    ground: Ground,
    url: str,
    domain: int,
    *,
    outcome: str = "success",
    code: int = 200,
    days_ago: int = 0,
    **columns: Any,
) -> int:
    """A page whose one visit ended so, counted as a crawl would count it."""
    states = {"success": "fetched", "blocked_4xx": "gone" if code in {404, 410} else "blocked", "blocked_5xx": "failed"}
    page = await ground.a_page(url, domain, **{"status": states[outcome]} | columns)
    is_good = outcome == "success"
    await ground.conn.execute(
        "INSERT INTO crawl_tasks (page_id, domain_id, status, outcome, status_code, blame, completed_at, bytes,"
        " response_time_ms)"
        " VALUES ($1, $2, $3::task_status, $4::task_outcome, $5, $6, now() - make_interval(days => $7), 100, 10)",
        *(page, domain, "completed" if is_good else "failed", outcome, code, None if is_good else "site", days_ago),
    )
    await ground.conn.execute(
        "UPDATE domains SET pages_crawled = pages_crawled + $2, total_error_count = total_error_count + $3"
        " WHERE id = $1",
        *(domain, int(is_good), int(not is_good)),
    )
    return page


async def set_domain(ground: Ground, domain: int, **columns: Any) -> None:
    """All at once: some values are only right together. Texts in parentheses are SQL."""
    values = {name: value if str(value).startswith("(") else f"'{value}'" for name, value in columns.items()}
    assignments = ", ".join(f"{name} = {value}" for name, value in values.items())
    await ground.conn.execute(f"UPDATE domains SET {assignments} WHERE id = $1", domain)


async def open_tasks(ground: Ground, domain: int) -> dict[str, str]:
    """URL → who ordered the visit."""
    rows = await ground.conn.fetch(
        "SELECT p.url, t.created_by FROM crawl_tasks t JOIN pages p ON p.id = t.page_id"
        " WHERE t.domain_id = $1 AND t.outcome IS NULL AND t.scheduled_for <= now() ORDER BY t.id",
        domain,
    )
    return {row["url"]: row["created_by"] for row in rows}


async def last_move(ground: Ground, domain: int) -> tuple[str, str, str, str, str] | None:
    row = await ground.conn.fetchrow(
        "SELECT from_status::text, to_status::text, reason_code, reason, moved_by FROM domain_history"
        " WHERE domain_id = $1 ORDER BY id DESC LIMIT 1",
        domain,
    )
    return None if row is None else tuple(row)


async def broken_promises(ground: Ground) -> dict[str, tuple[str, ...]]:
    return {
        finding.name: finding.examples
        for verdict in await check(ground.conn)
        for finding in verdict.findings
        if finding.broken
    }
