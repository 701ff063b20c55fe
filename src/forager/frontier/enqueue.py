"""Enqueues new domains and pages, in batches, in a transaction of their own.

Enqueueing comes before recording: a crash between the two re-crawls a page but never loses a link. Three steps in a
fixed order (domains by name, pages by key, counters by id) keep any number of workers from deadlocking.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from forager.db.types import Connection
from forager.frontier import store
from forager.frontier.url_cache import UrlCache, depth_of, page_id
from forager.links.models import Discovery
from forager.urls.domain import origin_of


@dataclass(slots=True)
class EnqueueResult:
    """The result of enqueueing a batch of links."""

    page_ids: dict[bytes, int] = field(default_factory=dict)
    """The page of every link, new or known."""
    new: dict[int, int] = field(default_factory=dict)
    """Domain → number of new pages."""
    nearest: dict[int, int] = field(default_factory=dict)
    """Domain → smallest depth of its new pages."""
    nearer: dict[int, int] = field(default_factory=dict)
    """Page → new depth, smaller than the previous one."""
    refused: set[bytes] = field(default_factory=set)
    """Links to rejected domains: they stay unknown."""
    images: set[int] = field(default_factory=set)
    """Pages that were known only as images, and that a link now leads to."""
    fresh: list[tuple[bytes, int, int]] = field(default_factory=list)
    """Entries for the URL cache once the transaction is committed: key, page, depth."""
    found: dict[int, int] = field(default_factory=dict)
    """Domain → number of links that were looked up in the database and found."""
    era: str | None = None
    """The cache namespace in which the URL cache was valid."""


def sort_known(links: Iterable[Discovery], known: UrlCache) -> tuple[EnqueueResult, dict[bytes, Discovery]]:
    """Splits links by the URL cache: resolves those it contains, and returns the rest to be looked up."""
    learned = EnqueueResult()
    unknown: dict[bytes, Discovery] = {}
    for link in known.take(links, learned.page_ids):
        key = link.key
        packed = known.get(key)
        if packed is None:
            other = unknown.get(key)
            if other is None or link.depth < other.depth:
                unknown[key] = link
            continue
        page = learned.page_ids[key] = page_id(packed)
        if link.depth < depth_of(packed):
            learned.nearer[page] = min(link.depth, learned.nearer.get(page, link.depth))
            learned.fresh.append((link.key, page, learned.nearer[page]))
    return learned, unknown


def merge_cached(learned: EnqueueResult, unknown: dict[bytes, Discovery], recalled: Mapping[bytes, int]) -> None:
    """Resolves links that other workers have cached, and removes them from `unknown`."""
    for key, packed in recalled.items():
        page, depth, link = page_id(packed), depth_of(packed), unknown.pop(key)
        learned.page_ids[key] = page
        if link.depth < depth:
            learned.nearer[page] = min(link.depth, learned.nearer.get(page, link.depth))
        learned.fresh.append((key, page, min(depth, link.depth)))


DomainIds = Callable[[Any, Mapping[str, str]], Awaitable[Mapping[str, int]]]
"""Finds or adds domains, given by name with the origin where they were found. Links to domains it omits are not
enqueued."""


async def enqueue(
    conn: Connection,
    learned: EnqueueResult,
    unknown: Mapping[bytes, Discovery],
    domain_ids: DomainIds,
    *,
    are_seeds: bool = False,
    are_images: bool = False,
) -> None:
    """Inserts the unknown pages and fills `learned`. Runs inside the caller's transaction; safe to run again."""
    ids = await domain_ids(conn, {link.domain: origin_of(link.url) for link in unknown.values()})
    pages = [(ids[link.domain], link) for link in unknown.values() if link.domain in ids]
    if len(pages) < len(unknown):
        learned.refused.update(key for key, link in unknown.items() if link.domain not in ids)
    await _find(conn, learned, unknown, pages)
    strangers = [(domain, link) for domain, link in pages if link.key not in learned.page_ids]
    if not strangers:
        return
    for page, domain, key, depth in await store.add_pages(conn, strangers, is_seed=are_seeds, is_image=are_images):
        learned.page_ids[key] = page
        learned.new[domain] = learned.new.get(domain, 0) + 1
        learned.nearest[domain] = min(depth, learned.nearest.get(domain, depth))
        learned.fresh.append((key, page, depth))
    if raced := [(domain, link) for domain, link in strangers if link.key not in learned.page_ids]:
        await _find(conn, learned, unknown, raced)
        learned.refused.update(
            link.key for _, link in raced if link.key not in learned.page_ids
        )  # their domain was deleted


async def _find(
    conn: Connection, learned: EnqueueResult, unknown: Mapping[bytes, Discovery], pages: Sequence[tuple[int, Discovery]]
) -> None:
    """Looks pages up before inserting them: in a large crawl most evicted pages are known, and a look-up is half the
    price."""
    found = await store.find_pages(conn, [(domain, link.key) for domain, link in pages])
    for page, domain, key, depth, is_image in found:
        learned.page_ids[key] = page
        learned.found[domain] = learned.found.get(domain, 0) + 1
        if is_image:
            learned.images.add(page)
            continue
        nearest = unknown[key].depth
        if nearest < depth:
            learned.nearer[page] = nearest
        learned.fresh.append((key, page, min(depth, nearest)))
