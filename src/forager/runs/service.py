"""Runs that an operator starts in the background: a supervisor (`forager up`) executes them.

Every interface (CLI, API) calls these. Each function runs in the caller's transaction.
"""

from collections.abc import Sequence

from forager.db.types import Connection
from forager.errors import ConflictError
from forager.runs.models import STANDING, RunSpec, Scope
from forager.runs.queries import SQL, check_run_exists
from forager.runs.start import start_run
from forager.stats import store as stats
from forager.urls.domain import domain_of
from forager.urls.normalize import url_key


def continuous_spec(*, max_depth: int) -> RunSpec:
    """Returns the config of the continuous run: every known domain, each within its own host."""
    return RunSpec(seeds=(), scope=Scope.HOST, max_depth=max_depth, seeds_total=0, seeds_digest=STANDING)


async def order_run(conn: Connection, spec: RunSpec, *, by: str, is_scored: bool = True) -> int:
    """Creates a run that starts as soon as a supervisor finds it; returns its number."""
    run = await start_run(conn, spec, by=by, is_scored=is_scored)
    await stats.assign_run(conn, run)
    return run


async def stop_run(conn: Connection, run: int) -> None:
    """Ends a run after its workers finish what is open. Idempotent."""
    await check_run_exists(conn, run)
    if not await stats.request_stop(conn, run):
        raise ConflictError(
            f"Run {run} cannot be stopped from here: it is over, or belongs to a `forager crawl`, which Ctrl-C stops.",
            "run_not_stoppable",
        )


async def drops(conn: Connection, run: int) -> dict[str, int]:
    """Returns reason → how many links it saw and left out."""
    return await stats.read_drops(conn, run)


async def preview_seeds(conn: Connection, seeds: Sequence[str]) -> tuple[list[str], int]:
    """Returns the seeds that were read before, which a run does not visit again, and how many pages wait in the domains
    of all of them."""
    names = [domain_of(seed) for seed in seeds]
    rows = await conn.fetch(SQL["seeds_read"], names, [url_key(seed) for seed in seeds])
    waiting: int = await conn.fetchval(SQL["waiting_of"], sorted(set(names)))
    return sorted(row["url"] for row in rows), waiting
