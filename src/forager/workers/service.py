"""Workers that an operator sends away: they take nothing new, finish what is open, hand their leases back and end.

Every door (CLI, API) calls this, in its one transaction. A worker hears of it within a second.
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
    """One worker by its number, or all of a machine. Asking twice changes nothing."""
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
    """Takes the domains of dead workers and of those without a heartbeat for this time, whatever the settings say, and
    returns their names."""
    settings = forager.settings
    work = partial(recover, dead_after_s=silent_s, delay_s=settings.politeness.delay, notes=settings.home / FOLDER)
    return await in_transaction(forager.database, work)
