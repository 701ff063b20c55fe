"""Whether more workers bring more pages, and what they ask of PostgreSQL: one crawl for each number of workers, with
and without Redis, by each way work can reach a worker; with pace, where politeness decides, and without.

Each is a real `forager crawl` on a fresh database and must bring home exactly the web, each page once.
"""

import asyncio
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bench.child import run_child
from bench.folder import fresh_folder
from bench.growth import running_server
from bench.measure import postmaster_below
from bench.run import InvalidRunError, Job, conclude
from bench.runners.forager import find_command, read_ledger
from bench.table import as_markdown, as_text
from bench.talk import tell
from bench.web import Web, serve_web
from forager.config.loader import load
from forager.db import statements
from forager.db.database import open_database
from forager.db.query import Query

WORKERS = (1, 2, 4, 8, 16)
PACED, UNPACED = (2000, 5), (20, 500)
"""Sites and pages of each."""
PER_SITE = 16
TIMEOUT_S = 1800.0
SQL = statements.load("bench", "workers.sql")
HEADINGS = (
    *("pace", "queue", "Redis", "workers", "pages/s", "CPU ms/page", "PostgreSQL ms/page"),
    *("commits/page", "rows/page", "WAL KB/page", "memory MB"),
)


class Way(NamedTuple):
    """How a crawl is run."""

    has_pace: bool
    workers: int
    queue: str
    redis_url: str | None


class Load(NamedTuple):
    """What the server counted."""

    commits: int
    rows: int
    wal_bytes: int


@dataclass(frozen=True, slots=True)
class WorkersRun:
    way: Way
    pages_per_s: float
    own_ms: float
    postgres_ms: float
    commits: float
    rows: float
    wal_bytes: float
    peak_mb: float


def measure_workers(
    workers: Sequence[int],
    *,
    queues: Sequence[str] = ("inline",),
    redis_url: str | None = None,
    paced: tuple[int, int] = PACED,
    unpaced: tuple[int, int] = UNPACED,
    delay_s: float = 1.0,
) -> list[WorkersRun]:
    """Redis is asked for at this address; without one those rows are left out."""
    found = []
    redis = (None, redis_url) if redis_url else (None,)
    for has_pace, (sites, pages) in ((True, paced), (False, unpaced)):
        with serve_web(sites, pages) as web:
            for queue, url, number in itertools.product(queues, redis, workers):
                way = Way(has_pace, number, queue, url)
                tell(f"Workers: {describe_way(way)}, {sites} sites × {pages} pages")
                found.append(measure_way(way, web, delay_s=delay_s))
    return found


def describe_way(way: Way) -> str:
    pace = "paced" if way.has_pace else "no pace"
    return f"{way.workers} × {way.queue}, {pace}{', with Redis' if way.redis_url else ''}"


def measure_way(way: Way, web: Web, *, delay_s: float) -> WorkersRun:
    with fresh_folder() as folder, running_server(folder / "home") as home:
        before = asyncio.run(read_load(home))
        job = make_job(web, folder)
        ran = run_child(
            command_of(way, job, delay_s),
            folder=folder,
            timeout_s=TIMEOUT_S,
            environment=environment_of(way, job, home),
            postmaster=lambda: postmaster_below(home),
        )
        if ran.exit_code:
            raise InvalidRunError(f"{describe_way(way)} ended with exit code {ran.exit_code}: {ran.last_words}")
        run = conclude(describe_way(way), job, ran, asyncio.run(read_ledger(home)), has_postgres=True)
        after = asyncio.run(read_load(home))
    commits, rows, wal = (late - early for late, early in zip(after, before, strict=True))
    return WorkersRun(
        way,
        pages_per_s=run.pages_per_s,
        own_ms=run.own_us / 1000,
        postgres_ms=(run.postgres_us or 0.0) / 1000,
        commits=commits / run.pages,
        rows=rows / run.pages,
        wal_bytes=wal / run.pages,
        peak_mb=run.peak_mb,
    )


def make_job(web: Web, folder: Path) -> Job:
    sites = web.sites
    return Job(
        seeds=tuple(site.seed for site in sites),
        expected=frozenset(url for site in sites for url in site.urls),
        links=sum(site.links for site in sites),
        hosts=tuple(site.host for site in sites),
        folder=folder,
        timeout_s=TIMEOUT_S,
        per_site=PER_SITE,
    )


def command_of(way: Way, job: Job, delay_s: float) -> list[str]:
    """Two thousand seeds do not fit on a command line."""
    seeds = job.folder / "seeds.txt"
    seeds.write_text("\n".join(job.seeds) + "\n", encoding="utf-8")
    flags = ["--scope", "host", "--workers", str(way.workers)]
    return [find_command(), "crawl", "-f", str(seeds), *flags, *(["--delay", str(delay_s)] if way.has_pace else [])]


def environment_of(way: Way, job: Job, home: Path) -> dict[str, str]:
    loopback = "127.0.0.0/8"
    environment = {
        "FORAGER_HOME": str(home),
        "FORAGER_FETCH_ALLOW_NETWORKS": loopback,
        "FORAGER_FETCH_MAX_REQUESTS_PER_WORKER": str(max(256, job.per_site * 20)),
    }
    if not way.has_pace:
        environment |= {
            "FORAGER_POLITENESS_NO_DELAY_HOSTS": loopback,
            "FORAGER_POLITENESS_NO_DELAY_MAX_REQUESTS": str(job.per_site),
        }
    if way.redis_url:
        environment["FORAGER_REDIS_URL"] = way.redis_url
    if way.queue != "inline":
        environment["FORAGER_DISPATCH_MODE"] = way.queue
    return environment


async def read_load(home: Path) -> Load:
    """What everybody wrote there so far; who asks first makes the tables."""
    async with open_database(load({"home": home}, {}), size=1, application="bench") as database:
        return await Query(SQL["read_load"], Load).one(database.pool)


def show_workers(runs: Sequence[WorkersRun], *, is_markdown: bool) -> str:
    lay_out = as_markdown if is_markdown else as_text
    return lay_out(HEADINGS, list(rows_of(runs)), words=3)


def rows_of(runs: Sequence[WorkersRun]) -> Iterator[tuple[str, ...]]:
    for run in runs:
        yield (
            "on" if run.way.has_pace else "off",
            run.way.queue,
            "yes" if run.way.redis_url else "no",
            str(run.way.workers),
            f"{run.pages_per_s:,.0f}",
            f"{run.own_ms:.2f}",
            f"{run.postgres_ms:.2f}",
            f"{run.commits:.2f}",
            f"{run.rows:.1f}",
            f"{run.wal_bytes / 1000:.1f}",
            f"{run.peak_mb:,.0f}",
        )
