"""Options of Firecrawl: those that Forager has, those it explains in a warning, and those it rejects. Pure.

No option is ignored in silence: a program that asks for a screenshot and gets none must hear of it.
"""

from collections.abc import Iterable
from typing import Any

from forager.api.access import ApiError
from forager.config.crawl_settings import read_layer
from forager.firecrawl.documents import LETTERS
from forager.firecrawl.patterns import to_glob
from forager.firecrawl.schemas import CrawlBody, MapOptions, ScrapeOptions
from forager.runs.models import RunSpec, Scope
from forager.urls.domain import origin_of

PROXIES = frozenset({"basic", "auto"})


def unsupported(option: str, instead: str) -> ApiError:
    return ApiError(400, f"{option} is not supported: {instead}.", "unsupported_option")


def read_formats(formats: Iterable[Any]) -> list[str]:
    """Returns the names of the formats; version 2 also takes objects with a `type`."""
    found: list[str] = []
    for each in formats:
        name = str(each.get("type") if isinstance(each, dict) else each)
        if name not in LETTERS:
            raise unsupported(f"The format {name[:40]!r}", f"there are {', '.join(LETTERS)}")
        found.append(name)
    if not found:
        raise unsupported("An empty list of formats", f"there are {', '.join(LETTERS)}")
    return list(dict.fromkeys(found))


def check_scrape(options: ScrapeOptions) -> list[str]:
    """Rejects what cannot be done; returns warnings about what is done differently."""
    for is_wanted, option, instead in (
        (options.includeTags, "includeTags", "markdown has the main content"),
        (options.excludeTags, "excludeTags", "markdown has the main content"),
        (options.headers, "headers", "set them with the domain, where secrets are encrypted"),
        (options.waitFor, "waitFor", "set `rendering` in the crawl settings of the domain and crawl it"),
        (options.mobile, "mobile", "leave it out"),
        (options.actions, "actions", "leave them out"),
        (options.location, "location", "set a proxy and accept_language with the domain and crawl it"),
        (options.jsonOptions, "jsonOptions", "take markdown, and extract from that"),
        (options.extract, "extract", "take markdown, and extract from that"),
        (options.changeTrackingOptions, "changeTrackingOptions", "`forager pages` shows what changed"),
        (options.proxy is not None and options.proxy not in PROXIES, "This proxy", "there are basic and auto"),
        (not options.parsePDF or options.parsers == [], "The file of a PDF", "its text is read"),
    ):
        if is_wanted:
            raise unsupported(option, instead)
    warnings = []
    if not options.onlyMainContent:
        warnings.append("onlyMainContent is always true for markdown and html; rawHtml has the whole page.")
    if options.skipTlsVerification:
        warnings.append("skipTlsVerification has no effect: certificates are verified.")
    if not (options.removeBase64Images and options.blockAds):
        warnings.append("removeBase64Images and blockAds have no effect: pages are not rendered.")
    return warnings


def build_run(body: CrawlBody, seed: str, *, content: str | None) -> tuple[RunSpec, list[str]]:
    """Returns the run that a crawl is, and warnings. `content` is the content policy that it needs."""
    for is_wanted, option, instead in (
        (body.webhook, "webhook", "ask for the status, or set webhooks for tasks in Forager"),
        (body.prompt, "prompt", "give the options themselves"),
        (body.regexOnFullURL, "regexOnFullURL", "patterns are matched against the path"),
        (body.ignoreQueryParameters, "ignoreQueryParameters", "set strip_params with the domain"),
        (body.sitemap == "only", "sitemap: only", "map with sitemapOnly, and scrape what you need"),
        (body.zeroDataRetention, "zeroDataRetention", "a crawl is stored; purge the domain when you are done"),
    ):
        if is_wanted:
            raise unsupported(option, instead)
    settings: dict[str, Any] = {} if content is None else {"content": content}
    if body.ignoreSitemap or body.sitemap == "skip":
        settings["sitemaps"] = False
    if body.maxConcurrency is not None:
        settings["concurrency"] = body.maxConcurrency
    if body.delay is not None:
        settings["delay"] = body.delay
    origin = origin_of(seed)
    include = tuple(to_glob(pattern, origin) for pattern in body.includePaths)
    exclude = tuple(to_glob(pattern, origin) for pattern in body.excludePaths)
    depths = [depth for depth in (body.maxDepth, body.maxDiscoveryDepth) if depth is not None]
    if include:
        settings["include"] = list(include)
    if exclude:
        settings["exclude"] = list(exclude)
    if depths:
        settings["max_depth"] = min(depths)
    scope = _scope_of(body)
    spec = RunSpec(
        seeds=(seed,),
        scope=scope,
        is_scope_given=True,
        settings=read_layer(settings),
        include=include,
        exclude=exclude,
        max_depth=min(depths, default=10),
        max_pages=body.limit,
        delay_s=body.delay,
    )
    warning = "maxDepth counts links from the start, as maxDiscoveryDepth does, not parts of the path."
    return spec, [warning] if body.maxDepth is not None else []


def _scope_of(body: CrawlBody) -> Scope:
    if body.allowExternalLinks:
        return Scope.ANY
    if body.allowSubdomains:
        return Scope.DOMAIN
    return Scope.HOST if body.crawlEntireDomain or body.allowBackwardLinks else Scope.PREFIX


def check_map(options: MapOptions) -> None:
    if options.location:
        raise unsupported("location", "leave it out")
