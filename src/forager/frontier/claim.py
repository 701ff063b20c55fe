"""Selects the next domains and pages: leases the best domains to a worker, and creates tasks for their best pages."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields
from operator import attrgetter

from forager.config.crawl_settings import CrawlSettings, resolve_plain
from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection
from forager.errors import ConfigurationError
from forager.frontier.models import Lease, LeasedDomain, Past, Target
from forager.frontier.rows import (
    ClaimedTask,
    FreedTasks,
)

SQL = statements.load("forager.frontier", "claim.sql")

CLAIM_DOMAINS = Query(SQL["claim_domains"], LeasedDomain)
STILL_CLAIMABLE = Query(SQL["still_claimable"], int)
FREE_TASKS = Query(SQL["free_tasks"], FreedTasks)
CLAIM_TASKS = Query(SQL["claim_tasks"], ClaimedTask)
_NAMES = tuple(field.name for field in fields(LeasedDomain))
_values = attrgetter(*_NAMES)


START_S = 30.0
"""For this long after the first worker of a run started, claims assume the announced number of workers, so that the
first worker does not take the share of those that are still starting."""


async def claim_domains(
    conn: Connection,
    *,
    worker: int,
    run: int,
    limit: int,
    lease_s: float,
    workers: int,
    max_pages_per_domain: int | None,
    labels: Sequence[str] = (),
    offered: Sequence[tuple[int, int]] | None = None,
    live_s: float = 120.0,
    resolve: Callable[[LeasedDomain], CrawlSettings] = lambda leased: resolve_plain(leased.chosen),
) -> list[Lease]:
    """Leases domains that require no label or one of `labels`. If `offered` is given (domain ids and lease versions),
    leases only these. Workers with a heartbeat within `live_s` share the domains. `resolve` returns the crawl settings
    of a leased domain."""
    start_s = min(live_s, START_S)
    within = (worker, run, limit, lease_s, float(workers), max_pages_per_domain, ["", *labels], live_s, start_s)
    named = (None, None) if offered is None else _columns(offered)
    return [_lease(leased, resolve) for leased in await CLAIM_DOMAINS.fetch(conn, *within, *named)]


def _lease(leased: LeasedDomain, resolve: Callable[[LeasedDomain], CrawlSettings]) -> Lease:
    """Returns the lease with its settings. One domain whose secrets cannot be decrypted keeps no other from being
    claimed."""
    values = dict(zip(_NAMES, _values(leased), strict=True))
    try:
        return Lease(**values, settings=resolve(leased))
    except ConfigurationError as error:
        return Lease(**values, problem=str(error))


async def still_claimable(
    conn: Connection, offered: Sequence[tuple[int, int]], *, run: int, max_pages_per_domain: int | None
) -> set[int]:
    """Returns those of the offered domains that another worker may claim now."""
    return set(await STILL_CLAIMABLE.fetch(conn, *_columns(offered), run, max_pages_per_domain))


def _columns(offered: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [domain for domain, _ in offered], [version for _, version in offered]


async def free_tasks(conn: Connection, domain_ids: Sequence[int]) -> list[FreedTasks]:
    """Releases the locked tasks of these domains. Returns the released tasks."""
    return await FREE_TASKS.fetch(conn, domain_ids)


async def claim_tasks(
    conn: Connection,
    wants: Sequence[tuple[Lease, int]],
    *,
    worker: int,
    run: int,
    max_pages_per_domain: int | None,
    max_depth: int,
    patterns: tuple[list[str] | None, list[str] | None, list[str] | None],
    only_images: bool = False,
) -> tuple[list[Target], Counter[int]]:
    """Returns the claimed targets, and how many of them count against the page budget of each domain."""
    versions = {lease.domain_id: lease.version for lease, _ in wants}
    tasks = await CLAIM_TASKS.fetch(
        conn,
        list(versions),
        list(versions.values()),
        [want for _, want in wants],
        worker,
        run,
        max_pages_per_domain,
        max_depth,
        *patterns,
        only_images,
    )
    targets = [_target(task, versions[task.domain_id]) for task in tasks]
    return targets, Counter(task.domain_id for task in tasks if task.is_charged)


def _target(task: ClaimedTask, version: int) -> Target:
    return Target(
        task.task_id,
        task.page_id,
        task.domain_id,
        version,
        task.url,
        task.depth,
        task.redirects,
        task.retry_count,
        _past(task) if task.is_revisit else None,
        task.revisit_every_s,
        task.crashes,
        task.is_image,
        task.max_retries,
        task.is_recurring,
        task.is_urgent,
        task.is_sitemap,
        task.is_seed,
    )


def _past(task: ClaimedTask) -> Past:
    """Returns the result of the previous visit; a page that was visited has all of its fields."""
    return Past(
        task.etag,
        task.last_modified,
        task.content_hash,
        task.comparisons or 0,
        task.changes or 0,
        task.watched_s or 0.0,
        task.since_s or 0.0,
        task.is_claimed,
    )
