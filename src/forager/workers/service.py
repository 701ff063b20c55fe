"""Drains workers for an operator: they claim nothing new, finish open requests, return their leases and exit.

The CLI and the API call this in one transaction. A worker receives the request within a second.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from forager.db.types import Connection
from forager.engine.crash_marker import FOLDER
from forager.engine.recovery import recover
from forager.engine.transaction_retry import in_transaction
from forager.errors import ConflictError, NotFoundError
from forager.instance import Forager
from forager.stats import store as stats


@dataclass(frozen=True, slots=True)
class DrainedWorker:
    worker: int
    run_id: int | None
    host: str
    pid: int
    drain_asked_at: datetime


async def drain_workers(conn: Connection, *, worker: int | None = None, host: str | None = None) -> list[DrainedWorker]:
    """Drains one worker by its id, or all of a host. Idempotent."""
    rows = await stats.drain_workers(conn, worker=worker, host=host)
    if rows:
        return [DrainedWorker(*row) for row in rows]
    if worker is None:
        raise NotFoundError(f"No worker runs on {host!r}; `forager workers` lists those that do.")
    state = await stats.worker_status(conn, worker)
    if state is None:
        raise NotFoundError(f"There is no worker {worker}; `forager workers` lists them.")
    raise ConflictError(f"Worker {worker} does not run: it is {state}.", "worker_not_running")


async def recover_domains(forager: Forager, *, silent_s: float) -> list[str]:
    """Reclaims the domains of dead workers and of workers without a heartbeat for `silent_s`, whatever the settings
    say, and returns their names."""
    settings = forager.settings
    work = partial(recover, dead_after_s=silent_s, delay_s=settings.politeness.delay, notes=settings.home / FOLDER)
    return await in_transaction(forager.database, work)
