"""Repeats the config of an earlier run, for those of its domains that have revisits due.

So a refresh keeps the scope, the patterns and the depth with which the site was crawled.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from forager.db.types import Connection
from forager.domains import cooldown
from forager.runs.models import RunSpec
from forager.stats import store as stats


async def start_refresh(
    conn: Connection,
    before: int,
    *,
    names: Sequence[str] | None,
    max_pages: int | None,
    delay_s: float | None,
    check: Callable[[RunSpec], None],
) -> tuple[int, RunSpec]:
    """Starts a run with the config of the run `before`, and assigns its domains. Earlier limits do not apply.

    `check` may reject the config by raising.
    """
    spec = await stats.find_run(conn, before)
    assert spec is not None, "domains refer to runs that exist"
    check(spec)
    again = replace(
        spec,
        max_pages=max_pages,
        max_pages_per_domain=None,
        delay_s=spec.delay_s if delay_s is None else delay_s,
    )
    run = await stats.start_run(conn, again, by="refresh")
    await cooldown.assign_due_revisits(conn, run, before=before, names=names)
    return run, again
