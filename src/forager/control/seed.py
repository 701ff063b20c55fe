"""Orders to crawl: seeds become domains and pages, and a run adopts the domains it reaches.

One transaction, committed synchronously: once this returned, no seed is lost.
"""

from typing import Any

from forager.domains import store as domains
from forager.frontier import store as frontier
from forager.frontier.learn import Learned, learn
from forager.records import Discovery, RunSpec, Scope
from forager.stats import store as stats
from forager.urls import domain_of, registrable, url_key


async def start_run(conn: Any, spec: RunSpec, *, by: str) -> int:
    """Store the order and everything it needs to begin. Answers the run's number."""
    run = await stats.start_run(conn, spec, by=by)
    await plant(conn, spec.seeds, run=run, by=by)
    names = sorted({domain_of(seed) for seed in spec.seeds})
    parents = sorted({registrable(name) for name in names}) if spec.scope is Scope.DOMAIN else []
    await domains.wake_unreachable(conn, names)
    await domains.adopt_domains(conn, run, names=names, parents=parents, everything=spec.scope is Scope.ANY)
    return run


async def plant(conn: Any, seeds: tuple[str, ...], *, run: int, by: str) -> None:
    """Seeds are pages at depth 0 and of the highest priority, also those that were known before."""
    links = [Discovery(url, url_key(url), domain_of(url), 0, 0, "", "seed") for url in seeds]
    learned = Learned()

    async def find_or_add(conn: Any, bases: Any) -> dict[str, int]:
        await domains.add_domains(conn, bases, source="seed", run=run)
        return await domains.find_domains(conn, bases)

    await learn(conn, learned, {link.key: link for link in links}, find_or_add, are_seeds=True)
    await domains.count_discovered(conn, learned.new, run=run)
    pages = list(learned.page_ids.values())
    await frontier.mark_seeds(conn, pages)
    await frontier.hurry_tasks(conn, pages)
    await domains.count_reopened(conn, await frontier.reopen_pages(conn, pages, by=by))
    if learned.nearer:
        await frontier.relax_depths(conn, learned.nearer)
