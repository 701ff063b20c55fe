"""Whether a claim costs the same however many domains there are: leases are taken and handed back at growing sizes.

The worker's own functions, one connection. Nothing is fetched: each lease is handed back as one whose budget is spent,
so that every claim meets other domains.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

from bench.folder import fresh_folder
from bench.growth import running_server
from bench.stopwatch import backend_cpu_s
from bench.talk import tell
from forager.config.loader import load
from forager.config.settings import Settings
from forager.db import statements
from forager.db.database import Database, open_database
from forager.domains.store import Release
from forager.engine.claims import Claims
from forager.engine.config import LeaseConfig, RunConfig
from forager.engine.transaction_retry import in_transaction
from forager.runs.models import RunSpec, Scope
from forager.stats import store as stats

T = TypeVar("T")
SQL = statements.load("bench", "leases.sql")
DOMAINS = (1_000, 10_000, 100_000, 1_000_000)
AT_ONCE = 50
WARM_TURNS = 30
TURNS = 300
CHUNK = 100_000
FILL_TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True)
class LeaseStep:
    """What one size costs: medians in ms, for so many leases at once."""

    size: int
    claim_ms: float
    release_ms: float
    next_ready_ms: float
    backend_ms: float
    """CPU of the backend for one claim and one release, on average."""

    @property
    def turn_ms(self) -> float:
        return self.claim_ms + self.release_ms


def measure_leases(sizes: Sequence[int]) -> list[LeaseStep]:
    with fresh_folder() as folder, running_server(folder / "home") as home:
        return asyncio.run(measure_sizes(load({"home": home}, {}), sizes))


async def measure_sizes(settings: Settings, sizes: Sequence[int]) -> list[LeaseStep]:
    """In the settings' database, which has to be a fresh one."""
    async with open_database(settings, size=1, application="bench") as database:
        spec = RunSpec(seeds=(), scope=Scope.ANY)
        run = await in_transaction(database, lambda conn: stats.start_run(conn, spec, by="bench"))
        lease = LeaseConfig(settings.worker.lease, settings.worker.heartbeat, settings.worker.dead_after, AT_ONCE)
        claims = Claims(database, RunConfig(run, spec), lease)
        steps, have = [], 0
        for size in sizes:
            tell(f"Leases: filling the database to {size:,} domains")
            await grow(database, run, have, size)
            have = size
            tell("Leases: measuring")
            steps.append(await measure_step(database, claims, run, size))
    return steps


async def grow(database: Database, run: int, have: int, size: int) -> None:
    async with database.pool.acquire() as conn:
        for start in range(have, size, CHUNK):
            await conn.execute(SQL["add_domains"], run, start + 1, min(start + CHUNK, size), timeout=FILL_TIMEOUT_S)
        await conn.execute(SQL["add_pages"], timeout=FILL_TIMEOUT_S)
        for statement in ("VACUUM (ANALYZE) domains", "VACUUM (ANALYZE) pages", "CHECKPOINT"):
            await conn.execute(statement, timeout=FILL_TIMEOUT_S)


async def measure_step(database: Database, claims: Claims, run: int, size: int) -> LeaseStep:
    worker, backend = await in_transaction(database, lambda conn: begin(conn, run))
    for _ in range(WARM_TURNS):
        await take_turn(claims, worker)
    cpu_s = backend_cpu_s(backend)
    turns = [await take_turn(claims, worker) for _ in range(TURNS)]
    cpu_s = backend_cpu_s(backend) - cpu_s
    asked = [(await timed(claims.next_ready()))[0] for _ in range(TURNS)]
    return LeaseStep(
        size=size,
        claim_ms=median(claim_s for claim_s, _ in turns) * 1000,
        release_ms=median(release_s for _, release_s in turns) * 1000,
        next_ready_ms=median(asked) * 1000,
        backend_ms=cpu_s / TURNS * 1000,
    )


async def begin(conn: Any, run: int) -> tuple[int, int]:
    worker = await stats.add_worker(conn, run, host="bench", pid=os.getpid(), pid_started=0)
    return worker, await conn.fetchval("SELECT pg_backend_pid()")


async def take_turn(claims: Claims, worker: int) -> tuple[float, float]:
    """Seconds for the claim, and for handing back."""
    claim_s, claimed = await timed(claims.domains(worker, AT_ONCE))
    if len(claimed.leases) < AT_ONCE:
        raise AssertionError(f"{len(claimed.leases)} domains were claimed, and {AT_ONCE} were to be")
    releases = [Release(lease, wait_s=0.0, is_spent=True) for lease in claimed.leases]
    release_s, _ = await timed(claims.release(worker, releases))
    return claim_s, release_s


async def timed(work: Awaitable[T]) -> tuple[float, T]:
    started_s = time.perf_counter()
    answer = await work
    return time.perf_counter() - started_s, answer
