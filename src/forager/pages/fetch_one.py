"""Runs one page through the whole pipeline for inspection: admit, fetch, parse, select. Uses no database.

Redirects are followed here, each after its own check by the address guard and robots.txt; a crawl makes pages of them.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Any

from forager import clock
from forager.config.settings import Settings
from forager.engine.rendering import FAILED as RENDER_FAILED
from forager.engine.rendering import RENDERED, RenderOptions, open_renderer
from forager.errors import RobotsDeniedError, RobotsUnreachableError, SkippedError, TooManyRedirectsError
from forager.fetch.browser.factory import browser_limits
from forager.fetch.client import Client, is_page_or_document, open_client
from forager.fetch.connection import ResponseTimeouts
from forager.fetch.documents import PDF_SNIFF
from forager.fetch.models import Fetched, Rendering
from forager.frontier.models import Target
from forager.links.models import Selection
from forager.links.scope import CrawlScope
from forager.links.select import Selector
from forager.parsing import page as page_parser
from forager.parsing.language import detect, select_sample
from forager.parsing.models import Reading
from forager.politeness.guard import guard_from_settings as guard_of
from forager.politeness.proxy_rule import proxy_rule
from forager.proxies.client import ProxiedClient, open_proxied_client
from forager.robots.fetch import at_once, fetch_robots
from forager.robots.rules import RobotsDecision, Rules, parse
from forager.runs.models import RunSpec, Scope
from forager.urls.domain import origin_of
from forager.urls.resolve import resolve_links

ROBOTS_TRIES_S: tuple[float, ...] = ()
Turn = Callable[[str], AbstractAsyncContextManager[Callable[[], None]]]
"""URL → a context that is entered when its request may leave, with what is called when it is sent."""


@dataclass(slots=True)
class Timing:
    """Milliseconds from the start of the last request; None if the client does not know."""

    name_ms: float | None = None
    """Until the name was resolved."""
    sent_ms: float | None = None
    """Until the request was sent: connected, TLS included."""
    head_ms: float | None = None
    """Until the headers of a page's response were received."""
    total_ms: float | None = None


@dataclass(slots=True)
class RequestStep:
    """One request."""

    url: str
    robots: RobotsDecision
    crawl_delay_s: float | None
    status_code: int = 0
    location: str | None = None
    address: str | None = None
    timing: Timing = field(default_factory=Timing)


@dataclass(slots=True)
class Seen:
    """The result, as far as the pipeline came."""

    hops: list[RequestStep]
    fetched: Fetched | None = None
    reading: Reading | None = None
    selection: Selection | None = None
    error: Exception | None = None
    """Why the pipeline stopped."""
    read_ms: float | None = None
    draw_ms: float | None = None
    """How long the browser took; None: it was not used."""
    detected: tuple[str | None, float] = (None, 0.0)
    """The language detected from the text alone, and its confidence."""


async def fetch_one(
    settings: Settings,
    url: str,
    *,
    parser: str = "auto",
    rendering: str = Rendering.NEVER,
    turn: Turn = lambda _url: at_once(),
    rules: dict[str, Rules] | None = None,
    search_words: int | None = None,
) -> Seen:
    """Fetches a normalised `url`. Errors of the site or the guard are in the result; only our own errors are raised.
    Each request is made in its `turn`. `rules` are those of robots.txt files that were fetched, by origin; new ones are
    added. `search_words` are those of the URL's domain; without a database, those of the instance."""
    if search_words is not None:
        searching = settings.search.model_copy(update={"words_per_page": search_words})
        settings = settings.model_copy(update={"search": searching})
    guard = guard_of(settings)
    seen = Seen([])
    async with (
        open_client(
            user_agent=settings.agent_header,
            check_address=guard.check_ip,
            check_proxy=proxy_rule(settings.fetch.allow_networks),
            timeout_s=settings.fetch.timeout,
            connect_timeout_s=settings.fetch.connect_timeout,
            max_bytes=settings.fetch.max_page_size,
            patience=ResponseTimeouts(
                settings.fetch.first_byte_timeout, settings.fetch.min_rate_window, settings.fetch.min_rate
            ),
            keeps_cookies=settings.fetch.cookies,
        ) as client,
        open_proxied_client(settings, client, "fetch") as ways,
    ):
        errand = _SingleFetch(settings, client, ways, seen, turn=turn, rules={} if rules is None else rules)
        await errand.follow(url)
        if seen.fetched is not None and seen.fetched.body and 200 <= seen.fetched.status_code < 300:
            await asyncio.to_thread(_parse_page, seen, settings, parser)
            if rendering != Rendering.NEVER:
                await errand.draw(parser, rendering)
    return seen


class _SingleFetch:
    def __init__(
        self,
        settings: Settings,
        client: Client,
        ways: ProxiedClient,
        seen: Seen,
        *,
        turn: Turn,
        rules: dict[str, Rules],
    ) -> None:
        self._settings = settings
        self._client = client
        self._ways = ways
        self._seen = seen
        self._turn = turn
        self._rules = rules

    async def follow(self, url: str) -> None:
        from forager.errors import VisitError

        try:
            await self._follow(url)
        except VisitError as error:
            self._seen.error = error

    async def draw(self, parser: str, mode: str) -> None:
        """Renders the page if the mode requires it; if the browser fails, the page stays as it was fetched."""
        fetched, plain = self._seen.fetched, self._seen.reading
        assert fetched is not None
        assert plain is not None
        settings = self._settings
        async with open_renderer(
            self._client,
            chromium=settings.browser.executable,
            user_agent=settings.agent_header,
            limits=browser_limits(settings),
        ) as renderer:
            if not renderer.wants(fetched, plain, mode):
                return
            began = clock.monotonic()
            drawn = await renderer.draw(
                fetched, RenderOptions(mode, self._rules.get(origin_of(fetched.url))), self._ways.via
            )
            self._seen.draw_ms = _elapsed_ms(began)
        if drawn is not None:
            self._seen.fetched = replace(drawn.page, raw=fetched.raw)
            await asyncio.to_thread(_parse_page, self._seen, settings, parser)
        flag = RENDERED if drawn is not None else RENDER_FAILED
        reading = self._seen.reading
        assert reading is not None
        self._seen.reading = replace(reading, flags=(*reading.flags, flag))

    async def _follow(self, url: str) -> None:
        for _ in range(self._settings.fetch.max_redirects + 1):
            fetched = await self._get(url)
            self._seen.fetched = fetched
            place = self._seen.hops[-1].location
            if place is None or not 300 <= fetched.status_code < 400:
                return
            url = place
        raise TooManyRedirectsError(f"more than {self._settings.fetch.max_redirects} redirects in a row")

    async def _get(self, url: str) -> Fetched:
        rules = await self._rules_of(origin_of(url))
        hop = RequestStep(url, rules.verdict(url), rules.crawl_delay_s)
        self._seen.hops.append(hop)
        if not hop.robots.allowed:
            raise RobotsDeniedError(f"robots.txt line {hop.robots.line} says {hop.robots.rule!r}")
        async with self._turn(url) as note_sent:
            fetched = await self._request(url, hop, note_sent)
        hop.status_code = fetched.status_code
        if location := fetched.headers.get("location"):
            hop.location = resolve_links(url, [location])[0]
        return fetched

    async def _request(self, url: str, hop: RequestStep, note_sent: Callable[[], None]) -> Fetched:
        began, timing = clock.monotonic(), hop.timing
        hop.address = await self._client.locate(url)
        timing.name_ms = _elapsed_ms(began)

        def sent() -> None:
            timing.sent_ms = _elapsed_ms(began)
            note_sent()

        def read_body(content_type: str) -> bool:
            timing.head_ms = _elapsed_ms(began)
            return is_page_or_document(content_type)

        fetched = await self._ways.get(url, on_sent=sent, read_body=read_body, keeps_raw=True, sniff=PDF_SNIFF)
        timing.total_ms = _elapsed_ms(began)
        return fetched

    async def _rules_of(self, origin: str) -> Rules:
        if origin not in self._rules:
            copy = await fetch_robots(
                self._ways,
                0,
                origin,
                ttl_s=self._settings.politeness.robots_ttl,
                turn=lambda: self._turn(f"{origin}/robots.txt"),
                waits_s=ROBOTS_TRIES_S,
            )
            if copy.error is not None:
                raise RobotsUnreachableError(f"{origin}/robots.txt could not be had: {copy.error}")
            self._rules[origin] = parse(copy.text or "").rules_for(self._settings.politeness.robots_agent)
        return self._rules[origin]


def _parse_page(seen: Seen, settings: Settings, parser: str) -> None:
    fetched = seen.fetched
    assert fetched is not None
    page_parser.preload()
    began = clock.monotonic()
    more: dict[str, Any] = {"parser_name": parser}
    words, agent = settings.search.words_per_page, settings.politeness.robots_agent
    seen.reading = page_parser.read(fetched, keyword_words=words, robots_agent=agent, markdown=True, **more)
    seen.read_ms = _elapsed_ms(began)
    seen.detected = detect(select_sample(seen.reading.text))
    reach = CrawlScope.of(RunSpec((fetched.url,), Scope.ANY))
    selector = Selector(reach, max_links_per_page=settings.crawl.max_links_per_page)
    seen.selection = selector.select(seen.reading, Target(0, 0, 0, 0, fetched.url, 0, 0, 0))


def _elapsed_ms(began: float) -> float:
    return round((clock.monotonic() - began) * 1000, 1)


def is_rejected(seen: Seen) -> bool:
    """Returns whether no request was sent because of the guard or robots.txt."""
    return isinstance(seen.error, SkippedError)
