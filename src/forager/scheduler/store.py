"""Reads and changes the rows of jobs for commands and routes."""

from collections.abc import Sequence

from forager.db import statements
from forager.db.rows import Row, as_dicts
from forager.db.types import Connection
from forager.scheduler.job import Job

SQL = statements.load("forager.scheduler")
NEVER_RAN = dict.fromkeys(("started_at", "ended_at", "took_s", "result", "error", "next_at")) | {"times": 0}


async def list_jobs(conn: Connection) -> list[Row]:
    """Returns every job that was ever registered, with its last run and its next one."""
    return as_dicts(await conn.fetch(SQL["list_jobs"]))


def with_unregistered(rows: Sequence[Row], jobs: Sequence[Job]) -> list[Row]:
    """Returns these rows, and one for each of these jobs that has none because no scheduler has run yet."""
    known = {row["name"] for row in rows}
    missing = [{"name": job.name, "every_s": job.interval_s, **NEVER_RAN} for job in jobs if job.name not in known]
    return sorted([*rows, *missing], key=lambda row: row["name"])


async def list_overdue(conn: Connection, names: Sequence[str]) -> list[Row]:
    """Returns how late each of these jobs is, the most overdue first."""
    return as_dicts(await conn.fetch(SQL["list_overdue"], names))


async def trigger_job(conn: Connection, name: str, interval_s: float) -> bool:
    """Makes a job due now; a scheduler then runs it. Returns False while it is running."""
    return await conn.fetchval(SQL["trigger_job"], name, interval_s) is not None
