"""Fetches sitemaps: one request at a time, with robots.txt, crawl delay and address guard, and one level of index.

Failures of a site do not raise: a sitemap that cannot be fetched yields a bad entry with the reason, and the next one
follows. An exhausted proxy pool is our own fault and raises.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable

from forager import clock
from forager.config.settings import Settings
from forager.engine.database_clock import DatabaseClock
from forager.engine.request_timing import RequestTiming
from forager.errors import (
    ProxyError,
    RobotsDeniedError,
    RobotsUnreachableError,
    StatusError,
    TooManyRedirectsError,
    VisitError,
)
from forager.fetch.client import open_client
from forager.politeness.guard import AddressGuard
from forager.politeness.no_delay_hosts import has_no_delay
from forager.politeness.proxy_rule import proxy_rule
from forager.politeness.throttle import Throttle, clamp_delay
from forager.proxies.client import ProxiedClient, open_proxied_client
from forager.robots import rules as robots
from forager.robots.fetch import fetch_robots
from forager.seeds.found import BadLine, Nested, Seed
from forager.seeds.sitemap import read_sitemap
from forager.seeds.unpack import unpack
from forager.urls.domain import domain_of, origin_of
from forager.urls.resolve import resolve_links
from forager.urls.sitemap import MOST_BYTES

MOST_SITEMAPS = 1000
"""Sitemaps followed from one index; the protocol allows 50,000."""


async def follow_sitemap(settings: Settings, url: str) -> AsyncGenerator[Seed | BadLine]:
    """Yields all pages of a sitemap, or of the sitemaps listed in an index."""
    async with _open_visitor(settings) as visitor:
        nested: list[Nested] = []
        async for found in _read(visitor, url):
            if isinstance(found, Nested):
                nested.append(found)
            else:
                yield found
        for child in nested[:MOST_SITEMAPS]:
            async for found in _read(visitor, child.url):
                yield _of_child(found, child)
        if len(nested) > MOST_SITEMAPS:
            yield BadLine(
                MOST_SITEMAPS + 1, f"only the first {MOST_SITEMAPS:,} of {len(nested):,} sitemaps are followed."
            )


async def _read(visitor: "Visitor", url: str) -> AsyncIterator[Seed | BadLine | Nested]:
    try:
        body = await visitor.fetch(url)
    except ProxyError:
        raise  # our proxies failed, not the sitemap
    except VisitError as error:
        yield BadLine(1, f"{url} could not be fetched: {str(error).removesuffix('.')}.")
        return
    for found in read_sitemap(unpack((body,))):
        yield found


def _of_child(found: Seed | BadLine | Nested, child: Nested) -> Seed | BadLine:
    match found:
        case Seed():
            return found
        case BadLine():
            return BadLine(found.line, found.why if child.url in found.why else f"{found.why} (in {child.url})")
        case Nested():
            return BadLine(found.line, f"{found.url} stands in an index of an index ({child.url}) and is not followed.")


@contextlib.asynccontextmanager
async def _open_visitor(settings: Settings) -> AsyncIterator["Visitor"]:
    guard = AddressGuard(
        settings.fetch.allow_networks, settings.fetch.allow_ports, is_anonymous=settings.contact is None
    )
    async with (
        open_client(
            user_agent=settings.agent_header,
            check_address=guard.check_ip,
            check_proxy=proxy_rule(settings.fetch.allow_networks),
            timeout_s=settings.fetch.timeout,
            connect_timeout_s=settings.fetch.connect_timeout,
            max_bytes=MOST_BYTES,
        ) as client,
        open_proxied_client(settings, client, "seed") as ways,
    ):
        yield Visitor(ways, settings)


class Visitor:
    """Sends one request at a time, each allowed by robots.txt and within its domain's crawl delay."""

    def __init__(self, ways: ProxiedClient, settings: Settings) -> None:
        self._ways = ways
        self._settings = settings
        self._rules: dict[str, robots.Rules] = {}
        """Origin → its robots.txt rules for our user agent."""
        self._paces: dict[str, Throttle] = {}

    async def fetch(self, url: str) -> bytes:
        """Returns the body after redirects; raises a VisitError if there is none."""
        for _ in range(self._settings.fetch.max_redirects + 1):
            await self._check_robots(url)
            async with self._wait_slot(domain_of(url)) as on_sent:
                fetched = await self._ways.get(url, read_body=lambda _content_type: True, on_sent=on_sent)
            location = fetched.headers.get("location")
            target = resolve_links(url, [location])[0] if 300 <= fetched.status_code < 400 and location else None
            if target is None:
                if fetched.status_code != 200:
                    raise StatusError(fetched.status_code)
                return fetched.body
            url = target
        raise TooManyRedirectsError(f"more than {self._settings.fetch.max_redirects} redirects in a row")

    async def _check_robots(self, url: str) -> None:
        verdict = (await self._rules_of(origin_of(url))).verdict(url)
        if not verdict.allowed:
            raise RobotsDeniedError(f"robots.txt forbids {url} ({verdict.rule}, line {verdict.line})")

    async def _rules_of(self, origin: str) -> robots.Rules:
        if origin not in self._rules:
            domain = domain_of(f"{origin}/")
            copy = await fetch_robots(
                self._ways,
                0,
                origin,
                ttl_s=self._settings.politeness.robots_ttl,
                turn=lambda: self._wait_slot(domain),
                waits_s=(),
            )
            if copy.error is not None:
                raise RobotsUnreachableError(f"{origin}/robots.txt could not be had ({copy.error})")
            rules = robots.parse(copy.text or "").rules_for(self._settings.politeness.robots_agent)
            if rules.crawl_delay_s is not None and not self._has_no_delay(domain):
                self._paces[domain].increase_delay(rules.crawl_delay_s)
            self._rules[origin] = rules
        return self._rules[origin]

    @contextlib.asynccontextmanager
    async def _wait_slot(self, domain: str) -> AsyncIterator[Callable[[], None]]:
        """Enters when the domain's delay has passed; yields a callback to call when the request is sent."""
        now = clock.monotonic()
        if domain not in self._paces:
            delay_s = 0.0 if self._has_no_delay(domain) else clamp_delay(self._settings.politeness.delay)
            self._paces[domain] = Throttle(delay_s=delay_s, max_in_flight=1, now=now)
        pace = self._paces[domain]
        await asyncio.sleep(pace.wait_s(now))
        trip = RequestTiming(pace, DatabaseClock())
        pace.start(clock.monotonic())
        try:
            yield trip.sent
        finally:
            pace.finish(has_left=trip.has_left)

    def _has_no_delay(self, domain: str) -> bool:
        return has_no_delay(domain, self._settings.politeness.no_delay_hosts)
