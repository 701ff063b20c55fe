"""Revisits what is due: wakes exhausted domains whose next visit is due, and repeats the config of each earlier run."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from forager.db.types import Connection
from forager.domains import cooldown
from forager.domains.jobs.refresh import RefreshJob
from forager.engine.stop import StopRequest
from forager.engine.transaction_retry import in_transaction
from forager.instance import Forager
from forager.runs.models import Progress, RunReport, RunSpec
from forager.runs.repeat import start_refresh
from forager.runtime.crawl import execute_run, note_start
from forager.runtime.schedule import run_jobs_once
from forager.workers.jobs import TakeoverJob

LONGEST_SLEEP_S = 60.0
"""Another process may have changed what is due."""


@dataclass(frozen=True, slots=True)
class RefreshOrder:
    names: Sequence[str] | None
    """Only these domains; None: all."""
    is_now: bool
    """Also domains that were crawled completely and are not due yet."""
    workers: int
    max_pages: int | None
    delay_s: float | None
    check: Callable[[RunSpec], None]
    """May reject the config of an earlier run by raising."""
    by: str = "cli"


async def refresh(
    forager: Forager, order: RefreshOrder, *, on_progress: Callable[[Progress], None], stop: StopRequest
) -> list[RunReport]:
    """Visits everything that is due; returns one report for each earlier run that is repeated."""
    if order.is_now:
        await in_transaction(forager.database, partial(cooldown.refresh_now, names=order.names))
    await run_jobs_once(forager, [TakeoverJob.name])
    reports: list[RunReport] = []
    while not stop.asked:
        await run_jobs_once(forager, [RefreshJob.name])  # wakes a batch: the rest follows when these are done
        due = await in_transaction(forager.database, partial(cooldown.count_due_revisits, names=order.names))
        done = [await _run_refresh(forager, run, order, on_progress, stop) for run in due if not stop.asked]
        reports += done
        if order.max_pages is not None or not any(report.progress.pages_done for report in done):
            break
    return reports


async def _run_refresh(
    forager: Forager, before: int, order: RefreshOrder, on_progress: Callable[[Progress], None], stop: StopRequest
) -> RunReport:
    start = partial(
        start_refresh,
        before=before,
        names=order.names,
        max_pages=order.max_pages,
        delay_s=order.delay_s,
        check=order.check,
    )

    async def begin(conn: Connection) -> tuple[int, RunSpec]:
        run, spec = await start(conn)
        await note_start(conn, run=run, spec=spec, by=order.by, again=before)
        return run, spec

    run, spec = await in_transaction(forager.database, begin)
    return await execute_run(forager, run, spec, workers=order.workers, on_progress=on_progress, stop=stop)


async def wait_for_due(forager: Forager, *, names: Sequence[str] | None, stop: StopRequest) -> None:
    """Waits until the next domain wakes, a minute has passed, or a stop is requested."""
    wait_s = await in_transaction(forager.database, partial(cooldown.next_revisit_s, names=names))
    sleep_s = LONGEST_SLEEP_S if wait_s is None else min(max(wait_s, 1.0), LONGEST_SLEEP_S)
    stopping = asyncio.create_task(stop.wait_requested())
    await asyncio.wait({stopping}, timeout=sleep_s)
    stopping.cancel()
    await asyncio.gather(stopping, return_exceptions=True)
