"""Runs an operator orders without staying: a foreman (`forager up`) looks after them.

Every door (CLI, API) calls these. Each verb runs in the caller's one transaction.
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
    """The order that never ends: every known domain, each within its own host."""
    return RunSpec(seeds=(), scope=Scope.HOST, max_depth=max_depth, seeds_total=0, seeds_digest=STANDING)


async def order_run(conn: Connection, spec: RunSpec, *, by: str, is_scored: bool = True) -> int:
    """The number of a run that begins as soon as a foreman hears of it."""
    run = await start_run(conn, spec, by=by, is_scored=is_scored)
    await stats.assign_run(conn, run)
    return run


async def stop_run(conn: Connection, run: int) -> None:
    """Its workers finish what is open, and it is over. Asking twice changes nothing."""
    await check_run_exists(conn, run)
    if not await stats.request_stop(conn, run):
        raise ConflictError(
            f"Run {run} cannot be stopped from here: it is over, or belongs to a `forager crawl`, which Ctrl-C stops.",
            "run_not_stoppable",
        )


async def drops(conn: Connection, run: int) -> dict[str, int]:
    """Why → how many links it saw and left out."""
    return await stats.read_drops(conn, run)


async def preview_seeds(conn: Connection, seeds: Sequence[str]) -> tuple[list[str], int]:
    """Returns the seeds that were read before, which a run does not visit again, and how many pages wait in the domains
    of all of them."""
    names = [domain_of(seed) for seed in seeds]
    rows = await conn.fetch(SQL["seeds_read"], names, [url_key(seed) for seed in seeds])
    waiting: int = await conn.fetchval(SQL["waiting_of"], sorted(set(names)))
    return sorted(row["url"] for row in rows), waiting
