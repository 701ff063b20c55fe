"""Adds URLs from an operator to the frontier as ordinary pages. Known pages keep their state; new ones are queued.

Seeds, which have the highest priority, are added by `add_seed_list`.
"""

from collections.abc import Mapping, Sequence

from forager.db.types import Connection
from forager.domains import store as domains
from forager.domains.denied import require_allowed
from forager.frontier import store
from forager.frontier.enqueue import EnqueueResult, enqueue
from forager.seeds.found import Seed
from forager.seeds.load import SeedResult, add_seed_list, sort_seeds
from forager.urls.domain import domain_of

PIECE = 5_000


async def add_urls(
    conn: Connection, urls: Sequence[Seed], *, source: str, is_scored: bool, are_seeds: bool
) -> SeedResult:
    """Adds all URLs in the caller's transaction, `PIECE` at a time; none if a domain is on the deny list."""
    await require_allowed(conn, {domain_of(url.url) for url in urls})
    total = SeedResult(0, 0, ())
    for start in range(0, len(urls), PIECE):
        piece = urls[start : start + PIECE]
        work = add_seed_list if are_seeds else _add
        done = await work(conn, piece, source=source, is_scored=is_scored)
        total = SeedResult(total.domains + done.domains, total.pages + done.pages, (*total.known, *done.known))
    return total


async def preview_urls(conn: Connection, urls: Sequence[Seed]) -> SeedResult:
    """Returns what `add_urls` would add. Changes nothing."""
    links, seeded = sort_seeds(urls)
    found = await domains.find_domains(conn, seeded)
    keys = [(found[link.domain], key) for key, link in links.items() if link.domain in found]
    known = [await store.find_pages(conn, keys[start : start + PIECE]) for start in range(0, len(keys), PIECE)]
    return SeedResult(len(seeded) - len(found), len(links) - sum(map(len, known)), tuple(found))


async def _add(conn: Connection, urls: Sequence[Seed], *, source: str, is_scored: bool) -> SeedResult:
    links, seeded = sort_seeds(urls)
    added: dict[str, int] = {}
    known: dict[str, int] = {}

    async def find_or_add(conn: Connection, names: Mapping[str, str]) -> Mapping[str, int]:
        found = await domains.find_domains(conn, names)
        known.update(found)
        new = {name: seeded[name] for name in names if name not in found}
        added.update(await domains.add_seed_domains(conn, new, source=source, run=None, is_scored=is_scored))
        found |= added
        if raced := [name for name in names if name not in found]:
            found |= await domains.find_domains(conn, raced)
        return found

    learned = EnqueueResult()
    await enqueue(conn, learned, links, find_or_add)
    counted = set(added.values())
    fresh = {domain: pages for domain, pages in learned.new.items() if domain not in counted}
    await domains.count_discovered(conn, fresh, run=None)
    return SeedResult(len(added), sum(learned.new.values()), tuple(known))
