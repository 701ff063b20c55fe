"""Forager by its own command, on a fresh data folder: the embedded database is created by the run that is measured."""

import asyncio
import shutil
import sys
from pathlib import Path

from bench.child import run_child, stop_postmaster
from bench.ledger import Ledger
from bench.measure import postmaster_below
from bench.run import InvalidRunError, Job, Run, conclude
from forager.config.loader import load
from forager.db.database import open_database

CLOSED_VISITS = """
SELECT p.url, p.title IS NOT NULL AS has_title, p.description IS NOT NULL AS has_description,
       extract(epoch FROM t.requested_at)::float8 AS requested_at, t.response_time_ms / 1000.0::float8 AS took_s,
       extract(epoch FROM t.completed_at)::float8 AS completed_at
FROM crawl_tasks t JOIN pages p ON p.id = t.page_id WHERE t.outcome = 'success' ORDER BY t.id
"""
EDGES = "SELECT count(*) FROM page_links"


def run_one_worker(crawler: str, job: Job) -> Run:
    return run_forager(crawler, job, workers=1)


def run_two_workers(crawler: str, job: Job) -> Run:
    return run_forager(crawler, job, workers=2)


def run_forager(crawler: str, job: Job, *, workers: int) -> Run:
    home = job.folder / "home"
    command = [find_command(), "crawl", *job.seeds, "--scope", "host", "--workers", str(workers)]
    try:
        ran = run_child(
            command,
            folder=job.folder,
            timeout_s=job.timeout_s,
            environment=make_environment(job, home),
            postmaster=lambda: postmaster_below(home),
        )
        if ran.exit_code:
            raise InvalidRunError(f"{crawler} ended with exit code {ran.exit_code}: {ran.last_words}")
        return conclude(crawler, job, ran, asyncio.run(read_ledger(home)), has_postgres=True)
    finally:
        stop_postmaster(postmaster_below(home))


def make_environment(job: Job, home: Path) -> dict[str, str]:
    hosts = ",".join(job.hosts)
    return {
        "FORAGER_HOME": str(home),
        "FORAGER_FETCH_ALLOW_NETWORKS": hosts,
        "FORAGER_POLITENESS_NO_DELAY_HOSTS": hosts,
        "FORAGER_POLITENESS_NO_DELAY_MAX_REQUESTS": str(job.per_site),
        "FORAGER_FETCH_MAX_REQUESTS_PER_WORKER": str(max(256, job.per_site * len(job.seeds))),
    }


def find_command() -> str:
    """The installed command beside this interpreter, as a person would start it."""
    beside = Path(sys.executable).with_name("forager")
    command = str(beside) if beside.exists() else shutil.which("forager")
    if command is None:
        raise FileNotFoundError("there is no `forager` command; run `make setup` first")
    return command


async def read_ledger(home: Path) -> Ledger:
    """What the database says was done, in the form in which the other crawlers tell it."""
    async with open_database(load({"home": home}, {}), size=1, application="bench") as database:
        visits = await database.pool.fetch(CLOSED_VISITS)
        edges = await database.pool.fetchval(EDGES)
    if not visits:
        return Ledger()
    return Ledger(
        urls=[visit["url"] for visit in visits],
        titles=sum(visit["has_title"] for visit in visits),
        descriptions=sum(visit["has_description"] for visit in visits),
        links=edges,
        first_request_at=min(visit["requested_at"] for visit in visits),
        first_page_at=min(visit["requested_at"] + visit["took_s"] for visit in visits),
        last_done_at=max(visit["completed_at"] for visit in visits),
    )
