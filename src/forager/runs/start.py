"""Starts crawls: seeds become domains and pages, and a run adopts the domains in its scope.

One transaction, committed synchronously: once this returned, no seed is lost. Seeds that an operator named are visited
now, also those that failed before and those of unreachable domains; seeds of a list are added as `add_seed_list` does.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from forager.db.types import Connection
from forager.domains import store as domains
from forager.frontier import store
from forager.frontier.enqueue import EnqueueResult, enqueue
from forager.links.models import Discovery
from forager.runs.models import RunSpec, Scope
from forager.seeds.found import Seed
from forager.seeds.load import SeedResult, add_seed_list
from forager.stats import store as stats
from forager.urls.domain import domain_of, registrable
from forager.urls.normalize import url_key


async def start_run(
    conn: Connection,
    spec: RunSpec,
    *,
    by: str,
    listed: Sequence[Seed] = (),
    source: str = "seed",
    is_scored: bool = True,
) -> int:
    """Stores the config and everything the run needs to begin. Returns the run's number. `listed` seeds are among the
    spec's, and come from a list that `source` names."""
    run = await stats.start_run(conn, spec, by=by)
    from_list = {seed.url for seed in listed}
    await add_seeds(conn, tuple(seed for seed in spec.seeds if seed not in from_list), run=run, by=by)
    if listed:
        await add_seed_list(conn, listed, source=source, run=run, is_scored=is_scored)
    await allow_networks(conn, spec, map(domain_of, spec.seeds), by=by)
    await assign_domains(conn, spec, map(domain_of, spec.seeds), run=run)
    return run


async def allow_networks(conn: Connection, spec: RunSpec, names: Iterable[str], *, by: str) -> None:
    """Stores the networks that the operator allowed with the seeds' domains: a refresh and `forager up` need them as
    much as this run. Pages that the address guard rejected before are tried again. Without the flag, allowed networks
    stay."""
    if not spec.allow_networks:
        return
    ids = await domains.allow_networks(conn, sorted(set(names)), spec.allow_networks)
    await domains.update_requeue_counts(conn, await store.requeue_rejected(conn, ids, by=by))


async def prepare_run(conn: Connection, spec: RunSpec, named: tuple[str, ...], *, by: str) -> int:
    """Creates a run with more seeds than fit in one transaction. It counts as stopped until all are added."""
    run = await stats.start_run(conn, spec, by=by)
    await stats.end_run(conn, run, "stopped")
    await add_seeds(conn, named, run=run, by=by)
    await allow_networks(conn, spec, map(domain_of, named), by=by)
    await assign_domains(conn, spec, map(domain_of, named), run=run)
    return run


async def add_seed_batch(
    conn: Connection, seeds: Sequence[Seed], spec: RunSpec, *, run: int, source: str, is_scored: bool
) -> SeedResult:
    """Adds a part of a prepared run's list. New domains belong to the run from the start; domains that the scope adds,
    and those that existed before, are adopted."""
    planted = await add_seed_list(conn, seeds, source=source, run=run, is_scored=is_scored)
    await allow_networks(conn, spec, (domain_of(seed.url) for seed in seeds), by=source)
    match spec.scope:
        case Scope.ANY:
            pass  # all at once, when the run is opened
        case Scope.DOMAIN:
            await assign_domains(conn, spec, (domain_of(seed.url) for seed in seeds), run=run)
        case _:
            await assign_domains(conn, spec, planted.known, run=run)
    return planted


async def open_run(conn: Connection, spec: RunSpec, *, run: int) -> None:
    """Opens a prepared run after all its seeds were added; `spec` now has their number."""
    if spec.scope is Scope.ANY:
        await assign_domains(conn, spec, (), run=run)
    await stats.open_run(conn, run, spec)


async def add_seeds(conn: Connection, seeds: tuple[str, ...], *, run: int, by: str) -> None:
    """Adds seeds as pages at depth 0 with the highest priority, also those that were known before."""
    links = [Discovery(url, url_key(url), domain_of(url), 0, 0, "", "seed") for url in seeds]
    learned = EnqueueResult()

    async def find_or_add(conn: Connection, bases: Any) -> dict[str, int]:
        await domains.add_domains(conn, bases, source="seed", run=run)
        return await domains.find_domains(conn, bases)

    await enqueue(conn, learned, {link.key: link for link in links}, find_or_add, are_seeds=True)
    await domains.count_discovered(conn, learned.new, run=run)
    pages = list(learned.page_ids.values())
    await store.mark_seeds(conn, pages)
    await store.run_tasks_now(conn, pages)
    await domains.update_requeue_counts(conn, await store.requeue_pages(conn, pages, by=by))
    if learned.nearer:
        await store.update_depths(conn, learned.nearer)
    await domains.wake_unreachable(conn, sorted({link.domain for link in links}))


async def assign_domains(conn: Connection, spec: RunSpec, domain_names: Iterable[str], *, run: int) -> None:
    """Assigns these domains, and those its scope adds to them, to the run."""
    names = sorted(set(domain_names))
    parents = sorted({registrable(name) for name in names}) if spec.scope is Scope.DOMAIN else []
    everything = spec.scope is Scope.ANY or spec.is_all_domains
    await domains.assign_domains(conn, run, names=names, parents=parents, everything=everything)
