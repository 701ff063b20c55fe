"""Runs a check or a repair from Settings, for `forager check`, `forager repair` and the API."""

from forager.config.settings import Settings
from forager.db.types import Pool
from forager.explain.check import PromiseResult, check
from forager.explain.deep_check import Deep, DeepOrder, check_deep
from forager.explain.repair import RepairOrder, StepResult, run_repair
from forager.retention.service import cold_folder, get_cold_bucket
from forager.runtime.schedule import JOBS as ALL_JOBS
from forager.scheduler.job import Job
from forager.storage.factory import get_location

JOBS = tuple(sorted(job.name for job in ALL_JOBS if type(job).is_enabled is Job.is_enabled))
"""Jobs that every instance has; those that settings switch on may not have run yet."""


async def look(pool: Pool, settings: Settings, *, deep: bool = False) -> list[PromiseResult]:
    """Checks all promises in one snapshot; with `deep` also what only reading everything can prove."""
    if deep:
        return (await run_deep_check(pool, settings)).verdicts
    async with pool.acquire() as conn, conn.transaction(isolation="repeatable_read", readonly=True):
        return await check(conn, get_location(settings), cold_folder(settings), get_cold_bucket(settings))


async def run_deep_check(pool: Pool, settings: Settings) -> Deep:
    """Runs a deep check and returns what a repair needs."""
    order = DeepOrder(
        get_location(settings),
        cold_folder(settings),
        get_cold_bucket(settings),
        JOBS,
        settings.retention.robots_requests,
    )
    return await check_deep(pool, order)


async def repair_database(pool: Pool, settings: Settings, found: Deep, *, by: str) -> list[StepResult]:
    """Carries out the repair plan for the findings of a deep check."""
    refresh_s = settings.refresh.interval if settings.refresh.enabled else None
    order = RepairOrder(by, refresh_s, settings.cooldown.forbidden, get_location(settings), JOBS)
    return await run_repair(pool, found, order)
