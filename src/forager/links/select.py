"""Link selection: normalises, applies scope, limits and trap rules, deduplicates. Decides for every link whether it is
worth enqueueing, or why not.

A page repeats most links of the previous page (navigation, footers), so resolved links are cached: 60 links cost about
20 µs instead of 180. The cache holds facts about URLs only, never whether a page is known. Most links of real pages are
out of scope by their origin alone: these are neither normalised nor cached. The caller passes a domain's known traps to
`set_traps`; `take_notes` returns the links that matched a trap rule.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from forager import clock
from forager.config.crawl_settings import CrawlSettings
from forager.domains.models import ALL_OF_A_LOOK, Trap
from forager.errors import BadUrlError
from forager.frontier.models import Target
from forager.links import compiled, templates, traps
from forager.links.compiled import Gather, Recall
from forager.links.images import collect_images
from forager.links.models import Discovery, Selection, Sighting
from forager.links.name_set import MutableNameSet
from forager.links.scope import CrawlScope, DomainScope
from forager.parsing.link_columns import LinkColumns
from forager.parsing.login import is_login_url
from forager.parsing.models import FoundLink, Reading
from forager.plugins import rewriting
from forager.runs.models import Scope
from forager.urls.domain import LONGEST_ORIGIN, domain_of, domain_of_origin, origin_of, registrable
from forager.urls.normalize import url_key
from forager.urls.resolve import resolve_links
from forager.urls.rules import NO_RULES, UrlRules

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
        self._without_documents: set[str] = set()
        """Domains whose PDF files are not read."""
        self._notes: dict[tuple[str, str, str], tuple[int, str]] = {}
        self._young: dict[str, dict[str, LinkTarget]] = {}
        self._old: dict[str, dict[str, LinkTarget]] = {}
        """Origin → link → target."""
        self._remembered = 0
        self._outside: dict[str, bool] = {}
        """Origin → whether all its URLs are out of scope."""
        self._rules = NO_RULES
        self._scopes: dict[str, DomainScope] = {}
        """Scopes of leased domains by name, where their settings restrict them."""
        self._wide: dict[str, Scope] = {}
        """Leased domains whose links may lead to other domains."""
        self._source = ""
        """The domain of the current page, while links of it may lead to other domains."""
        self.found_in: dict[str, str] = {}
        """Domain → the domain that links to it, for links that a wide scope allows; the writer removes entries."""

    def select(self, reading: Reading, target: Target, *, keeps_external: bool = False) -> Selection:
        """Returns the links of one page that are worth enqueueing, in document order; with `keeps_external` also those
        that are out of scope. Those of a sitemap or feed are not limited in number."""
        found = LinkColumns.of(reading.links)
        if reading.is_nofollow:
            return Selection(dropped={"nofollow": len(found)}) if found else Selection()
        self._set_source(target)
        places = self._resolve_links(reading, target, found.hrefs)
        links, dropped = gather(places, found.anchors, found.rels, url_key(target.url), target.depth + 1)
        if len(links) > self._max_links and reading.listing is None:
            dropped["too_many"] = len(links) - self._max_links
            del links[self._max_links :]
        external = self._list_external(reading, target, found, places) if keeps_external else ()
        return Selection(links, dropped, external)

    def _list_external(
        self, reading: Reading, target: Target, found: LinkColumns, places: Sequence[LinkTarget]
    ) -> list[Discovery]:
        """Returns the links out of scope, each target once, up to the limit per page."""
        outside = [index for index, place in enumerate(places) if place.refusal == OUT_OF_SCOPE.refusal]
        urls = self._rules.resolve_links(_base_of(reading, target)[0], [found.hrefs[index] for index in outside])
        links: dict[str, Discovery] = {}
        for index, url in zip(outside, urls, strict=True):
            if url is not None and url not in links and len(links) < self._max_links:
                anchor, rel = found.anchors[index], found.rels[index]
                links[url] = Discovery(url, url_key(url), domain_of(url), target.depth + 1, 0, anchor, rel)
        return list(links.values())

    def redirect(self, target: Target, location: str) -> Selection:
        """Returns the target of a redirect at the same depth, with the redirect count increased by one. Keeps session
        ids: a site that assigns every client a session this way would otherwise redirect in circles. Where a seed leads
        is a seed too, although it is out of scope, unless it is a login."""
        self._set_source(target)
        url, hop = self.resolve_redirect(target, location), target.redirects + 1
        place = self._classify(url, keeps_session=True)
        if place.refusal == "scope" and url is not None and target.is_seed and not is_login_url(url):
            return adopt_seed(target, url, hop)
        if place.refusal is not None:
            return Selection(dropped={place.refusal: 1})
        return Selection([Discovery(place.url, place.key, place.domain, target.depth, hop, "", "redirect")])

    def resolve_redirect(self, target: Target, location: str) -> str | None:
        """Returns where a redirect leads. A site may insist on what the rules of its domain remove, such as a trailing
        slash: then they do not apply, or the page could never be read."""
        url = self._rules.resolve_links(target.url, [location])[0]
        return resolve_links(target.url, [location])[0] if url == target.url else url

    def set_rules(self, rules: UrlRules) -> None:
        """Sets the URL rules of domains. The caller repeats this whenever the database rows may have changed."""
        if rules != self._rules:
            self._rules = rules
            self._forget_places()

    def select_files(self, links: Iterable[FoundLink], base_url: str, target: Target) -> Selection:
        """Returns the sitemaps and feeds among these links, each once, to be followed from depth 0."""
        links, own = list(links), domain_of(target.url)
        files: dict[bytes, Discovery] = {}
        dropped: dict[str, int] = {}
        for link, url in zip(links, self._rules.resolve_links(base_url, [link.href for link in links]), strict=True):
            reason = self._refuses_file(url, own)
            key = url_key(url) if url is not None else NO_KEY
            if reason is None and (key in files or key == url_key(target.url)):
                reason = "duplicate"
            if reason is not None or url is None:
                dropped[reason or "bad_url"] = dropped.get(reason or "bad_url", 0) + 1
            else:
                files[key] = Discovery(url, key, domain_of(url), 0, 0, link.anchor, link.rel)
        return Selection(dropped=dropped, files=list(files.values()))

    def _refuses_file(self, url: str | None, named_by: str) -> str | None:
        if url is None:
            return "bad_url"
        if reason := rewriting.drop_reason_in(url):
            return reason
        domain = domain_of(url)
        scope = self._scopes.get(domain)
        if scope is not None and scope.refuses_file(url):
            return "excluded"
        return self._reach.refuses_file(url, domain, named_by=named_by)

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
        outside = {} if self._source else self._outside
        places = recall(hrefs, young, outside, self._is_out_of_scope, OUT_OF_SCOPE)
        if None in places:
            self._fill(places, hrefs, origin, base_url)
        return places

    def _is_out_of_scope(self, origin: str) -> bool:
        domain = domain_of_origin(origin)
        if rewriting.is_active():  # a plug-in may know the page under another origin
            return False
        if domain is None or not self._excludes(origin, domain):
            return False
        site = self._rules.site_of(domain)
        return site == domain or self._excludes(origin, site)

    def _excludes(self, origin: str, domain: str) -> bool:
        return self._reach.excludes(origin, domain) and not self._is_allowed(domain)

    def _fill(self, places: list[LinkTarget | None], hrefs: Sequence[str], origin: str, base_url: str) -> None:
        strange = dict.fromkeys([href for href, place in zip(hrefs, places, strict=True) if place is None])
        rooted = [href for href in strange if href.startswith(ROOTED)]
        found = self._lookup_cached(rooted, origin)
        if len(rooted) < len(strange):
            others = [href for href in strange if href not in found]
            found |= zip(others, self._classify_all(self._rules.resolve_links(base_url, others)), strict=True)
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
        found |= zip(new, self._classify_all(self._rules.resolve_links(origin + "/", new)), strict=True)
        short = {href: place for href, place in found.items() if len(href) <= LONGEST_REMEMBERED}
        self._young[origin] |= short
        self._remembered += len(short)
        if self._remembered > REMEMBERED:
            self._old, self._young, self._remembered = self._young, {}, 0
        return found

    def _is_open(self, origin: str) -> bool:
        """Whether a link of this origin can be rejected only by the form of its URL: all in scope, no known traps, no
        URL rules."""
        if rewriting.is_active():
            return False
        domain = domain_of(f"{origin}/")
        site = self._rules.site_of(domain)
        has_rules = site in self._heeded or site in self._scopes or site in self._rules.policies
        return self._reach.includes(domain) and not has_rules

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
        outside = {} if self._source else self._outside
        places = recall([url or "" for url in urls], {}, outside, self._is_out_of_scope, OUT_OF_SCOPE)
        return [self._classify(url) if place is None else place for url, place in zip(urls, places, strict=True)]

    def _classify(self, url: str | None, *, keeps_session: bool = False) -> LinkTarget:
        if url is None:
            return _reject("bad_url")
        if reason := rewriting.drop_reason_in(url):
            return _reject(reason)
        domain = domain_of(url)
        site = self._rules.site_of(domain) if self._rules else domain
        if traps.is_binary(url) and not (traps.is_document(url) and site not in self._without_documents):
            return _reject("binary")
        if reason := self._refusal(url, domain, site):
            return _reject(reason)
        rule = traps.trap_in(url, self._latest_year)
        if rule is not None or site in self._heeded:
            keeps_session = keeps_session or not self._rules.policy_of(domain).strip_session_ids
            return self._check_traps(url, site, keeps_session=keeps_session)
        return tuple.__new__(LinkTarget, (url, url_key(url), domain, None))

    # scopes of domains ---------------------------------------------------------------------------------------------

    def set_settings(self, domain: str, settings: CrawlSettings) -> None:
        """Sets the crawl settings of a leased domain."""
        self.set_documents(domain, is_wanted=settings.documents)
        scope, before = DomainScope.of(settings), self._scopes.get(domain)
        wide = settings.scope if settings.scope in {Scope.DOMAIN, Scope.ANY} else None
        if scope == before and wide == self._wide.get(domain):
            return
        if scope is None:
            self._scopes.pop(domain, None)
        else:
            self._scopes[domain] = scope
        if wide is None:
            self._wide.pop(domain, None)
        else:
            self._wide[domain] = wide
        self._forget_places()

    def _refusal(self, url: str, domain: str, site: str) -> str | None:
        """Returns why a link is not followed: by the scope of the run, or that of its domain. `site` is the domain that
        its host belongs to."""
        reason = self._reach.refusal(url, domain)
        if reason is not None and site != domain:
            reason = self._reach.refusal(url, site)
        if reason == "scope" and self._is_allowed(site):
            reason = None
        if reason is None and (scope := self._scopes.get(site)) is not None:
            reason = scope.refusal(url)
        if reason is None and self._source and site != self._source and len(self.found_in) < MOST_ORIGINS:
            self.found_in[domain] = self._source
        return reason

    def _is_allowed(self, domain: str) -> bool:
        """Returns whether the settings of the current page's domain allow links to another one."""
        match self._wide.get(self._source) if self._source and not self._reach.is_explicit else None:
            case Scope.ANY:
                return True
            case Scope.DOMAIN:
                return registrable(domain) == registrable(self._source)
            case _:
                return False

    def _set_source(self, target: Target) -> None:
        is_wide = self._reach.scope in {Scope.DOMAIN, Scope.ANY}
        source = self._rules.site_of(domain_of(target.url)) if is_wide or self._wide else ""
        self._source = source if is_wide or source in self._wide else ""

    def _forget_places(self) -> None:
        """Drops cached results, because they may have changed."""
        self._young, self._old, self._remembered = {}, {}, 0
        self._outside.clear()

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

    def set_documents(self, domain: str, *, is_wanted: bool) -> None:
        """Sets whether links to PDF files of a domain are followed; they are unless set otherwise."""
        if is_wanted == (domain in self._without_documents):
            self._without_documents ^= {domain}
            self._forget_places()

    @property
    def mutable_domains(self) -> MutableNameSet | None:
        """Domains of a run whose scope grows with newly known domains; None for other runs."""
        return self._reach.domains if isinstance(self._reach.domains, MutableNameSet) else None

    def extend_scope(self, domains: Iterable[str]) -> None:
        """Adds domains to the scope of a run that grows; no effect on other runs."""
        if self.mutable_domains is not None and self.mutable_domains.add(domains):
            self._forget_places()  # links to these domains were dropped before

    def adopt(self, seeds: Collection[str]) -> None:
        """Adds seeds to the scope: those that seeds of the run lead to."""
        self._reach = self._reach.with_seeds(seeds)
        self._forget_places()  # links to them were dropped before

    def adopt_domains(self, names: Iterable[str]) -> None:
        """Adds domains that the run has taken to its scope, if it is made of domains."""
        if self._reach.scope not in {Scope.HOST, Scope.DOMAIN} or self.mutable_domains is not None:
            return
        if new := [name for name in names if name not in self._reach.domains]:
            self._reach = self._reach.with_domains(new)
            self._forget_places()

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
        return tuple.__new__(LinkTarget, (url, url_key(url), domain_of(url), None))

    def _note(self, domain: str, rule: str, template: str, url: str) -> None:
        links, _ = self._notes.get((domain, rule, template), (0, ""))
        self._notes[domain, rule, template] = links + 1, url


def adopt_seed(target: Target, url: str, redirects: int = 0) -> Selection:
    """Returns the URL that a seed leads to, which becomes a seed of the run."""
    link = Discovery(url, url_key(url), domain_of(url), target.depth, redirects, "", "redirect")
    return Selection([link], is_adopted=True)


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
