"""Starts crawls: seeds become domains and pages, and a run adopts the domains in its scope.

One transaction, committed synchronously: once this returned, no seed is lost. Seeds that an operator named are visited
now, also those that failed before and those of unreachable domains; seeds of a list are added as `add_seed_list` does.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from forager.db.types import Connection
from forager.domains import store as domains
from forager.domains import tasks as domain_tasks
from forager.domains.denied import require_allowed
from forager.domains.settings import Order, drop_implied_scopes, find_crawled, remember_order
from forager.frontier import store
from forager.frontier.enqueue import EnqueueResult, enqueue
from forager.links.models import Discovery
from forager.links.scope import folder_of
from forager.runs.models import RunSpec, Scope
from forager.seeds.found import Seed
from forager.seeds.load import SeedResult, add_seed_list
from forager.stats import store as stats
from forager.urls.domain import domain_of, registrable
from forager.urls.normalize import normalize, url_key

RECENT_S = 3600.0
"""A seed that was read within this time is not visited again while the same command resumes a crawl."""


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
    crawled = await find_crawled(conn, sorted(set(map(domain_of, spec.seeds))))
    from_list = {seed.url for seed in listed}
    named = tuple(seed for seed in spec.seeds if seed not in from_list)
    await add_seeds(conn, named, run=run, by=by)
    if listed:
        await add_seed_list(conn, listed, source=source, run=run, is_scored=is_scored)
    await note_schemes(conn, named, spec.bare)
    await remember_flags(conn, spec, spec.seeds, crawled, by=by)
    await assign_domains(conn, spec, map(domain_of, spec.seeds), run=run)
    return run


async def resolve_bare(conn: Connection, spec: RunSpec) -> RunSpec:
    """Returns the spec with the scheme that worked before for seeds that were named without one."""
    bases = await domains.known_bases(conn, map(domain_of, spec.bare)) if spec.bare else {}
    plain = {seed: _without_tls(seed) for seed in spec.bare if bases.get(domain_of(seed), "").startswith("http://")}
    seeds = dict.fromkeys(plain.get(seed, seed) for seed in spec.seeds)
    return replace(spec, seeds=tuple(seeds), bare=tuple(seed for seed in spec.bare if seed not in plain))


def _without_tls(url: str) -> str:
    return normalize(f"http://{url.removeprefix('https://')}")


async def note_schemes(conn: Connection, named: Collection[str], bare: Collection[str]) -> None:
    """Stores which domains were named without a scheme: where https fails, http is tried. It is never tried for a site
    that was named with https."""
    typed = {domain_of(seed) for seed in named if seed not in bare and seed.startswith("https:")}
    await domains.guess_schemes(conn, {domain_of(seed) for seed in bare}, typed)


async def remember_flags(
    conn: Connection, spec: RunSpec, seeds: Iterable[str], crawled: frozenset[str], *, by: str
) -> None:
    """Stores the flags of a run as crawl settings of its seeds' domains: `forager up`, a refresh and a later crawl do
    the same. Where networks are allowed, pages that the address guard rejected before are tried again."""
    settings = dict(spec.settings)
    if spec.allow_networks:
        settings["allow_networks"] = list(spec.allow_networks)
    prefixes: dict[str, set[str]] = {}
    for seed in seeds:
        prefixes.setdefault(domain_of(seed), set()).add(folder_of(seed))
    names = sorted(prefixes)
    folders = {name: sorted(found) for name, found in prefixes.items()}
    scope = spec.scope if spec.is_scope_given else None
    await remember_order(conn, Order(scope, folders, settings, crawled), names, by=by)
    if spec.allow_networks:
        ids = list((await domains.find_domains(conn, names)).values())
        await domains.update_requeue_counts(conn, await store.requeue_rejected(conn, sorted(ids), by=by))


async def prepare_run(conn: Connection, spec: RunSpec, named: tuple[str, ...], *, by: str) -> int:
    """Creates a run with more seeds than fit in one transaction. It counts as stopped until all are added."""
    run = await stats.start_run(conn, spec, by=by)
    await stats.end_run(conn, run, "stopped")
    crawled = await find_crawled(conn, sorted(set(map(domain_of, named))))
    await add_seeds(conn, named, run=run, by=by)
    await note_schemes(conn, named, spec.bare)
    await remember_flags(conn, spec, named, crawled, by=by)
    await assign_domains(conn, spec, map(domain_of, named), run=run)
    return run


async def add_seed_batch(
    conn: Connection, seeds: Sequence[Seed], spec: RunSpec, *, run: int, source: str, is_scored: bool
) -> SeedResult:
    """Adds a part of a prepared run's list. New domains belong to the run from the start; domains that the scope adds,
    and those that existed before, are adopted."""
    has_flags = spec.is_scope_given or spec.settings or spec.allow_networks
    names = sorted({domain_of(seed.url) for seed in seeds}) if has_flags else []
    crawled = await find_crawled(conn, names) if names else frozenset[str]()
    planted = await add_seed_list(conn, seeds, source=source, run=run, is_scored=is_scored)
    if has_flags:
        await remember_flags(conn, spec, (seed.url for seed in seeds), crawled, by=source)
    else:
        await drop_implied_scopes(conn, planted.known, by=source)
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
    """Adds seeds as pages at depth 0 with the highest priority. Those that were read before are visited again, those
    that failed are tried again."""
    links = [Discovery(url, url_key(url), domain_of(url), 0, 0, "", "seed") for url in seeds]
    await require_allowed(conn, [link.domain for link in links])
    learned = EnqueueResult()

    async def find_or_add(conn: Connection, bases: Any) -> dict[str, int]:
        await domains.add_domains(conn, bases, source="seed", run=run)
        return await domains.find_domains(conn, bases)

    await enqueue(conn, learned, {link.key: link for link in links}, find_or_add, are_seeds=True)
    pages = list(learned.page_ids.values())
    await domain_tasks.hold(conn, (await domains.find_domains(conn, [link.domain for link in links])).values())
    revisited = await store.revisit_seeds(conn, pages, by=by, recent_s=RECENT_S)
    await domains.count_discovered(conn, learned.new, run=run)
    await domain_tasks.expect_visits(conn, revisited, {})
    await store.mark_seeds(conn, pages)
    await store.run_tasks_now(conn, pages)
    await domains.update_requeue_counts(conn, await store.requeue_pages(conn, pages, by=by))
    if learned.nearer:
        await store.update_depths(conn, learned.nearer)
    await domains.wake_unreachable(conn, sorted({link.domain for link in links}))


async def assign_domains(conn: Connection, spec: RunSpec, domain_names: Iterable[str], *, run: int) -> None:
    """Assigns these domains, and those its scope adds to them, to the run."""
    names = sorted(set(domain_names))
    names = sorted({*names, *await domains.owners_of(conn, names)})
    parents = sorted({registrable(name) for name in names}) if spec.scope is Scope.DOMAIN else []
    everything = spec.scope is Scope.ANY or spec.is_all_domains
    await domains.assign_domains(conn, run, names=names, parents=parents, everything=everything)
