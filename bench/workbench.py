"""A worker's hands without its network: the real claims and the real writer, each step timed by itself."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bench.stopwatch import Stopwatch
from forager.config.cipher import PasswordCipher
from forager.config.loader import load
from forager.db.database import Database, open_database
from forager.domains.store import Release
from forager.engine.batch import Draft
from forager.engine.claims import Claims
from forager.engine.config import WorkerConfig
from forager.engine.domain_queues import DomainQueues
from forager.engine.transaction_retry import in_transaction
from forager.engine.writer import Writer
from forager.frontier.enqueue import EnqueueResult
from forager.frontier.models import Lease, Outcome, Target
from forager.links.models import Discovery
from forager.proxies.worker_pools import WorkerPools
from forager.runs.models import RunSpec
from forager.runs.start import start_run
from forager.runtime.worker import build_recorders, build_worker_config
from forager.stats import store as stats

LEASES_AT_ONCE = 200
SETTLE = "SELECT gin_clean_pending_list('page_link_lists_to')"


class Workbench:
    def __init__(self, database: Database, order: WorkerConfig, worker: int, stopwatch: Stopwatch) -> None:
        self._worker = worker
        self._database = database
        self.stopwatch = stopwatch
        self._claims = Claims(database, order.run, order.lease)
        self._recorders = recorders = build_recorders(database, order, WorkerPools(PasswordCipher(())))
        self._writer = Writer(database, order, DomainQueues(worker), recorders=recorders)
        self.leases: list[Lease] = []

    async def lease_all(self) -> None:
        while claimed := (await self._claims.domains(self._worker, LEASES_AT_ONCE)).leases:
            self.leases += claimed

    async def release_all(self) -> None:
        await self._claims.release(self._worker, [Release(lease, wait_s=0.0) for lease in self.leases])

    async def claim(self, wants: Sequence[tuple[Lease, int]]) -> list[Target]:
        with self.stopwatch.time("claim"):
            return await self._claims.targets(self._worker, wants)

    async def learn(self, links: Sequence[Discovery], *, stage: str = "learn") -> EnqueueResult:
        with self.stopwatch.time(stage):
            return await self._writer.learn(links)

    async def record(self, outcomes: Sequence[Outcome], learned: EnqueueResult) -> None:
        with self.stopwatch.time("record"):
            draft = Draft(outcomes, learned, [await recorder.prepare([]) for recorder in self._recorders])
            await in_transaction(self._database, lambda conn: self._writer.record_batch(conn, draft))

    async def settle(self, *, stage: str) -> None:
        """PostgreSQL puts links off and indexes many at once; whoever put them off pays for it."""
        with self.stopwatch.time(stage):
            await self._database.pool.execute(SETTLE)


@asynccontextmanager
async def open_workbench(home: Path, spec: RunSpec, database_url: str | None = None) -> AsyncIterator[Workbench]:
    """A worker with a run of its own that holds all its domains. One connection, so that one backend does it all."""
    settings = load({"home": home, "database.url": database_url}, {})
    async with open_database(settings, size=1, application="bench") as database:

        async def begin(conn: Any) -> tuple[int, int, int]:
            run = await start_run(conn, spec, by="bench")
            worker = await stats.add_worker(conn, run, host="bench", pid=os.getpid(), pid_started=0)
            return run, worker, await conn.fetchval("SELECT pg_backend_pid()")

        run, worker, backend = await in_transaction(database, begin)
        order = build_worker_config(settings, run, spec, workers=1)
        bench = Workbench(database, order, worker, Stopwatch(backend))
        await bench.lease_all()
        try:
            yield bench
        finally:
            await bench.release_all()
