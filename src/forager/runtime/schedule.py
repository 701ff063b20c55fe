"""Builds the scheduler from Settings and keeps time: used by `forager schedule` and by the process of a crawl."""

import asyncio
import contextlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

from forager import clock
from forager.accounts import jobs as sessions
from forager.alerts import jobs as alerts
from forager.alerts.rules import Disk, Limits
from forager.alerts.service import note_absence
from forager.backup import jobs as backup
from forager.backup.service import run_backup
from forager.config.settings import Settings
from forager.db import jobs as vacuum
from forager.db.cancelled import give_up_if_cancelled
from forager.dispatch import jobs as dispatch
from forager.dispatch.factory import open_queue
from forager.domains.jobs import cooldown, refresh, score, windows
from forager.engine.crash_marker import FOLDER
from forager.engine.recovery import recover
from forager.engine.stop import StopRequest
from forager.engine.transaction_retry import (
    AGAIN,
    AWAY,
    LONGEST_PAUSE_S,
    UNWRITABLE,
    in_transaction,
    is_usage_error,
    reason_of,
)
from forager.errors import UsageError
from forager.frontier import jobs as revisit_price
from forager.images import jobs as images
from forager.images.service import queue_wanted, sweep_images
from forager.observe import log
from forager.proxies import jobs as probe_proxies
from forager.proxies.probe import probe
from forager.retention.jobs import cleanup as retain
from forager.retention.jobs import traces
from forager.retention.service import keep_minutes, move_old
from forager.runtime.services import probe_services
from forager.scheduler import times
from forager.scheduler.config import BY, Broker, Duty, SchedulerConfig
from forager.scheduler.scheduler import Done, JobScheduler
from forager.search.backend import tend_search
from forager.search.jobs import index
from forager.search.jobs import server as search_server
from forager.stats.jobs import errors, rollup, seal, series
from forager.storage import jobs as bodies
from forager.tasks import jobs as dependencies
from forager.tasks.dependents import settle
from forager.webhooks import jobs as webhooks
from forager.webhooks.delivery import call_webhooks
from forager.workers import jobs as takeover

if TYPE_CHECKING:
    from forager.instance import Forager

DUTIES: Mapping[str, Duty] = {
    duty.NAME: duty
    for duty in (
        takeover,
        cooldown,
        refresh,
        windows,
        score,
        rollup,
        revisit_price,
        probe_proxies,
        bodies,
        images,
        index,
        seal,
        search_server,
        series,
        alerts,
        errors,
        retain,
        traces,
        backup,
        vacuum,
        sessions,
        dependencies,
        webhooks,
        dispatch,
    )
}
NIGHTLY = frozenset({backup.NAME, retain.NAME, traces.NAME, vacuum.NAME})
"""May take hours."""
SLOW = frozenset(
    {
        bodies.NAME,
        errors.NAME,
        images.NAME,
        index.NAME,
        refresh.NAME,
        revisit_price.NAME,
        rollup.NAME,
        score.NAME,
        seal.NAME,
        search_server.NAME,
    }
)
"""May take minutes: they grow with what was crawled."""
ONE_DAY = timedelta(days=1)
SHORTEST_SLEEP_S, LONGEST_SLEEP_S = 1.0, 30.0
"""Another scheduler may be doing what is due; another may have changed the timetable."""
DEAF_S = 5.0
"""A statement that was cancelled and goes on for so long has not heard of it."""


class Loop(StrEnum):
    """Duties of one loop wait for each other, and for nobody else: an alert does not stand behind a backup."""

    QUICK = "quick"
    SLOW = "slow"
    NIGHTLY = "nightly"
    DISPATCH = "dispatch"
    """Workers wait for what it brings."""


def loop_of(name: str) -> Loop:
    if name == dispatch.NAME:
        return Loop.DISPATCH
    return Loop.NIGHTLY if name in NIGHTLY else Loop.SLOW if name in SLOW else Loop.QUICK


async def keep_time(forager: "Forager", stop: StopRequest, names: Sequence[str] = ()) -> None:
    """Do what is due (all, or only these duties) until asked to stop, also over a restart of the database. The pool has
    to have two connections for each loop."""
    async with open_queue(forager.settings) as broker:
        mine = [duty.NAME for duty in find_jobs(names) if names or is_kept(duty.NAME, forager.settings)]
        groups = [group for loop in Loop if (group := [name for name in mine if loop_of(name) == loop])]
        tables = [build_scheduler(forager, group, broker) for group in groups]
        keeping = [asyncio.create_task(_keep(forager, table, is_first=not n)) for n, table in enumerate(tables)]
        stopping = asyncio.create_task(stop.wait_requested())
        try:
            await asyncio.wait({*keeping, stopping}, return_when=asyncio.FIRST_COMPLETED)
            for task in keeping:
                if task.done():
                    task.result()
        finally:
            for task in (*keeping, stopping):
                task.cancel()
            await asyncio.wait({*keeping, stopping}, timeout=DEAF_S)
            for table in tables:
                table.abandon()
            await asyncio.gather(*keeping, stopping, return_exceptions=True)


async def _keep(forager: "Forager", timetable: JobScheduler, *, is_first: bool) -> None:
    """The first of a process notes how long the database was away."""
    away_since: float | None = None
    reason: str | None = None
    while True:
        try:
            if away_since is not None and is_first:
                await _record_outage(forager, clock.monotonic() - away_since, reason)
                away_since = reason = None
            await timetable.post()
            await timetable.do_due()
            wait_s = min(max(await timetable.next_in_s(), SHORTEST_SLEEP_S), LONGEST_SLEEP_S)
        except (*AGAIN, *AWAY) as error:
            give_up_if_cancelled()
            if is_usage_error(error):
                raise
            tell = log().warning if away_since is None else log().info  # once is enough for an absence of hours
            tell("schedule interrupted", action="schedule.interrupted", error=repr(error))
            if isinstance(error, AWAY) and away_since is None:
                away_since = clock.monotonic()
            if isinstance(error, UNWRITABLE):
                reason = reason_of(error)
            with contextlib.suppress(*AWAY):
                await forager.database.revive()
            wait_s = LONGEST_PAUSE_S
        await asyncio.sleep(wait_s)


async def _record_outage(forager: "Forager", away_s: float, reason: str | None) -> None:
    """While the database is away nobody can write that it is. `reason` is why it took no writes, where it answered."""
    async with forager.pool.acquire() as conn, conn.transaction():
        await note_absence(conn, away_s=away_s, by=BY, reason=reason)


async def do_once(forager: "Forager", names: Sequence[str] = ()) -> list[Done]:
    """Everything that is due; or these duties, due or not. What another scheduler is doing is left to it."""
    async with open_queue(forager.settings) as broker:
        timetable = build_scheduler(forager, names, broker)
        await timetable.post()
        if not names:
            return await timetable.do_due()
        all_done = [await timetable.do_now(name) for name in dict.fromkeys(names)]
        return [done for done in all_done if done is not None]


async def force_takeover(forager: "Forager", *, silent_s: float) -> list[str]:
    """Names of the domains taken from dead workers, and from those silent for so long, whatever the settings say."""
    return await in_transaction(
        forager.database,
        partial(
            recover,
            dead_after_s=silent_s,
            delay_s=forager.settings.politeness.delay,
            notes=forager.settings.home / FOLDER,
        ),
    )


def build_scheduler(forager: "Forager", names: Sequence[str] = (), broker: Broker | None = None) -> JobScheduler:
    order = replace(_with_help(order_of(forager.settings), forager), broker=broker)
    duties = [duty for duty in find_jobs(names) if names or is_kept(duty.NAME, forager.settings)]
    return JobScheduler(forager.pool, duties, order)


def is_kept(name: str, settings: Settings) -> bool:
    """Without a broker nothing is sent to one, and without a search server nothing to that."""
    if name == search_server.NAME:
        return settings.search.backend != "postgres"
    return name != dispatch.NAME or settings.dispatch.mode == "celery"


def _with_help(order: SchedulerConfig, forager: "Forager") -> SchedulerConfig:
    """What some duties need more than values."""
    settings = forager.settings
    is_kept, is_saved = settings.archive.schedule != times.NEVER, settings.backup.schedule != times.NEVER
    return replace(
        order,
        move_old=partial(move_old, settings=settings) if is_kept else None,
        keep_minutes=partial(keep_minutes, settings=settings),
        sweep_images=partial(sweep_images, settings=settings) if is_kept else None,
        queue_images=partial(queue_wanted, forager),
        tend_search=partial(tend_search, settings=settings) if settings.search.backend != "postgres" else None,
        back_up=partial(run_backup, forager) if is_saved else None,
    )


def find_jobs(names: Sequence[str]) -> list[Duty]:
    """By name; all where none is named."""
    for name in names:
        if name not in DUTIES:
            raise UsageError(f"There is no duty {name!r}; there are {', '.join(sorted(DUTIES))}.")
    return [DUTIES[name] for name in dict.fromkeys(names or DUTIES)]


async def delete_bodies(settings: Settings, names: Sequence[str]) -> list[str]:
    """Files that were stored or confirmed in the last day are left: a visit may be about to refer to them."""
    from forager.storage.factory import place_of
    from forager.storage.refs import key_of

    by_key = {key_of(name): name for name in names}
    place, since = place_of(settings), clock.now() - ONE_DAY
    gone = await asyncio.to_thread(place.delete, list(by_key), unless_since=since)
    return [by_key[key] for key in gone]


def read_disks(settings: Settings) -> tuple[Disk, ...]:
    """Room where Forager keeps its files; nothing where that cannot be found out."""
    try:
        usage = shutil.disk_usage(settings.home)
    except OSError:
        return ()
    return (Disk(str(settings.home), usage.free, usage.total),)


def times_of(settings: Settings) -> dict[str, times.At]:
    """Duties that have a time of day; those that are switched off have none."""
    given = {
        backup.NAME: settings.backup.schedule,
        retain.NAME: settings.archive.schedule,
        vacuum.NAME: settings.database.vacuum_schedule,
    }
    return {name: times.parse(text) for name, text in given.items() if text != times.NEVER}


def limits_of(settings: Settings) -> Limits:
    return Limits(
        error_rate=settings.alerts.max_error_rate,
        success_rate=settings.alerts.min_success_rate,
        frontier_growth=settings.alerts.max_frontier_growth,
        fewest_proxies=settings.alerts.min_proxies,
        proxy_failures=settings.alerts.max_proxy_failure_rate,
        parse_drop=settings.alerts.max_parse_drop,
        disk_free=settings.alerts.min_disk_free,
        disk_free_bytes=settings.alerts.min_disk_free_size,
    )


def order_of(settings: Settings) -> SchedulerConfig:
    return SchedulerConfig(
        take_over=partial(
            recover,
            dead_after_s=settings.worker.dead_after,
            delay_s=settings.politeness.delay,
            notes=settings.home / FOLDER,
        ),
        is_scored=settings.crawl.domain_order == "smart",
        is_refreshed=settings.refresh.enabled,
        refresh_every_s=settings.refresh.interval,
        delay_s=settings.politeness.delay,
        probe=partial(probe, settings),
        body_retention_s=settings.retention.bodies,
        delete_bodies=partial(delete_bodies, settings),
        robots_retention_s=settings.retention.robots_requests,
        moves_retention_s=settings.retention.domain_history,
        dead_after_s=settings.worker.dead_after,
        limits=limits_of(settings),
        stall_s=settings.alerts.max_idle_time,
        services=partial(probe_services, settings),
        disks=partial(read_disks, settings),
        duties=tuple(name for name in DUTIES if is_kept(name, settings)),
        times=times_of(settings),
        call_webhooks=partial(call_webhooks, settings),
        settle_dependents=partial(settle, goes_on=settings.crawl.dependents == "run"),
    )
