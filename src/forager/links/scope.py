"""The scope of a run: its scope type, include and exclude patterns. Decides for one URL; stateless.

The same configuration exists in two forms: links are checked in Python before they are enqueued, known pages in SQL
when they are claimed. `refusal` and `claim_patterns` must agree; a property test verifies it.
"""

import fnmatch
import re
from collections.abc import Collection, Container
from dataclasses import dataclass, replace

from forager.config.crawl_settings import CrawlSettings
from forager.links.name_set import MutableNameSet
from forager.runs.models import RunSpec, Scope
from forager.urls.domain import domain_of, registrable

MOST_NAMED = 200
"""Limit on seeds used as patterns: every claimable page is compared with every pattern."""


@dataclass(frozen=True, slots=True)
class CrawlScope:
    """A run's scope, prepared for a million checks."""

    scope: Scope
    seeds: frozenset[str]
    domains: Container[str]
    parents: Container[str]
    prefixes: tuple[str, ...]
    include: re.Pattern[str] | None
    exclude: re.Pattern[str] | None
    is_explicit: bool = False
    """The scope was given with the run: settings of domains do not widen it."""

    @classmethod
    def of(cls, spec: RunSpec, *, domains: Container[str] = (), parents: Container[str] = ()) -> "CrawlScope":
        """Builds the scope of a spec. A spec with a long list does not name its seeds: the caller passes their domains
        or registrable domains."""
        named = frozenset(domain_of(seed) for seed in spec.seeds)
        return cls(
            scope=spec.scope,
            seeds=frozenset(spec.seeds),
            domains=domains if spec.is_long else named,
            parents=parents if spec.is_long else frozenset(map(registrable, named)),
            prefixes=tuple(sorted({folder_of(seed) for seed in spec.seeds})),
            include=_compile(spec.include),
            exclude=_compile(spec.exclude),
            is_explicit=spec.is_scope_given,
        )

    def with_seeds(self, seeds: Collection[str]) -> "CrawlScope":
        """Returns the same scope with more seeds: those that seeds of the run lead to."""
        names = frozenset(map(domain_of, seeds))
        return replace(
            self,
            seeds=self.seeds | frozenset(seeds),
            domains=_join(self.domains, names),
            parents=_join(self.parents, frozenset(map(registrable, names))),
            prefixes=tuple(sorted({*self.prefixes, *map(folder_of, seeds)})),
        )

    def with_domains(self, names: Collection[str]) -> "CrawlScope":
        """Returns the same scope with more domains, which the run has taken."""
        return replace(self, domains=_join(self.domains, frozenset(names)))

    def refusal(self, url: str, domain: str) -> str | None:
        """Returns why this URL is not part of the crawl (`scope` or `excluded`), or None when it is."""
        if not self._is_inside(url, domain):
            return "scope"
        if self.include is not None and url not in self.seeds and not self.include.match(url):
            return "excluded"
        if self.exclude is not None and self.exclude.match(url):
            return "excluded"
        return None

    def excludes(self, origin: str, domain: str) -> bool:
        """Whether every URL of a canonical origin is out of scope; False also where the check would be expensive."""
        match self.scope:
            case Scope.PREFIX:
                return not any(prefix.startswith(f"{origin}/") for prefix in self.prefixes)
            case Scope.PAGE:
                few = len(self.seeds) <= MOST_NAMED
                return few and not any(seed.startswith(f"{origin}/") for seed in self.seeds)
            case _:
                return not self._is_inside(f"{origin}/", domain)

    def includes(self, domain: str) -> bool:
        """Whether every URL of a domain is part of the crawl; False also where it depends on the URL."""
        if self.include is not None or self.exclude is not None or self.scope in {Scope.PREFIX, Scope.PAGE}:
            return False
        return self._is_inside("", domain)

    def refuses_file(self, url: str, domain: str, *, named_by: str) -> str | None:
        """Returns why a sitemap or feed is not followed, or None when it is. It may be in another folder than the
        crawl, and needs no pattern that includes it; `named_by` is the domain of the page that names it."""
        if self.scope is Scope.PAGE:
            return "scope"
        is_near = domain == named_by or (self.scope is not Scope.PREFIX and self._is_inside(url, domain))
        if not is_near:
            return "scope"
        return "excluded" if self.exclude is not None and self.exclude.match(url) else None

    def _is_inside(self, url: str, domain: str) -> bool:
        match self.scope:
            case Scope.HOST:
                return domain in self.domains
            case Scope.ANY:
                return True
            case Scope.DOMAIN:
                return domain in self.domains or registrable(domain) in self.parents
            case Scope.PREFIX:
                return url.startswith(self.prefixes)
            case Scope.PAGE:
                return url in self.seeds


class _Either(Container[str]):
    """Names of a long list, and a few more."""

    __slots__ = ("_few", "_many")

    def __init__(self, many: Container[str], few: frozenset[str]) -> None:
        self._many, self._few = many, few

    def __contains__(self, name: object) -> bool:
        return name in self._few or name in self._many

    def plus(self, more: frozenset[str]) -> "_Either":
        return _Either(self._many, self._few | more)


def _join(names: Container[str], more: frozenset[str]) -> Container[str]:
    match names:
        case frozenset():
            return names | more
        case _Either():
            return names.plus(more)
        case MutableNameSet():
            return names  # it grows with the domains that are claimed
        case _:
            return _Either(names, more)


@dataclass(frozen=True, slots=True)
class DomainScope:
    """What the crawl settings of one domain say about URLs of it."""

    prefixes: tuple[str, ...] | None
    """None: the whole site. Empty: no links are followed, only ordered pages are visited."""
    include: re.Pattern[str] | None
    exclude: re.Pattern[str] | None

    @classmethod
    def of(cls, settings: CrawlSettings) -> "DomainScope | None":
        """Returns the scope of a domain, or None if its settings restrict nothing."""
        match settings.scope:
            case Scope.PAGE:
                prefixes: tuple[str, ...] | None = ()
            case Scope.PREFIX:
                prefixes = settings.prefixes
            case _:
                prefixes = None
        if prefixes is None and not settings.include and not settings.exclude:
            return None
        return cls(prefixes, _compile(settings.include), _compile(settings.exclude))

    def refusal(self, url: str) -> str | None:
        """Returns why a link to this URL is not followed (`scope` or `excluded`), or None when it is."""
        if self.prefixes is not None and not url.startswith(self.prefixes):
            return "scope"
        if self.include is not None and not self.include.match(url):
            return "excluded"
        if self.exclude is not None and self.exclude.match(url):
            return "excluded"
        return None

    def refuses_file(self, url: str) -> bool:
        """Returns whether a sitemap or feed at this URL is not followed; it may be outside of the folders."""
        return self.prefixes == () or (self.exclude is not None and self.exclude.match(url) is not None)


def folder_of(url: str) -> str:
    """Returns a URL up to its last slash: `https://a.example/docs/intro` → `https://a.example/docs/`."""
    path_at = url.index("/", url.index("//") + 2)
    return url[: max(url.partition("?")[0].rfind("/"), path_at) + 1]


def claim_patterns(spec: RunSpec) -> tuple[list[str] | None, list[str] | None, list[str] | None]:
    """Returns LIKE patterns for the claim: folder, include (one of each must match) and exclude (none may). None: no
    condition.

    Domains are not included: the claim gets them from the run. Scope `page` means depth 0; its seeds are listed too,
    unless there are very many, in which case seeds of an older run may be claimed as well.
    """
    folders = None
    if spec.scope is Scope.PREFIX:
        folders = sorted({_like_literal(folder_of(seed)) + "%" for seed in spec.seeds})
    elif spec.scope is Scope.PAGE and len(spec.seeds) <= MOST_NAMED:
        folders = sorted(map(_like_literal, spec.seeds))
    include = (
        [_like(glob) for glob in spec.include] + [_like_literal(seed) for seed in spec.seeds] if spec.include else None
    )
    return folders, include, [_like(glob) for glob in spec.exclude] or None


def claim_depth(spec: RunSpec) -> int:
    return 0 if spec.scope is Scope.PAGE else spec.max_depth


def _compile(globs: tuple[str, ...]) -> re.Pattern[str] | None:
    """Compiles globs. `fnmatch` produces patterns without unbounded backtracking; brackets have no special meaning
    here."""
    if not globs:
        return None
    return re.compile("|".join(fnmatch.translate(glob.replace("[", "[[]")) for glob in globs))


def _like(glob: str) -> str:
    return _like_literal(glob).replace("*", "%").replace("?", "_")


def _like_literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
