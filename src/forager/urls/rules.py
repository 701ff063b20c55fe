"""URL rules of domains: which policy applies to a URL, and which hosts belong to another domain.

The rules of the domain that a URL leads to apply, wherever the URL was found: one page has one key. Only domains with
rules of their own are listed, so that a crawl without any pays nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from forager.plugins import rewriting
from forager.urls.domain import domain_of, registrable
from forager.urls.normalize import normalize
from forager.urls.policy import DEFAULT_POLICY, UrlPolicy
from forager.urls.resolve import resolve_links


@dataclass(frozen=True, slots=True)
class UrlRules:
    """The rules of all domains that have some."""

    policies: Mapping[str, UrlPolicy] = field(default_factory=dict)
    """Domain → policy, where it is not the default."""
    whole_sites: frozenset[str] = frozenset()
    """Domains whose subdomains are the same site."""

    def __bool__(self) -> bool:
        return bool(self.policies or self.whole_sites)

    def site_of(self, domain: str) -> str:
        """Returns the domain that a host belongs to: its own name, or the nearest one above whose subdomains are the
        same site."""
        if not self.whole_sites or domain in self.whole_sites:
            return domain
        return next((name for name in names_above(domain) if name in self.whole_sites), domain)

    def policy_of(self, domain: str) -> UrlPolicy:
        """Returns the policy for URLs of a host."""
        if not self.policies:
            return DEFAULT_POLICY
        return self.policies.get(self.site_of(domain), DEFAULT_POLICY)

    def normalize(self, url: str) -> str:
        """Returns the normalised form of a URL by the rules of its domain and of plug-ins; raises BadUrlError. One that
        a plug-in drops is not rewritten."""
        normal = normalize(url)
        policy = self.policy_of(domain_of(normal))
        normal = normal if policy is DEFAULT_POLICY else normalize(url, policy)
        found = rewriting.rewrite(normal)
        return normal if rewriting.drop_reason_in(found) else found

    def resolve_links(self, base: str, hrefs: Sequence[str]) -> list[str | None]:
        """Returns each link normalised by the rules of the domain it leads to and of plug-ins; None where it is not a
        URL Forager fetches, and the reason where a plug-in drops it."""
        urls = self._resolve(base, hrefs)
        if not rewriting.is_active():
            return urls
        return [url if url is None else rewriting.rewrite(url) for url in urls]

    def _resolve(self, base: str, hrefs: Sequence[str]) -> list[str | None]:
        urls = resolve_links(base, hrefs)
        if not self.policies:
            return urls
        for index, url in enumerate(urls):
            if url is not None:
                policy = self.policy_of(domain_of(url))
                if policy is not DEFAULT_POLICY:
                    urls[index] = resolve_links(base, [hrefs[index]], policy)[0]
        return urls


NO_RULES = UrlRules()


def names_above(domain: str) -> Iterator[str]:
    """Yields the names above a domain, nearest first, up to the registrable one; with its port, if it has one."""
    top = registrable(domain)
    while domain != top:
        domain = domain.partition(".")[2]
        yield domain
