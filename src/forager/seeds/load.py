"""Adds seed lists in batches of any size: domains with source and rank, pages at depth 0 with the highest priority.

A list only adds what is new; known domains and pages keep their state. A blocked or exhausted domain stays so unless
the list names a page of it that is not known yet; a page that was visited or failed is not visited again because of a
list. Idempotent: after a kill, loading the same list adds only what is missing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forager.db.types import Connection
from forager.domains import admin
from forager.domains import store as domains
from forager.domains.settings import drop_implied_scopes
from forager.domains.store import Seeded
from forager.frontier import store
from forager.frontier.enqueue import EnqueueResult, enqueue
from forager.links.models import Discovery
from forager.seeds.found import Seed
from forager.urls.domain import domain_of, origin_of
from forager.urls.normalize import url_key


@dataclass(frozen=True, slots=True)
class SeedResult:
    """What was new in one batch of a list."""

    domains: int
    pages: int
    known: tuple[str, ...]
    """Domains that existed before."""
    denied: int = 0
    """Pages of domains on the deny list, which were left out."""


async def add_seed_list(
    conn: Connection,
    seeds: Sequence[Seed],
    *,
    source: str,
    run: int | None = None,
    is_scored: bool = True,
    held_by: str | None = None,
) -> SeedResult:
    """Adds the seeds of one transaction. `run` takes the domains that get new pages, except those it is not allowed
    to take, and has a scope; without it seeds are for their whole sites. `held_by` is the operator who wants new
    domains paused until they are resumed."""
    links, seeded = sort_seeds(seeds)
    added: dict[str, int] = {}

    async def find_or_add(conn: Connection, names: Mapping[str, str]) -> Mapping[str, int]:
        found = await domains.find_domains(conn, names)
        new = {name: seeded[name] for name in names if name not in found}
        added.update(await domains.add_seed_domains(conn, new, source=source, run=run, is_scored=is_scored))
        found |= added
        if raced := [name for name in names if name not in found]:
            found |= await domains.find_domains(conn, raced)
        known.update({name: found[name] for name in names if name in found and name not in added})
        return found

    known: dict[str, int] = {}
    learned = EnqueueResult()
    await enqueue(conn, learned, links, find_or_add, are_seeds=True)
    counted = set(added.values())
    await domains.guess_schemes(conn, [name for name in added if seeded[name].is_guess])
    if held_by is not None:
        await admin.hold_new(conn, counted, by=held_by, reason="held when it was seeded")
    if run is None:
        await drop_implied_scopes(conn, tuple(known), by=held_by or source)
    await domains.raise_ranks(conn, {known[name]: rank for name in known if (rank := seeded[name].rank) is not None})
    await domains.count_discovered(
        conn, {domain: pages for domain, pages in learned.new.items() if domain not in counted}, run=run
    )
    new_pages = sum(learned.new.values())
    if learned.page_ids and new_pages < len(links):
        await _mark_as_seeds(conn, learned)
    return SeedResult(len(added), new_pages, tuple(known), len(learned.refused))


async def _mark_as_seeds(conn: Connection, learned: EnqueueResult) -> None:
    """Turns known pages into seeds: first in their domain, at depth 0; pages linked from them may move closer too."""
    await store.mark_seeds(conn, list(learned.page_ids.values()))
    if learned.nearer and (nearer := await store.update_depths(conn, learned.nearer)):
        await domains.wake(conn, nearer)


def sort_seeds(seeds: Sequence[Seed]) -> tuple[dict[bytes, Discovery], dict[str, Seeded]]:
    """Returns each page once, and the base URL, best rank and page count of each domain."""
    links: dict[bytes, Discovery] = {}
    seeded: dict[str, Seeded] = {}
    for url, rank, _, is_bare in seeds:
        key, name = url_key(url), domain_of(url)
        before = seeded.get(name)
        is_new = key not in links
        if before is None:
            seeded[name] = Seeded(origin_of(url), rank, 1, is_bare)
        elif is_new or rank is not None:
            is_guess = before.is_guess and is_bare
            seeded[name] = Seeded(before.base_url, _better(before.rank, rank), before.pages + is_new, is_guess)
        if is_new:
            links[key] = Discovery(url, key, name, 0, 0, "", "seed")
    return links, seeded


def _better(one: int | None, other: int | None) -> int | None:
    return min((rank for rank in (one, other) if rank is not None), default=None)
