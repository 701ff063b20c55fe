"""Periodic jobs of plug-ins. They run in a loop of their own, so that none delays a job of Forager."""

import inspect
import re
import threading
from typing import Any

from forager.config.durations import parse_duration
from forager.plugins import registry, store
from forager.plugins.collect import collect
from forager.plugins.contributions import ScheduledJob
from forager.plugins.threads import run_in_thread
from forager.scheduler.job import Job, JobContext, Loop

HOOK = "register_jobs"
NAME = re.compile(r"[a-z_]{1,40}")
SHORTEST_S = 1.0


class PluginJob(Job):
    """A job that a plug-in registered."""

    loop = Loop.PLUGINS

    def __init__(self, plugin: str, job: ScheduledJob) -> None:
        if not NAME.fullmatch(job.name):
            raise ValueError(f"{job.name!r} is no name of a job: it has letters a to z and _, at most 40")
        self.name = job.name
        self.interval_s = max(parse_duration(job.every), SHORTEST_S)
        self._timeout_s = parse_duration(job.timeout)
        self._plugin, self._job = plugin, job
        self._busy = threading.Lock()

    async def run(self, context: JobContext) -> str:
        try:
            return await self._run(context)
        except Exception as error:
            registry.current().note(self._plugin, HOOK, error)
            raise
        finally:
            async with context.connection.transaction():
                await store.add_errors(context.connection, registry.current().take_errors())

    async def _run(self, context: JobContext) -> str:
        result = await run_in_thread(lambda: self._call(context.settings), timeout_s=self._timeout_s)
        return str(result or "done")[:500]

    def _call(self, settings: Any) -> Any:
        if not self._busy.acquire(blocking=False):
            raise RuntimeError("its last run still hangs")
        try:
            result = self._job.run(settings)
            if not inspect.iscoroutine(result):
                return result
            import asyncio

            return asyncio.run(asyncio.wait_for(result, self._timeout_s))
        finally:
            self._busy.release()


def list_plugin_jobs(taken: frozenset[str]) -> list[Job]:
    """Returns the jobs of plug-ins; one that has the name of another is left out."""
    jobs: dict[str, Job] = {}
    for plugin, each in collect(HOOK, ScheduledJob):
        try:
            job = PluginJob(plugin, each)
            if job.name in taken or job.name in jobs:
                raise ValueError(f"there is a job {job.name} already")
            jobs[job.name] = job
        except (TypeError, ValueError) as error:
            registry.current().note(plugin, HOOK, error)
    return list(jobs.values())
