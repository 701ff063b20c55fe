"""Learns under which scheme and host a site is known: http or https, with or without `www.`. Pure, in memory.

Two kinds of evidence count, each from several pages: redirects that change nothing else, and pages that were read under
both and have the same content. One page that speaks against it ends it for the lease: nothing is lost where a site
serves different pages, or only some of them under https. The decision is stored with the domain; losing a worker's
memory costs only the evidence.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

from forager.frontier.duplicates import Compared, Twin
from forager.frontier.models import Lease, Outcome, OutcomeKind
from forager.logs import log
from forager.urls.normalize import url_key
from forager.urls.twins import are_twins, split_origin, twin_origins

ENOUGH_REDIRECTS = 2
ENOUGH_SAME = 3
MOST_PATHS = 100
MOST_DOMAINS = 50_000
"""Domains whose evidence is kept; a worker holds fewer at a time."""


@dataclass(slots=True)
class SiteEvidence:
    """What the pages of one domain showed."""

    redirects: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """(From, to) → paths."""
    same: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """(Worse, better) → paths with the same content."""
    different: set[frozenset[str]] = field(default_factory=set)
    """Pairs of origins with a path whose contents differ."""
    serving: set[str] = field(default_factory=set)
    """Origins under which a page was read."""
    stored: str | None = None
    """The decision that is stored."""

    def note_redirect(self, source: str, target: str) -> None:
        if are_twins(source, target):
            (worse, path), (better, _) = split_origin(source), split_origin(target)
            _note(self.redirects, (worse, better), path)

    def note_page(self, url: str) -> None:
        self.serving.add(split_origin(url)[0])

    def note_pair(self, worse: str, better: str, *, is_same: bool) -> None:
        (one, path), (other, _) = split_origin(worse), split_origin(better)
        if is_same:
            _note(self.same, (one, other), path)
        else:
            self.different.add(frozenset((one, other)))

    def decide(self) -> str | None:
        """Returns the origin of the site, once it is certain enough."""
        redirected = {worse for worse, _ in self.redirects}
        for (worse, better), paths in self.redirects.items():
            is_clear = better not in redirected and worse not in self.serving and better in self.serving
            if len(paths) >= ENOUGH_REDIRECTS and is_clear:
                return better
        for (worse, better), paths in self.same.items():
            is_clear = better not in redirected and frozenset((worse, better)) not in self.different
            if len(paths) >= ENOUGH_SAME and is_clear:
                return better
        return None


def is_better(other: str, own: str, site: str | None) -> bool | None:
    """Returns whether a site is known under the other origin rather than under a page's own; None if that is open."""
    if site in {own, other}:
        return other == site
    if other[:6] != own[:6]:
        return other.startswith("https:")
    return None


def _note(found: dict[tuple[str, str], set[str]], pair: tuple[str, str], path: str) -> None:
    paths = found.setdefault(pair, set())
    if len(paths) < MOST_PATHS:
        paths.add(path)


class SiteOrigins:
    """The evidence of all domains that a worker holds, by lease."""

    def __init__(self) -> None:
        self._evidence: dict[int, tuple[int, SiteEvidence]] = {}

    def of(self, token: tuple[int, int]) -> SiteEvidence:
        """Returns the evidence of a lease; that of an earlier lease of the domain is forgotten."""
        domain, version = token
        known = self._evidence.get(domain)
        if known is None or known[0] != version:
            if len(self._evidence) > MOST_DOMAINS:
                self._evidence.clear()
            known = self._evidence[domain] = version, SiteEvidence()
        return known[1]

    def note(self, outcomes: Iterable[Outcome]) -> None:
        """Notes the redirects and pages of a batch."""
        for outcome in outcomes:
            target = outcome.target
            if outcome.kind is not OutcomeKind.SUCCESS or target.is_image:
                continue
            if outcome.reading is not None:
                self.of(target.token).note_page(target.url)
            elif (links := outcome.selection.links) and links[0].rel == "redirect":
                self.of(target.token).note_redirect(target.url, links[0].url)

    def list_twins(
        self, outcomes: Iterable[Outcome], leases: Iterable[Lease], used: Mapping[tuple[int, int], Container[str]]
    ) -> list[Twin]:
        """Returns where the pages of a batch may be known too: under the other origins of their sites that are used."""
        held = {lease.token: lease for lease in leases}
        twins = []
        for outcome in outcomes:
            target, lease = outcome.target, held.get(outcome.target.token)
            if outcome.reading is None or lease is None:
                continue
            own, rest = split_origin(target.url)
            for other in twin_origins(own):
                if other != own and other in used[lease.token]:
                    better = is_better(other, own, lease.site_origin)
                    twins.append(Twin(target.page_id, url_key(other + rest), better))
        return twins

    def note_pairs(self, compared: Iterable[Compared], leases: Iterable[Lease]) -> None:
        """Notes which twins have the same content."""
        tokens = {lease.domain_id: lease.token for lease in leases}
        for pair in compared:
            if pair.is_twin and pair.other_url is not None and pair.domain_id in tokens:
                self.of(tokens[pair.domain_id]).note_pair(pair.url, pair.other_url, is_same=pair.is_same)

    def decide(self, leases: Iterable[Lease]) -> list[tuple[Lease, str]]:
        """Returns the origins of sites that are certain by now, and not stored yet."""
        decided = []
        for lease in leases:
            evidence = self.of(lease.token)
            origin = evidence.decide()
            if origin is not None and origin not in {lease.site_origin, evidence.stored}:
                decided.append((lease, origin))
        return decided

    def store(self, decided: Iterable[tuple[Lease, str]]) -> None:
        """Notes what was committed."""
        for lease, origin in decided:
            self.of(lease.token).stored = origin
            log().info("origin of a site found", action="site.origin", domain=lease.domain, origin=origin)
