"""One crawl from start to report: recovers, seeds, supervises the workers, indexes and reports."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from forager import clock
from forager.accounts import audit
from forager.accounts.identity import operator
from forager.config.crawl_settings import show_value
from forager.config.loader import to_environment
from forager.db.database import Database
from forager.db.types import Connection
from forager.domains.settings import find_replaced
from forager.engine.crash_marker import FOLDER
from forager.engine.recovery import recover
from forager.engine.stop import StopRequest
from forager.engine.supervisor import Supervisor
from forager.engine.transaction_retry import AWAY, in_transaction
from forager.images.service import queue_wanted
from forager.instance import Forager
from forager.interpreter import python_module
from forager.logs import log
from forager.runs.models import Holder, Progress, ReplacedSetting, RunEnd, RunReport, RunSpec
from forager.runs.report import read_progress, read_report
from forager.runs.start import resolve_bare, start_run
from forager.seeds.service import NO_LIST, OnLoaded, SeedList, start_long_run
from forager.stats import seals
from forager.stats import store as stats
from forager.urls.domain import domain_of

SCHEDULER_CONNECTIONS = 13
"""Connections of a process that runs the scheduler: two for each loop, and one more for that of the model, so that none
waits for another."""
START_WITHIN_S = 8.0
"""A crawl that cannot start because the database rejects writes reports it after this time."""
PROGRESS_EVERY_S = 0.5
KEEP_EVERY_S = 15.0
"""How often a crawl records that it still owns its run: workers of other machines cannot check its process."""
HOLDERS_SHOWN = 100
NOTED_AT_MOST = 20
"""Replaced settings in the audit log."""
Replaced = Sequence[tuple[str, ReplacedSetting]]
SEAL_PATIENCE_S = 2.0
"""Limit at the end of a crawl for waiting for transactions of other processes."""
SEARCHABLE_S = 5.0
"""Limit at the end of a crawl for indexing what it read."""
MOST_OF_THE_TIME = 9
"""Progress of a run of a million domains is slow to read: then it is read less often, a tenth of the time at most."""


async def crawl(
    forager: Forager,
    spec: RunSpec,
    *,
    workers: int,
    on_progress: Callable[[Progress], None],
    stop: StopRequest,
    by: str = "cli",
    listed: SeedList = NO_LIST,
    on_loaded: OnLoaded = lambda _loaded: None,
    on_held: Callable[[Sequence[Holder]], None] = lambda _holders: None,
    on_replaced: Callable[[Replaced], None] = lambda _replaced: None,
) -> RunReport:
    """Runs a crawl from start to report: recovers, seeds, supervises, reports. A list of seeds is part of the spec too,
    unless it is long. `on_held` gets the workers of other runs that have yet to hand over its domains,
    `on_replaced` the settings of domains that its flags replaced."""
    database, settings = forager.database, forager.settings
    await recovery(forager, spec, give_up_after_s=START_WITHIN_S)()
    is_scored = settings.crawl.domain_order == "smart"
    spec = await in_transaction(database, partial(resolve_bare, spec=spec))
    replaced: Replaced = []
    if listed.is_long:
        run, spec = await start_long_run(
            database, spec, listed, by=by, is_scored=is_scored, stop=stop, on_loaded=on_loaded
        )
    else:

        async def start(conn: Connection) -> tuple[Replaced, int]:
            found = await find_replaced(conn, sorted(set(map(domain_of, spec.seeds))), spec.settings)
            listed_seeds = tuple(listed.seeds)
            run = await start_run(conn, spec, by=by, listed=listed_seeds, source=listed.source, is_scored=is_scored)
            return found, run

        replaced, run = await in_transaction(database, start, give_up_after_s=START_WITHIN_S)
    await in_transaction(database, partial(note_start, run=run, spec=spec, by=by, replaced=replaced))
    if replaced:
        on_replaced(replaced)
    if holders := await in_transaction(database, partial(stats.read_holders, run=run, limit=HOLDERS_SHOWN)):
        on_held(holders)
    return await execute_run(forager, run, spec, workers=workers, on_progress=on_progress, stop=stop)


async def note_start(
    conn: Connection, *, run: int, spec: RunSpec, by: str, again: int | None = None, replaced: Replaced = ()
) -> None:
    """Records the start in the audit log as the API does, with the settings that it gave to domains; `again` is the run
    whose config is repeated."""
    told: dict[str, Any] = {"seeds": spec.seeds[:10], "scope": spec.scope, "again": again}
    if spec.settings and again is None:
        told["settings"] = {name: show_value(name, value) for name, value in spec.settings.items()}
    if replaced:
        told["replaced"] = [{"domain": domain} | asdict(setting) for domain, setting in replaced[:NOTED_AT_MOST]]
    await audit.note(conn, operator(by), "run.start", kind="run", object_id=run, details=told)


async def execute_run(
    forager: Forager,
    run: int,
    spec: RunSpec,
    *,
    workers: int,
    on_progress: Callable[[Progress], None],
    stop: StopRequest,
    runs_jobs: bool = True,
    stays_open: Callable[[], bool] = lambda: False,
) -> RunReport:
    """Executes a run that was started, from its first worker to its report. Runs the periodic jobs meanwhile, unless
    another process runs them. A run that was stopped and stays open can be resumed by another process."""
    database, settings = forager.database, forager.settings
    put_right = recovery(forager, spec)
    await queue_wanted(forager, run=run, stop=stop)
    show = _Throttled(database, run, on_progress)
    command = python_module("forager", "worker", "--run", str(run), "--of", str(workers), "--attached")
    supervisor = Supervisor(
        command,
        os.environ | to_environment(settings),
        stop,
        on_tick=show.tick,
        on_death=put_right,
        count_done=lambda: show.pages_done,
    )
    async with _scheduler(forager, stop) if runs_jobs else contextlib.nullcontext():
        is_fine = await supervisor.run(workers)
    await put_right()
    was_stopped = stop.asked or await in_transaction(database, partial(stats.are_all_draining, run=run))
    end = RunEnd.STOPPED if was_stopped else RunEnd.FINISHED if is_fine else RunEnd.FAILED
    if not (was_stopped and stays_open()):
        await in_transaction(database, lambda conn: stats.end_run(conn, run, end.value))
    if runs_jobs:
        await _index_pages(forager, stop)
        await _write_digests(forager)
    report = await in_transaction(
        database, partial(read_report, run=run, spec=spec, was_stopped=was_stopped, has_failed=not is_fine)
    )
    on_progress(report.progress)
    return report


def recovery(forager: Forager, spec: RunSpec, *, give_up_after_s: float | None = None) -> Callable[[], Awaitable[None]]:
    settings = forager.settings
    notes, delay_s = settings.home / FOLDER, spec.delay_or(settings.politeness.delay)
    work = partial(recover, dead_after_s=settings.worker.dead_after, delay_s=delay_s, notes=notes)

    async def put_right() -> None:
        await in_transaction(forager.database, work, give_up_after_s=give_up_after_s)

    return put_right


@contextlib.asynccontextmanager
async def _scheduler(forager: Forager, stop: StopRequest) -> AsyncIterator[None]:
    """Runs the periodic jobs beside a crawl, which may be the only process of Forager. A bug in a job ends no crawl."""
    from forager.runtime.schedule import run_scheduler

    keeping = asyncio.create_task(run_scheduler(forager, stop))
    try:
        yield
    finally:
        keeping.cancel()
        for trouble in await asyncio.gather(keeping, return_exceptions=True):
            if isinstance(trouble, Exception):
                log().warning("schedule ended", action="schedule.ended", error=repr(trouble))


async def _index_pages(forager: Forager, stop: StopRequest) -> None:
    """Indexes what the crawl read, within a short time limit: while workers run, every processor is theirs. The job
    `index` does the rest, and so does a search."""
    from forager.parsing.keywords import CONFIGS
    from forager.search import index
    from forager.search.backend import sync_server

    until = clock.monotonic() + SEARCHABLE_S
    try:
        async with forager.pool.acquire() as conn:
            while not stop.asked and clock.monotonic() < until:
                if (await index.index_batch(conn, CONFIGS)).pages < index.PORTION:
                    break
            await index.cleanup(conn)
            if forager.settings.search.backend != "postgres":
                await sync_server(conn, forager.settings, within_s=SEARCHABLE_S)
    except Exception as trouble:  # the pages are safe; that they are not searchable yet is no reason to fail
        log().warning("pages not indexed", action="index.failed", error=repr(trouble))


async def _write_digests(forager: Forager) -> None:
    """Seals what the crawl wrote, which makes it provable; the job `seal` covers what is still being written."""
    try:
        async with forager.pool.acquire() as conn:
            await seals.write_all_digests(conn, patience_s=SEAL_PATIENCE_S)
    except Exception as trouble:  # nothing is lost
        log().warning("history not sealed", action="seal.failed", error=repr(trouble))


class _Throttled:
    """Reads progress at intervals; an unavailable database does not stop the supervision of workers."""

    def __init__(self, database: Database, run: int, on_progress: Callable[[Progress], None]) -> None:
        self._database = database
        self._run = run
        self._on_progress = on_progress
        self._next_at = 0.0
        self._keep_at = 0.0
        self.pages_done = 0

    async def tick(self) -> None:
        if clock.monotonic() < self._next_at:
            return
        began = clock.monotonic()
        try:
            async with self._database.pool.acquire() as conn:
                progress = await read_progress(conn, self._run)
                if began >= self._keep_at:
                    await stats.keep_run(conn, self._run)
                    self._keep_at = began + KEEP_EVERY_S
        except AWAY:
            with contextlib.suppress(*AWAY):
                await self._database.revive()
            return
        finally:
            took_s = clock.monotonic() - began
            self._next_at = began + max(PROGRESS_EVERY_S, took_s * (1 + MOST_OF_THE_TIME))
        self.pages_done = progress.pages_done
        self._on_progress(progress)
