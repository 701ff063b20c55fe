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
from forager.urls.normalize import url_key
from forager.urls.twins import under_origin


@dataclass(slots=True)
class EnqueueResult:
    """The result of enqueueing a batch of links."""

    page_ids: dict[bytes, int] = field(default_factory=dict)
    """The page of every link, new or known."""
    new: dict[int, int] = field(default_factory=dict)
    """Domain → number of new pages."""
    added: set[bytes] = field(default_factory=set)
    """Keys of the new pages."""
    nearest: dict[int, int] = field(default_factory=dict)
    """Domain → smallest depth of its new pages."""
    nearer: dict[int, int] = field(default_factory=dict)
    """Page → new depth, smaller than the previous one."""
    refused: set[bytes] = field(default_factory=set)
    """Links to rejected domains: they stay unknown."""
    denied: set[bytes] = field(default_factory=set)
    """Those of `refused` whose domain is on the deny list."""
    images: set[int] = field(default_factory=set)
    """Pages that were known only as images, and that a link now leads to."""
    fresh: list[tuple[bytes, int, int]] = field(default_factory=list)
    """Entries for the URL cache once the transaction is committed: key, page, depth."""
    found: dict[int, int] = field(default_factory=dict)
    """Domain → number of links that were looked up in the database and found."""
    era: str | None = None
    """The cache namespace in which the URL cache was valid."""

    def merge(self, other: "EnqueueResult") -> None:
        """Adds the result of enqueueing more links for the same batch."""
        self.page_ids |= other.page_ids
        self.refused |= other.refused
        for domain, pages in other.new.items():
            self.new[domain] = self.new.get(domain, 0) + pages
        for domain, depth in other.nearest.items():
            self.nearest[domain] = min(depth, self.nearest.get(domain, depth))
        if other.era != self.era:
            self.era = MIXED


MIXED = "mixed"
"""In place of a cache namespace: pages were deleted while the batch was enqueued, so that its pages are looked up."""


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


def under_site_origins(
    unknown: Mapping[bytes, Discovery], origins: Mapping[str, str]
) -> tuple[dict[bytes, Discovery], dict[bytes, bytes]]:
    """Returns links under the origin of their site, where that is known, and the keys of those that were changed: old →
    new. The target of a redirect stays as it is: the site may serve that page under another origin only."""
    links: dict[bytes, Discovery] = {}
    twins: dict[bytes, bytes] = {}
    for key, link in unknown.items():
        origin = origins.get(link.domain)
        url = under_origin(link.url, origin) if origin is not None and link.rel != "redirect" else link.url
        moved = link
        if url != link.url:
            twins[key] = url_key(url)
            moved = link._replace(url=url, key=twins[key])
        other = links.get(moved.key)
        if other is None or moved.depth < other.depth:
            links[moved.key] = moved
    return links, twins


def take_twins(
    learned: EnqueueResult, unknown: dict[bytes, Discovery], origins: Mapping[str, str], known: UrlCache
) -> tuple[dict[bytes, Discovery], dict[bytes, bytes]]:
    """Takes unknown links under the origins of their sites, resolves those that the URL cache contains there, and
    returns the rest."""
    if not unknown or not origins:
        return unknown, {}
    links, twins = under_site_origins(unknown, origins)
    if twins:
        found, _ = sort_known([links[key] for key in set(twins.values())], known)
        learned.page_ids |= found.page_ids
        learned.nearer |= {page: min(depth, learned.nearer.get(page, depth)) for page, depth in found.nearer.items()}
        learned.fresh += found.fresh
        links = {key: link for key, link in links.items() if key not in found.page_ids}
    return links, twins


def resolve_twins(learned: EnqueueResult, twins: Mapping[bytes, bytes]) -> None:
    """Resolves links that were taken under another origin to the pages that were found or added there."""
    for key, other in twins.items():
        if other in learned.refused:
            learned.refused.add(key)
        elif (page := learned.page_ids.get(other)) is not None:
            learned.page_ids[key] = page


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
    are_sitemaps: bool = False,
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
    added = await store.add_pages(conn, strangers, is_seed=are_seeds, is_image=are_images, is_sitemap=are_sitemaps)
    for page, domain, key, depth in added:
        learned.page_ids[key] = page
        learned.added.add(key)
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
