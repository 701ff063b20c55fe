"""Runs jobs when they are due. The process that holds the lock of a job's row in `jobs` runs the job.

The lock belongs to a transaction that stays open while the job runs, so two schedulers never run a job at the same time
and a killed process releases it. The job itself works on a second connection, in short transactions. A job that fails
records its error and runs again at its next time; the others are not affected.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forager.db.cancelled import give_up_if_cancelled
from forager.instance import Forager
from forager.logs import log
from forager.scheduler.job import Job, JobContext
from forager.scheduler.store import SQL

if TYPE_CHECKING:
    from forager.dispatch.broker import Broker

LOCK_TIMEOUT = "30s"
"""How long a job waits for a lock."""


@dataclass(frozen=True, slots=True)
class JobRun:
    """How a run of a job ended: with `result` or `error`."""

    name: str
    took_s: float
    result: str | None
    error: str | None


class JobScheduler:
    def __init__(
        self,
        forager: Forager,
        jobs: Sequence[Job],
        *,
        broker: "Broker | None" = None,
        job_names: tuple[str, ...] = (),
    ) -> None:
        """Needs two free connections of the pool. `job_names` are all jobs of the instance, also those of other
        loops."""
        self._forager = forager
        self._pool = forager.pool
        self._jobs = {job.name: job for job in jobs}
        self._broker = broker
        self._job_names = job_names
        self._last_errors: dict[str, str] = {}
        """By job; an error that repeats is not logged as a warning again."""
        self._connection: Any = None
        """The connection of the job that is running."""

    async def register(self) -> None:
        """Adds jobs that have no row yet: they are due at once, or at their time of day."""
        jobs = self._jobs.values()
        moments = [job.time_of_day(self._forager.settings) for job in jobs]
        times, weekdays = [at.time for at in moments], [at.weekday for at in moments]
        await self._pool.execute(
            SQL["register_jobs"], list(self._jobs), [job.interval_s for job in jobs], times, weekdays
        )

    async def run_due(self) -> list[JobRun]:
        """Runs every job that is due and that no other scheduler is running, each once."""
        left = set(self._jobs)
        runs: list[JobRun] = []
        while (run := await self._lock_and_run(SQL["lock_due"], sorted(left))) is not None:
            left.discard(run.name)
            runs.append(run)
        return runs

    async def run_now(self, name: str) -> JobRun | None:
        """Runs a job, due or not. Returns None when another scheduler is running it."""
        return await self._lock_and_run(SQL["lock_named"], name)

    async def seconds_until_due(self) -> float:
        """Returns 0 also while another scheduler runs a job that is due."""
        wait_s: float = await self._pool.fetchval(SQL["seconds_until_due"], list(self._jobs))
        return wait_s

    def abandon(self) -> None:
        """Closes the connection of a job that was cancelled and does not end. A server that is asked to cancel a
        statement before it has begun with it ignores that, and the driver waits until the statement ends, which may
        take hours."""
        if self._connection is not None:
            self._connection.terminate()

    async def _lock_and_run(self, statement: str, names: list[str] | str) -> JobRun | None:
        async with self._pool.acquire() as holder, holder.transaction():
            name = await holder.fetchval(statement, names)
            return await self._run(holder, self._jobs[name]) if name is not None else None

    async def _run(self, holder: Any, job: Job) -> JobRun:
        result = error = None
        try:
            async with self._pool.acquire() as self._connection:
                await self._connection.execute(SQL["set_lock_timeout"], LOCK_TIMEOUT)
                result = await job.run(JobContext(self._forager, self._connection, self._broker, self._job_names))
            log().info("job done", action="job.done", job=job.name, result=result)
        except Exception as trouble:  # any error concerns this job alone
            give_up_if_cancelled()
            error = f"{type(trouble).__name__}: {trouble}"
            write = log().info if self._last_errors.get(job.name) == error else log().warning
            write("job failed", action="job.failed", job=job.name, error=error)
        finally:
            self._connection = None
        self._last_errors[job.name] = error or ""
        at = job.time_of_day(self._forager.settings)
        took_s = await holder.fetchval(SQL["record_run"], job.name, job.interval_s, result, error, *at)
        return JobRun(job.name, took_s, result, error)
