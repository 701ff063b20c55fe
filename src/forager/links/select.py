"""Link selection: normalises, applies scope, limits and trap rules, deduplicates. Decides for every link whether it is
worth enqueueing, or why not.

A page repeats most links of the previous page (navigation, footers), so resolved links are cached: 60 links cost about
20 µs instead of 180. The cache holds facts about URLs only, never whether a page is known. Most links of real pages are
out of scope by their origin alone: these are neither normalised nor cached. The caller passes a domain's known traps to
`set_traps`; `take_notes` returns the links that matched a trap rule.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from forager import clock
from forager.domains.models import ALL_OF_A_LOOK, Trap
from forager.errors import BadUrlError
from forager.frontier.models import Target
from forager.links import compiled, templates, traps
from forager.links.compiled import Gather, Recall
from forager.links.images import collect_images
from forager.links.models import Discovery, Selection, Sighting
from forager.links.name_set import MutableNameSet
from forager.links.scope import CrawlScope
from forager.parsing.link_columns import LinkColumns
from forager.parsing.models import Reading
from forager.urls.domain import LONGEST_ORIGIN, domain_of, domain_of_origin, origin_of
from forager.urls.normalize import url_key
from forager.urls.resolve import resolve_links

REMEMBERED = 50_000
"""Links cached per generation, about 300 bytes each; at most two generations exist."""
LONGEST_REMEMBERED = 500
"""Longer links are resolved again on every page: a hostile site could fill the cache with links of 8 KB each."""
MOST_ORIGINS = 20_000
"""Limit on origins for which the out-of-scope result is cached."""
LONGEST_PLAIN = 1300
"""A longer link may exceed the URL length limit: normalising can turn each character into three."""
STEADY = re.compile(r"(?s)http.{4}[^/?#]+((?:(?!/\.|%2[Ee])[!\"$->@-\[\]-~])*)(?:[?#][!-~]*)?")
"""Matches a link whose path has no `/.` and no escaped dot, so that normalising does not move its dots."""
ENDING = re.compile(r"(?:(?!\.(?:html?|php|aspx?|jsp|shtml)\Z)\.[^.]{0,5}|%.{0,7})\Z", re.IGNORECASE)
"""Matches the end of a path that may name a file Forager does not parse, and is not certainly a page."""
SIMPLE = re.compile(r"(?:/[A-Za-z0-9_~!$&*+,=@-]+)*(?:/|\.(?:html?|php|aspx?|jsp|shtml))?")
"""Matches a rooted link that is already normalised and does not name a file Forager does not parse."""
ROOTED = ("/", "http://", "https://")
"""Prefixes of links that mean the same on every page of an origin."""
NO_KEY = b""
"""Key of every rejected target, so that one comparison identifies it."""


class LinkTarget(NamedTuple):
    """The target of a link. `refusal` is the reason for rejecting it, or None."""

    url: str
    key: bytes
    domain: str
    refusal: str | None


class DomainTraps(NamedTuple):
    """The known traps of one domain."""

    shut: tuple[tuple[str, str], ...]
    """(Rule, template) pairs whose links are dropped."""
    released: frozenset[str]
    """Rules that are released for this domain."""


class TrapNote(NamedTuple):
    """Links of a domain that matched a rule since the last call of `take_notes`."""

    domain: str
    rule: str
    template: str
    links: int
    example: str


class Selector:
    """Selects links for one run. Not shared between runs: the result depends on the run's scope."""

    def __init__(self, reach: CrawlScope, *, max_links_per_page: int) -> None:
        self._reach = reach
        self._max_links = max_links_per_page
        self._latest_year = clock.now().year + traps.YEARS_AHEAD
        self._heeded: dict[str, DomainTraps] = {}
        """Traps by domain; domains without traps are absent."""
        self._notes: dict[tuple[str, str, str], tuple[int, str]] = {}
        self._young: dict[str, dict[str, LinkTarget]] = {}
        self._old: dict[str, dict[str, LinkTarget]] = {}
        """Origin → link → target."""
        self._remembered = 0
        self._outside: dict[str, bool] = {}
        """Origin → whether all its URLs are out of scope."""

    def select(self, reading: Reading, target: Target) -> Selection:
        """Returns the links of one page that are worth enqueueing, in document order."""
        found = LinkColumns.of(reading.links)
        if reading.is_nofollow:
            return Selection(dropped={"nofollow": len(found)}) if found else Selection()
        places = self._resolve_links(reading, target, found.hrefs)
        links, dropped = gather(places, found.anchors, found.rels, url_key(target.url), target.depth + 1)
        if len(links) > self._max_links:
            dropped["too_many"] = len(links) - self._max_links
            del links[self._max_links :]
        return Selection(links, dropped)

    def redirect(self, target: Target, location: str) -> Selection:
        """Returns the target of a redirect at the same depth, with the redirect count increased by one. Keeps session
        ids: a site that assigns every client a session this way would otherwise redirect in circles."""
        place = self._classify(resolve_links(target.url, [location])[0], keeps_session=True)
        if place.refusal is not None:
            return Selection(dropped={place.refusal: 1})
        hop = target.redirects + 1
        return Selection([Discovery(place.url, place.key, place.domain, target.depth, hop, "", "redirect")])

    def see(self, reading: Reading, target: Target) -> list[Sighting]:
        """Returns the images of one page, on any host."""
        return collect_images(reading, target, self._reach)

    def _resolve_links(self, reading: Reading, target: Target, hrefs: Sequence[str]) -> list[LinkTarget]:
        """Returns the target of each link, from the cache where the link means the same on every page of its origin."""
        base_url, origin = _base_of(reading, target)
        young = self._young.get(origin)
        if young is None:
            young = self._young[origin] = {}
        if len(self._outside) > MOST_ORIGINS:
            self._outside.clear()
        places = recall(hrefs, young, self._outside, self._is_out_of_scope, OUT_OF_SCOPE)
        if None in places:
            self._fill(places, hrefs, origin, base_url)
        return places

    def _is_out_of_scope(self, origin: str) -> bool:
        domain = domain_of_origin(origin)
        return domain is not None and self._reach.excludes(origin, domain)

    def _fill(self, places: list[LinkTarget | None], hrefs: Sequence[str], origin: str, base_url: str) -> None:
        strange = dict.fromkeys([href for href, place in zip(hrefs, places, strict=True) if place is None])
        rooted = [href for href in strange if href.startswith(ROOTED)]
        found = self._lookup_cached(rooted, origin)
        if len(rooted) < len(strange):
            others = [href for href in strange if href not in found]
            found |= zip(others, self._classify_all(resolve_links(base_url, others)), strict=True)
        for index, place in enumerate(places):
            if place is None:
                places[index] = found[hrefs[index]]

    def _lookup_cached(self, rooted: list[str], origin: str) -> dict[str, LinkTarget]:
        """Returns the targets of links that mean the same on every page of the origin; new ones are resolved from its
        root."""
        old = self._old.get(origin, {})
        found = {href: old[href] for href in rooted if href in old}
        new = [href for href in rooted if href not in found]
        if self._is_open(origin):
            found |= self._take_simple(new, origin)
            new = [href for href in new if href not in found]
        found |= zip(new, self._classify_all(resolve_links(origin + "/", new)), strict=True)
        short = {href: place for href, place in found.items() if len(href) <= LONGEST_REMEMBERED}
        self._young[origin] |= short
        self._remembered += len(short)
        if self._remembered > REMEMBERED:
            self._old, self._young, self._remembered = self._young, {}, 0
        return found

    def _is_open(self, origin: str) -> bool:
        """Whether a link of this origin can be rejected only by the form of its URL: all in scope, no known traps."""
        domain = domain_of(f"{origin}/")
        return self._reach.includes(domain) and domain not in self._heeded

    def _take_simple(self, rooted: Iterable[str], origin: str) -> dict[str, LinkTarget]:
        """Returns the targets of links that need no normalising and match no trap rule, at half the cost of classifying
        them."""
        domain, new, found = domain_of(f"{origin}/"), tuple.__new__, {}
        for href in rooted:
            if SIMPLE.fullmatch(href) and len(href) <= LONGEST_REMEMBERED:
                url = origin + href
                if traps.trap_in(url, self._latest_year) is None:
                    found[href] = new(LinkTarget, (url, url_key(url), domain, None))
        return found

    def _classify_all(self, urls: Sequence[str | None]) -> list[LinkTarget]:
        """Classifies URLs; those whose whole origin is out of scope are rejected in one pass."""
        places = recall([url or "" for url in urls], {}, self._outside, self._is_out_of_scope, OUT_OF_SCOPE)
        return [self._classify(url) if place is None else place for url, place in zip(urls, places, strict=True)]

    def _classify(self, url: str | None, *, keeps_session: bool = False) -> LinkTarget:
        if url is None:
            return _reject("bad_url")
        if traps.is_binary(url):
            return _reject("binary")
        domain = domain_of(url)
        if reason := self._reach.refusal(url, domain):
            return _reject(reason)
        rule = traps.trap_in(url, self._latest_year)
        if rule is not None or domain in self._heeded:
            return self._check_traps(url, domain, keeps_session=keeps_session)
        return tuple.__new__(LinkTarget, (url, url_key(url), domain, None))

    # traps ---------------------------------------------------------------------------------------------------------

    def set_traps(self, domain: str, known: Iterable[Trap]) -> None:
        """Sets the known traps of a domain. The caller repeats this whenever the database rows may have changed."""
        known = list(known)
        heed = DomainTraps(
            tuple(trap.place for trap in known if trap.blocks_links and trap.has_pattern),
            frozenset(trap.rule for trap in known if trap.is_released and trap.template == ALL_OF_A_LOOK),
        )
        if heed == self._heeded.get(domain, DomainTraps((), frozenset())):
            return
        if heed.shut or heed.released:
            self._heeded[domain] = heed
        else:
            del self._heeded[domain]
        self._young, self._old, self._remembered = {}, {}, 0  # cached results may have changed

    @property
    def mutable_domains(self) -> MutableNameSet | None:
        """Domains of a run whose scope grows with newly known domains; None for other runs."""
        return self._reach.domains if isinstance(self._reach.domains, MutableNameSet) else None

    def extend_scope(self, domains: Iterable[str]) -> None:
        """Adds domains to the scope of a run that grows; no effect on other runs."""
        if self.mutable_domains is not None and self.mutable_domains.add(domains):
            self._young, self._old, self._remembered = {}, {}, 0  # links to these domains were dropped before
            self._outside.clear()

    def take_notes(self) -> list[TrapNote]:
        notes, self._notes = self._notes, {}
        return [TrapNote(*place, *met) for place, met in notes.items()]

    def _check_traps(self, url: str, domain: str, *, keeps_session: bool) -> LinkTarget:
        shut, released = self._heeded.get(domain, ((), frozenset[str]()))
        if keeps_session:
            released |= {traps.SESSION_ID}
        rule = traps.trap_in(url, self._latest_year, released)
        if rule == traps.SESSION_ID:
            clean = traps.without_session(url)
            if clean != url:
                self._note(domain, rule, ALL_OF_A_LOOK, url)
                return self._classify(clean)
        if rule is not None:
            self._note(domain, rule, ALL_OF_A_LOOK, url)
            return _reject(f"trap:{rule}")
        for rule, template in shut:
            if templates.matches(template, url):
                self._note(domain, rule, template, url)
                return _reject(f"trap:{rule}")
        return tuple.__new__(LinkTarget, (url, url_key(url), domain, None))

    def _note(self, domain: str, rule: str, template: str, url: str) -> None:
        links, _ = self._notes.get((domain, rule, template), (0, ""))
        self._notes[domain, rule, template] = links + 1, url


def gather_in_python(
    places: Sequence[tuple[Any, ...]],
    anchors: Sequence[str],
    rels: Sequence[str],
    own_key: bytes,
    depth: int,
) -> tuple[list[Discovery], dict[str, int]]:
    """Returns the accepted links, each target once and never the page itself, and the number of dropped links per
    reason."""
    dropped: dict[str, int] = {}
    links: list[Discovery] = []
    seen = {own_key, NO_KEY}
    new = tuple.__new__  # sixty times per page, at a third of the cost of calling the class
    for anchor, rel, (url, key, domain, refusal) in zip(anchors, rels, places, strict=True):
        if key in seen or (rel != "a" and rel.endswith("nofollow")):
            reason = refusal or ("nofollow" if rel.endswith("nofollow") else "duplicate")
            dropped[reason] = dropped.get(reason, 0) + 1
            continue
        seen.add(key)
        links.append(new(Discovery, (url, key, domain, depth, 0, anchor, rel)))
    return links, dropped


gather: Gather = compiled.gather or gather_in_python


def lookup_in_python(
    hrefs: Sequence[str], known: dict[str, Any], outside: dict[str, bool], ask: Callable[[str], bool], foreign: Any
) -> list[Any]:
    """Returns the target of each link: `foreign` where its whole origin is out of scope and no other rule could decide,
    else the entry in `known`, or None. `ask` returns whether an origin is out of scope; called once per origin."""
    places = []
    for href in hrefs:
        origin = _extract_origin(href)
        if origin and origin not in outside:
            outside[origin] = ask(origin)
        places.append(foreign if origin and outside[origin] else known.get(href))
    return places


recall: Recall = compiled.recall or lookup_in_python


def _extract_origin(href: str) -> str:
    """Returns the origin of a link that is certainly a URL and certainly not a file Forager does not parse; else
    empty."""
    match = STEADY.fullmatch(href) if len(href) <= LONGEST_PLAIN and href.isascii() else None
    if match is None or match.start(1) >= LONGEST_ORIGIN or ENDING.search(match[1]):
        return ""
    return href[: match.start(1)]


@cache
def _reject(reason: str) -> LinkTarget:
    """Returns the shared target for all links dropped for one reason."""
    return LinkTarget("", NO_KEY, "", reason)


OUT_OF_SCOPE = _reject("scope")


def _base_of(reading: Reading, target: Target) -> tuple[str, str]:
    """Returns the base URL of relative links, and its origin. Ignores a base that is not a web URL (HTML 4.2.3)."""
    try:
        return reading.base_url, origin_of(reading.base_url)
    except BadUrlError:
        return target.url, origin_of(target.url)


def add_up(drops: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Sums the dropped links of several pages by reason."""
    total: dict[str, int] = {}
    for drop in drops:
        for reason, count in drop.items():
            total[reason] = total.get(reason, 0) + count
    return total
