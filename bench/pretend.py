"""Visits that never happened, for measuring what comes after them: pages and links like those of the `bench` sites."""

import random
from collections.abc import Iterator, Sequence

from bench.fill import DEPTH, DOMAINS, name_of, url_of
from forager.frontier.models import Lease, Outcome, OutcomeKind, Target
from forager.links.models import Discovery, Selection
from forager.parsing.models import Reading
from forager.urls.domain import domain_of
from forager.urls.normalize import url_key

MENU = 14
RELATED = 40
NEW = 6
PER_LEASE = 10
"""Targets per claim of one domain: about what a worker holds ready of a site it asks once a second."""
SWEEP = 10_000
TEXT = " ".join(random.Random(n).choice(("river", "stone", "market", "winter", "letter", "garden")) for n in range(200))


class LeaseTurns:
    """Goes round the leases, some targets from each, so that all domains are worked on at once."""

    def __init__(self, leases: Sequence[Lease]) -> None:
        self._leases = leases
        self._next = 0

    def take(self, targets: int) -> list[tuple[Lease, int]]:
        count = min(targets // PER_LEASE, len(self._leases))
        chosen = [self._leases[(self._next + step) % len(self._leases)] for step in range(count)]
        self._next += count
        return [(lease, PER_LEASE) for lease in chosen]


def pretend_visit(target: Target, size: int) -> Outcome:
    """A page that was fetched and read, with its links: six new ones, the others known to the database."""
    site = int(domain_of(target.url).removeprefix("site-").removesuffix(".example"))
    links = [*known_links(site, target.page_id, size), *new_links(site, target.page_id)]
    return Outcome(
        target,
        OutcomeKind.SUCCESS,
        200,
        response_time_ms=12,
        wire_bytes=14_000,
        content_type="text/html; charset=utf-8",
        reading=pretend_reading(target),
        selection=Selection(links),
    )


def pretend_reading(target: Target) -> Reading:
    return Reading(
        title=f"Page {target.page_id} of a site with many pages",
        description=f"What page {target.page_id} of this site is about, in one sentence of usual length.",
        canonical=None,
        language="en",
        headings="What this page is about and some more",
        text=TEXT,
        content_hash=url_key(target.url),
        links=(),
        base_url=target.url,
    )


def pretend_links(number: int, size: int) -> list[Discovery]:
    """The known links of some page of some site; every site in turn."""
    return known_links(number % DOMAINS, number, size)


def known_links(site: int, seed: int, size: int) -> list[Discovery]:
    """As many at every size, else pages of a small one would cost less for having fewer. Squared draws, so that most
    links lead to few pages, as they do on real sites."""
    draw, places = random.Random(seed).random, size // DOMAINS
    chosen = dict.fromkeys(range(min(MENU, places)))
    while len(chosen) < min(MENU + RELATED, places):
        chosen[int(draw() ** 2 * places)] = None
    return [make_link(site, url_of(site, place)) for place in chosen]


def new_links(site: int, page: int) -> list[Discovery]:
    return [make_link(site, f"https://{name_of(site)}/new/page-{page}-{number}") for number in range(NEW)]


def make_link(site: int, url: str) -> Discovery:
    return Discovery(url, url_key(url), name_of(site), DEPTH + 1, 0, "a link to this page", "a")


def sweep_links(size: int, most: int) -> Iterator[list[Discovery]]:
    """So many different known links, in portions: enough to fill a worker's memory to the brim."""
    numbers = range(min(size, most))
    for start in range(0, len(numbers), SWEEP):
        portion = numbers[start : start + SWEEP]
        yield [make_link(n % DOMAINS, url_of(n % DOMAINS, n // DOMAINS)) for n in portion]
