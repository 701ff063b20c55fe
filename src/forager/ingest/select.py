"""The fifth verb: normalise, scope, caps, traps, dedupe. Says of every link whether it is worth knowing, or why not.

A page repeats most of its links from the page before (navigation, footers), so what a link resolves to is remembered:
60 links cost about 20 µs instead of 180. The memory holds facts about URLs only, never whether a page is known.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from forager.errors import BadUrlError
from forager.ingest.scope import Reach
from forager.ingest.traps import is_binary, is_trap
from forager.records import Discovery, FoundLink, Reading, Selection, Target
from forager.urls import domain_of, origin_of, resolve_links, url_key

REMEMBERED = 50_000
"""Links kept per generation, about 300 bytes each; at most two generations live."""
NO_KEY = b""
"""The key of every place that is not worth knowing, so that one look tells it from the others."""


class Place(NamedTuple):
    """What a link points to. `refusal` is why it is not worth knowing, or None."""

    url: str
    key: bytes
    domain: str
    refusal: str | None


class Selector:
    """Selects for one run. Not shared between runs: what a link is worth depends on the run's reach."""

    def __init__(self, reach: Reach, *, max_links_per_page: int) -> None:
        self._reach = reach
        self._max_links = max_links_per_page
        self._young: dict[str, dict[str, Place]] = {}
        self._old: dict[str, dict[str, Place]] = {}
        """Origin → link → place."""
        self._remembered = 0

    def select(self, reading: Reading, target: Target) -> Selection:
        """The links of one page that are worth knowing, in the order the page has them."""
        found = reading.links
        if reading.is_nofollow:
            return Selection(dropped={"nofollow": len(found)}) if found else Selection()
        dropped: dict[str, int] = {}
        links: list[Discovery] = []
        seen = {url_key(target.url), NO_KEY}
        depth = target.depth + 1
        places = self._places(_base_of(reading, target), found)
        new = tuple.__new__  # sixty times a page: a third of the cost of calling the class
        for (_, anchor, rel), (url, key, domain, refusal) in zip(found, places, strict=True):
            if key in seen or (rel != "a" and rel.endswith("nofollow")):
                reason = refusal or ("nofollow" if rel.endswith("nofollow") else "duplicate")
                dropped[reason] = dropped.get(reason, 0) + 1
                continue
            seen.add(key)
            links.append(new(Discovery, (url, key, domain, depth, 0, anchor, rel)))
        if len(links) > self._max_links:
            dropped["too_many"] = len(links) - self._max_links
            del links[self._max_links :]
        return Selection(links, dropped)

    def redirect(self, target: Target, location: str) -> Selection:
        """Where a redirect leads: known at the same depth, one redirect further."""
        place = self._judge(resolve_links(target.url, [location])[0])
        if place.refusal is not None:
            return Selection(dropped={place.refusal: 1})
        hop = target.redirects + 1
        return Selection([Discovery(place.url, place.key, place.domain, target.depth, hop, "", "redirect")])

    def _places(self, base_url: str, found: Sequence[FoundLink]) -> list[Place]:
        """Each link's place, from memory where the link means the same on every page of its origin."""
        origin = origin_of(base_url)
        young = self._young.setdefault(origin, {})
        places = [young.get(link.href) for link in found]
        if None in places:
            self._fill(base_url, origin, found, places)
        return places  # type: ignore[return-value]  # every None was filled

    def _fill(self, base_url: str, origin: str, found: Sequence[FoundLink], places: list[Place | None]) -> None:
        old = self._old.get(origin, {})
        missing = [index for index, place in enumerate(places) if place is None]
        strange = [index for index in missing if found[index].href not in old]
        for index in missing:
            places[index] = old.get(found[index].href)
        for index, url in zip(strange, resolve_links(base_url, [found[i].href for i in strange]), strict=True):
            places[index] = self._judge(url)
        young = self._young[origin]
        for index in missing:
            href, place = found[index].href, places[index]
            if place is not None and href.startswith(("/", "http://", "https://")):
                young[href] = place
                self._remembered += 1
        if self._remembered > REMEMBERED:
            self._old, self._young, self._remembered = self._young, {}, 0

    def _judge(self, url: str | None) -> Place:
        if url is None:
            return Place("", NO_KEY, "", "bad_url")
        if is_binary(url):
            return Place("", NO_KEY, "", "binary")
        domain = domain_of(url)
        if reason := self._reach.refusal(url, domain) or ("trap" if is_trap(url) else None):
            return Place("", NO_KEY, "", reason)
        return Place(url, url_key(url), domain, None)


def _base_of(reading: Reading, target: Target) -> str:
    """What relative links are relative to: a base that is not on the web does not count (HTML 4.2.3)."""
    try:
        origin_of(reading.base_url)
    except BadUrlError:
        return target.url
    return reading.base_url


def add_up(drops: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Several pages' dropped links as one tally."""
    total: dict[str, int] = {}
    for drop in drops:
        for reason, count in drop.items():
            total[reason] = total.get(reason, 0) + count
    return total
