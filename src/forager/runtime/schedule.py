"""All periodic jobs, and the loops that run them: used by `forager schedule`, `forager up` and crawls."""

import asyncio
import contextlib
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from forager import clock
from forager.accounts.jobs import SessionsJob
from forager.alerts.jobs import AlertsJob
from forager.alerts.service import record_unavailable
from forager.backup.jobs import BackupJob
from forager.config.settings import Settings
from forager.db.cancelled import give_up_if_cancelled
from forager.db.jobs import VacuumJob
from forager.dispatch.factory import open_queue
from forager.dispatch.jobs import DispatchJob
from forager.domains.jobs.cooldown import CooldownJob
from forager.domains.jobs.refresh import RefreshJob
from forager.domains.jobs.score import ScoreJob
from forager.domains.jobs.wake import WakeJob
from forager.domains.jobs.windows import WindowsJob
from forager.engine.stop import StopRequest
from forager.engine.transaction_retry import AGAIN, AWAY, LONGEST_PAUSE_S, UNWRITABLE, is_usage_error, reason_of
from forager.errors import UsageError
from forager.frontier.jobs import RevisitPriceJob
from forager.images.jobs import ImagesJob
from forager.instance import Forager
from forager.logs import log
from forager.plugins import registry
from forager.plugins.jobs import list_plugin_jobs
from forager.plugins.registry import PluginRegistry
from forager.proxies.jobs import ProbeProxiesJob
from forager.records.jobs import ModelExtractionJob
from forager.retention.jobs.cleanup import RetainJob
from forager.retention.jobs.traces import TracesJob
from forager.scheduler.job import ACTOR, Job, Loop
from forager.scheduler.scheduler import JobRun, JobScheduler
from forager.search.jobs.index import IndexJob
from forager.search.jobs.server import SearchServerJob
from forager.stats.jobs.errors import ErrorsJob
from forager.stats.jobs.rollup import RollupJob
from forager.stats.jobs.seal import SealJob
from forager.stats.jobs.series import SeriesJob
from forager.storage.jobs import BodiesJob
from forager.tasks.jobs import DependenciesJob
from forager.webhooks.jobs import WebhooksJob
from forager.workers.jobs import TakeoverJob

if TYPE_CHECKING:
    from forager.dispatch.broker import Broker

JOBS: tuple[Job, ...] = (
    TakeoverJob(),
    CooldownJob(),
    WakeJob(),
    RefreshJob(),
    WindowsJob(),
    ScoreJob(),
    RollupJob(),
    RevisitPriceJob(),
    ProbeProxiesJob(),
    BodiesJob(),
    ImagesJob(),
    IndexJob(),
    SealJob(),
    SearchServerJob(),
    SeriesJob(),
    AlertsJob(),
    ErrorsJob(),
    RetainJob(),
    TracesJob(),
    BackupJob(),
    VacuumJob(),
    SessionsJob(),
    DependenciesJob(),
    WebhooksJob(),
    ModelExtractionJob(),
    DispatchJob(),
)
SHORTEST_SLEEP_S, LONGEST_SLEEP_S = 1.0, 30.0
"""Another scheduler may be running what is due; another process may have made a job due."""
CANCEL_TIMEOUT_S = 5.0
"""A statement that was cancelled and still runs after this time ignored the cancellation."""


def enabled_jobs(settings: Settings) -> list[Job]:
    return [job for job in all_jobs() if job.is_enabled(settings)]


def all_jobs() -> tuple[Job, ...]:
    """Returns the jobs of Forager and those of plug-ins."""
    return (*JOBS, *_plugin_jobs(registry.current()))


@lru_cache(4)
def _plugin_jobs(_plugins: PluginRegistry) -> tuple[Job, ...]:
    return tuple(list_plugin_jobs(frozenset(job.name for job in JOBS)))


def find_jobs(names: Sequence[str]) -> list[Job]:
    """Returns the jobs with these names. Raises UsageError."""
    by_name = {job.name: job for job in all_jobs()}
    for name in names:
        if name not in by_name:
            raise UsageError(f"There is no job {name!r}; there are {', '.join(sorted(by_name))}.")
    return [by_name[name] for name in dict.fromkeys(names)]


async def run_scheduler(forager: Forager, stop: StopRequest, names: Sequence[str] = ()) -> None:
    """Runs jobs when they are due (all, or only these) until asked to stop, also across a restart of the database.
    Needs two connections of the pool for each loop."""
    async with open_queue(forager.settings) as broker:
        jobs = find_jobs(names) or enabled_jobs(forager.settings)
        by_loop = [in_loop for loop in Loop if (in_loop := [job for job in jobs if job.loop == loop])]
        schedulers = [build_scheduler(forager, in_loop, broker) for in_loop in by_loop]
        loops = [asyncio.create_task(_run_loop(forager, each, is_first=not n)) for n, each in enumerate(schedulers)]
        stopping = asyncio.create_task(stop.wait_requested())
        try:
            await asyncio.wait({*loops, stopping}, return_when=asyncio.FIRST_COMPLETED)
            for task in loops:
                if task.done():
                    task.result()
        finally:
            for task in (*loops, stopping):
                task.cancel()
            await asyncio.wait({*loops, stopping}, timeout=CANCEL_TIMEOUT_S)
            for scheduler in schedulers:
                scheduler.abandon()
            await asyncio.gather(*loops, stopping, return_exceptions=True)


async def run_jobs_once(forager: Forager, names: Sequence[str] = ()) -> list[JobRun]:
    """Runs every job that is due; or these jobs, due or not. Skips what another scheduler is running."""
    async with open_queue(forager.settings) as broker:
        jobs = find_jobs(names)
        scheduler = build_scheduler(forager, jobs or enabled_jobs(forager.settings), broker)
        await scheduler.register()
        if not jobs:
            return await scheduler.run_due()
        runs = [await scheduler.run_now(job.name) for job in jobs]
        return [run for run in runs if run is not None]


def build_scheduler(forager: Forager, jobs: Sequence[Job], broker: "Broker | None" = None) -> JobScheduler:
    names = tuple(job.name for job in enabled_jobs(forager.settings))
    return JobScheduler(forager, jobs, broker=broker, job_names=names)


async def _run_loop(forager: Forager, scheduler: JobScheduler, *, is_first: bool) -> None:
    """The first loop of a process records how long the database was unavailable."""
    away_since: float | None = None
    reason: str | None = None
    while True:
        try:
            if away_since is not None and is_first:
                await _record_outage(forager, clock.monotonic() - away_since, reason)
                away_since = reason = None
            await scheduler.register()
            await scheduler.run_due()
            wait_s = min(max(await scheduler.seconds_until_due(), SHORTEST_SLEEP_S), LONGEST_SLEEP_S)
        except (*AGAIN, *AWAY) as error:
            give_up_if_cancelled()
            if is_usage_error(error):
                raise
            write = log().warning if away_since is None else log().info  # an outage of hours is one warning
            write("schedule interrupted", action="schedule.interrupted", error=repr(error))
            if isinstance(error, AWAY) and away_since is None:
                away_since = clock.monotonic()
            if isinstance(error, UNWRITABLE):
                reason = reason_of(error)
            with contextlib.suppress(*AWAY):
                await forager.database.revive()
            wait_s = LONGEST_PAUSE_S
        await asyncio.sleep(wait_s)


async def _record_outage(forager: Forager, away_s: float, reason: str | None) -> None:
    """Afterwards: while the database is unavailable nothing can be written to it. `reason` is why it rejected writes,
    where it responded."""
    async with forager.pool.acquire() as conn, conn.transaction():
        await record_unavailable(conn, away_s=away_s, by=ACTOR, reason=reason)
