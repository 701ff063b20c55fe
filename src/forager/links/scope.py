"""How far a run reaches: its scope, its include and exclude patterns. Decides for one URL; remembers nothing.

The same order has two forms, because links are judged in Python before they are learned and known pages in SQL when
they are claimed: `refusal` and `claim_patterns` must agree, and a property test holds them together.
"""

import fnmatch
import re
from collections.abc import Container
from dataclasses import dataclass

from forager.runs.models import RunSpec, Scope
from forager.urls.domain import domain_of, registrable

MOST_NAMED = 200
"""Every page that may be claimed is compared with every pattern."""


@dataclass(frozen=True, slots=True)
class CrawlScope:
    """A run's order, made ready for a million questions."""

    scope: Scope
    seeds: frozenset[str]
    domains: Container[str]
    parents: Container[str]
    prefixes: tuple[str, ...]
    include: re.Pattern[str] | None
    exclude: re.Pattern[str] | None

    @classmethod
    def of(cls, spec: RunSpec, *, domains: Container[str] = (), parents: Container[str] = ()) -> "CrawlScope":
        """A spec with a long list does not name its seeds: their domains, or registrable ones, come beside it."""
        named = frozenset(domain_of(seed) for seed in spec.seeds)
        return cls(
            scope=spec.scope,
            seeds=frozenset(spec.seeds),
            domains=domains if spec.is_long else named,
            parents=parents if spec.is_long else frozenset(map(registrable, named)),
            prefixes=tuple(sorted({folder_of(seed) for seed in spec.seeds})),
            include=_compile(spec.include),
            exclude=_compile(spec.exclude),
        )

    def refusal(self, url: str, domain: str) -> str | None:
        """Why this URL is not part of the crawl: `scope`, `excluded`, or None when it is."""
        if not self._is_inside(url, domain):
            return "scope"
        if self.include is not None and url not in self.seeds and not self.include.match(url):
            return "excluded"
        if self.exclude is not None and self.exclude.match(url):
            return "excluded"
        return None

    def excludes(self, origin: str, domain: str) -> bool:
        """Whether every URL of a canonical origin is out of scope; False also where that is costly to say."""
        match self.scope:
            case Scope.PREFIX:
                return not any(prefix.startswith(f"{origin}/") for prefix in self.prefixes)
            case Scope.PAGE:
                few = len(self.seeds) <= MOST_NAMED
                return few and not any(seed.startswith(f"{origin}/") for seed in self.seeds)
            case _:
                return not self._is_inside(f"{origin}/", domain)

    def includes(self, domain: str) -> bool:
        """Whether every URL of a domain is part of the crawl; False also where it depends."""
        if self.include is not None or self.exclude is not None or self.scope in {Scope.PREFIX, Scope.PAGE}:
            return False
        return self._is_inside("", domain)

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


def folder_of(url: str) -> str:
    """A URL up to its last slash: `https://a.example/docs/intro` reaches `https://a.example/docs/`."""
    path_at = url.index("/", url.index("//") + 2)
    return url[: max(url.partition("?")[0].rfind("/"), path_at) + 1]


def claim_patterns(spec: RunSpec) -> tuple[list[str] | None, list[str] | None, list[str] | None]:
    """LIKE patterns for the claim: folder and include, of each one must match; exclude, none may. None: no condition.

    Domains are not in here, the claim knows them by their run. Scope `page` is depth 0; its seeds are named too unless
    they are very many, when seeds of an older run may come along.
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
    """`fnmatch` makes patterns that cannot backtrack without end; brackets have no meaning of their own in ours."""
    if not globs:
        return None
    return re.compile("|".join(fnmatch.translate(glob.replace("[", "[[]")) for glob in globs))


def _like(glob: str) -> str:
    return _like_literal(glob).replace("*", "%").replace("?", "_")


def _like_literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
