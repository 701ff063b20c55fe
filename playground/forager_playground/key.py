"""The answer key: what a right crawl of the playground finds, page by page, and what it must leave alone.

Made from the sites' own lists, without HTTP. Depths come from a walk over the listed links, by the rules crawlers keep:
`nofollow` is not followed, a redirect's target has the redirect's depth.
"""

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit

from forager_playground.site import Fate, Site, SitePage

TRACKING = re.compile(r"utm_.*|ref|source")
PLAIN_PATH = re.compile(r"(?:/[\w-]+)+", re.ASCII)
KEPT_IN_PATHS = "%/:@!$&'()*+,;=~-._"


@dataclass(frozen=True, slots=True)
class ExpectedPage:
    url: str
    fate: Fate
    status: int
    title: str | None
    language: str | None
    declared_language: str | None
    depth: int | None
    """Links from the start page; None when nothing may lead there."""
    links: tuple[str, ...]
    """Same-site links in normal form, each once, in the order of the page; without `nofollow` ones."""
    nofollow_links: tuple[str, ...] = ()
    redirect_to: str | None = None
    early_statuses: tuple[int, ...] = ()
    """What the first requests get before `status`; 0 is a cut connection."""
    sells: Mapping[str, str] | None = None
    """Name, price, currency and availability of the product a page is about, on the served day."""


@dataclass(frozen=True)
class SiteKey:
    name: str
    base_url: str
    start_url: str
    robots_txt: str | None
    traps: tuple[str, ...]
    """Regular expressions over path and query."""
    pages: tuple[ExpectedPage, ...]

    def is_trap(self, url: str) -> bool:
        target = url.removeprefix(self.base_url)
        return any(re.search(trap, target) for trap in self.traps)


@dataclass(frozen=True)
class AnswerKey:
    seed: int
    sites: tuple[SiteKey, ...]

    @cached_property
    def by_url(self) -> Mapping[str, ExpectedPage]:
        return {page.url: page for site in self.sites for page in site.pages}

    def expected_visits(self) -> frozenset[str]:
        """Every URL that must be requested: pages, redirects, and those that stay broken."""
        return self._urls(Fate.FETCH)

    def expected_success(self) -> frozenset[str]:
        """Every page a crawl from the start pages with scope `host` must bring home with status 200."""
        return frozenset(url for url in self.expected_visits() if self.by_url[url].status == 200)

    def expected_redirects(self) -> Mapping[str, str]:
        return {page.url: page.redirect_to for page in self.by_url.values() if page.redirect_to}

    def expected_failures(self) -> Mapping[str, int]:
        """Pages that stay broken, with their status."""
        return {url: self.by_url[url].status for url in self.expected_visits() if self.by_url[url].status >= 400}

    def forbidden(self) -> frozenset[str]:
        return self._urls(Fate.FORBIDDEN)

    def must_not_fetch(self) -> frozenset[str]:
        """Forbidden, only reachable by `nofollow`, or no page by its extension."""
        return frozenset(url for url, page in self.by_url.items() if page.fate is not Fate.FETCH)

    def expected_products(self) -> Mapping[str, Mapping[str, str]]:
        """What is sold where, for how much."""
        return {url: page.sells for url, page in self.by_url.items() if page.sells is not None}

    def is_trap(self, url: str) -> bool:
        return any(site.is_trap(url) for site in self.sites if url.startswith(site.base_url + "/"))

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    def _urls(self, fate: Fate) -> frozenset[str]:
        return frozenset(url for url, page in self.by_url.items() if page.fate is fate)


def read_key(text: str) -> AnswerKey:
    """The inverse of `AnswerKey.to_json`."""
    content = json.loads(text)
    sites = tuple(_read_site(site) for site in content["sites"])
    return AnswerKey(content["seed"], sites)


def make_key(sites: Mapping[str, Site], seed: int) -> AnswerKey:
    """From base URL → site."""
    return AnswerKey(seed, tuple(make_site_key(site, base_url) for base_url, site in sites.items()))


def make_site_key(site: Site, base_url: str) -> SiteKey:
    listed = {page.path: page for page in site.pages()}
    links = {path: tuple(_normal_links(page)) for path, page in listed.items()}
    depths = measure_depths(listed, links)
    pages = tuple(_expect(page, links[path], depths.get(path), base_url) for path, page in listed.items())
    return SiteKey(site.name, base_url, base_url + "/", site.robots, site.traps, pages)


def normalize_href(path: str, href: str) -> str | None:
    """Path and query a link leads to, in normal form; None when it leaves the site."""
    if PLAIN_PATH.fullmatch(href):
        return href
    parts = urlsplit(urljoin("http://site" + path, href))
    if parts.scheme != "http" or parts.netloc != "site":
        return None
    kept = sorted(pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not TRACKING.fullmatch(pair[0]))
    return quote(parts.path or "/", safe=KEPT_IN_PATHS) + ("?" + urlencode(kept) if kept else "")


def measure_depths(listed: Mapping[str, SitePage], links: Mapping[str, tuple["_NormalLink", ...]]) -> dict[str, int]:
    depths: dict[str, int] = {}
    waiting = deque([("/", 0)])
    while waiting:
        path, depth = waiting.popleft()
        page = listed.get(path)
        if path in depths or page is None or page.fate is not Fate.FETCH:
            continue
        depths[path] = depth
        if page.redirect_to is not None:
            waiting.appendleft((normalize_href(path, page.redirect_to) or "", depth))
        waiting.extend((target, depth + 1) for target, is_nofollow in links[path] if not is_nofollow)
    return depths


_NormalLink = tuple[str, bool]


def _normal_links(page: SitePage) -> Iterator[_NormalLink]:
    for href, is_nofollow in page.links:
        target = normalize_href(page.path, href)
        if target is not None:
            yield target, is_nofollow


def _expect(page: SitePage, links: tuple[_NormalLink, ...], depth: int | None, base_url: str) -> ExpectedPage:
    redirect_to = normalize_href(page.path, page.redirect_to) if page.redirect_to else None
    return ExpectedPage(
        base_url + page.path,
        page.fate,
        page.status,
        page.title,
        page.language,
        page.declared_language,
        depth,
        tuple(dict.fromkeys(base_url + target for target, is_nofollow in links if not is_nofollow)),
        tuple(dict.fromkeys(base_url + target for target, is_nofollow in links if is_nofollow)),
        base_url + redirect_to if redirect_to else None,
        page.early_statuses,
        page.sells,
    )


def _read_site(content: dict[str, Any]) -> SiteKey:
    pages = tuple(ExpectedPage(**_as_tuples(page) | {"fate": Fate(page["fate"])}) for page in content["pages"])
    return SiteKey(**_as_tuples(content) | {"pages": pages})


def _as_tuples(content: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in content.items()}
