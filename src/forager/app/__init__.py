"""Builds a running Forager from Settings: the one place where everything meets. Decides nothing itself.

What a worker process needs is in `app.worker`, so that a command that only looks does not load a crawler.
"""

import contextlib
import os
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from forager import clock
from forager.control.seed import start_run
from forager.crawl.patience import AWAY, in_transaction
from forager.crawl.recover import recover
from forager.crawl.report import read_progress, read_report
from forager.crawl.stop import StopRequest
from forager.crawl.supervise import Supervisor
from forager.db import Database, open_database
from forager.records import Progress, RunEnd, RunReport, RunSpec
from forager.settings import Settings, to_environment
from forager.stats import store as stats

PROGRESS_EVERY_S = 0.5


@dataclass(frozen=True, slots=True)
class Forager:
    settings: Settings
    database: Database

    @property
    def pool(self) -> Any:
        return self.database.pool


@contextlib.asynccontextmanager
async def open_forager(settings: Settings, *, application: str, connections: int = 4) -> AsyncIterator[Forager]:
    async with open_database(settings, size=connections, application=application) as database:
        yield Forager(settings, database)


async def crawl(
    forager: Forager,
    spec: RunSpec,
    *,
    workers: int,
    on_progress: Callable[[Progress], None],
    stop: StopRequest,
    by: str = "cli",
) -> RunReport:
    """One run from order to report: recover, seed, supervise, tell."""
    database, settings = forager.database, forager.settings
    dead_after_s, delay_s = settings.dead_after_s, spec.delay_or(settings.delay_s)

    async def put_right() -> None:
        await in_transaction(database, partial(recover, dead_after_s=dead_after_s, delay_s=delay_s))

    await put_right()
    run = await in_transaction(database, partial(start_run, spec=spec, by=by))
    show = _Throttled(database, run, on_progress)
    command = [sys.executable, "-m", "forager", "worker", "--run", str(run), "--of", str(workers), "--attached"]
    supervisor = Supervisor(command, os.environ | to_environment(settings), stop, on_tick=show.tick, on_death=put_right)
    is_fine = await supervisor.run(workers)
    await put_right()
    was_stopped = stop.asked
    end = RunEnd.STOPPED if was_stopped else RunEnd.FINISHED if is_fine else RunEnd.FAILED
    await in_transaction(database, lambda conn: stats.end_run(conn, run, end.value))
    report = await in_transaction(
        database, partial(read_report, run=run, spec=spec, was_stopped=was_stopped, has_failed=not is_fine)
    )
    on_progress(report.progress)
    return report


class _Throttled:
    """Reads progress now and then; a database that is away is no reason to stop looking at the workers."""

    def __init__(self, database: Database, run: int, on_progress: Callable[[Progress], None]) -> None:
        self._database = database
        self._run = run
        self._on_progress = on_progress
        self._next_at = 0.0

    async def tick(self) -> None:
        if clock.monotonic() < self._next_at:
            return
        self._next_at = clock.monotonic() + PROGRESS_EVERY_S
        try:
            async with self._database.pool.acquire() as conn:
                progress = await read_progress(conn, self._run)
        except AWAY:
            with contextlib.suppress(*AWAY):
                await self._database.revive()
            return
        self._on_progress(progress)
