"""Fetches single pages for programs, as `forager fetch` does, and keeps the pace of each domain.

Known domains: the moment of each request is reserved in the domain's row, so that several processes and the next worker
keep the delay, and the request is on record for `forager audit politeness`. A domain that a worker holds, that is
paused, blocked or on the deny list is not asked. Unknown domains: the pace is in this process's memory.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from datetime import datetime

from forager import clock
from forager.domains.denied import require_allowed
from forager.domains.single_requests import Reservation, note_request, reserve_request
from forager.errors import ConflictError
from forager.instance import Forager
from forager.pages.fetch_one import Seen, fetch_one
from forager.politeness.no_delay_hosts import has_no_delay
from forager.politeness.throttle import clamp_delay
from forager.robots.rules import Rules
from forager.urls.domain import domain_of, origin_of

LONGEST_WAIT_S = 30.0
LEASE_WAIT_S, LEASE_POLL_S = 5.0, 0.5
MOST_DOMAINS = 10_000
"""Of which the pace and robots.txt are remembered."""


class PoliteFetcher:
    """Shared by all requests of a process."""

    def __init__(self, forager: Forager) -> None:
        self._forager = forager
        self._settings = forager.settings
        self._turns: dict[str, asyncio.Lock] = {}
        self._next_at: dict[str, float] = {}
        self._rules: dict[str, Rules] = {}
        self._rules_until: dict[str, float] = {}

    async def fetch(self, url: str) -> Seen:
        """Fetches a normalised URL. Raises ConflictError if its domain must not be asked now; errors of the site, of
        robots.txt and of the address guard are in the result."""
        self._forget_old()
        seen = await fetch_one(self._settings, url, turn=self._turn, rules=self._rules)
        until = clock.monotonic() + self._settings.politeness.robots_ttl
        for origin in self._rules:
            self._rules_until.setdefault(origin, until)
        return seen

    def _forget_old(self) -> None:
        now = clock.monotonic()
        if len(self._next_at) > MOST_DOMAINS:
            self._next_at = {name: at for name, at in self._next_at.items() if at > now}
            self._turns = {name: turn for name, turn in self._turns.items() if turn.locked()}
        for origin in [origin for origin, until in self._rules_until.items() if until < now]:
            self._rules_until.pop(origin)
            self._rules.pop(origin, None)

    @contextlib.asynccontextmanager
    async def _turn(self, url: str) -> AsyncIterator[Callable[[], None]]:
        """Enters when a request to this URL may leave; yields what is called when it is sent."""
        domain = domain_of(url)
        sent: list[datetime] = []
        async with self._turns.setdefault(domain, asyncio.Lock()):
            delay_s, place = await self._wait(domain)
            try:
                yield lambda: sent.append(clock.now())
            finally:
                self._next_at[domain] = clock.monotonic() + delay_s
                if sent and place is not None:
                    async with self._forager.pool.acquire() as conn:
                        await note_request(conn, place.id, origin_of(url), sent[0], delay_s)

    async def _wait(self, domain: str) -> tuple[float, Reservation | None]:
        """Waits for the domain's turn; returns the delay after it, and the reservation of a known domain."""
        politeness = self._settings.politeness
        is_unpaced = has_no_delay(domain, politeness.no_delay_hosts)
        asked = [
            rules.crawl_delay_s or 0.0 for origin, rules in self._rules.items() if domain_of(f"{origin}/") == domain
        ]
        robots_s = 0.0 if is_unpaced else max(asked, default=0.0)
        delay_s = 0.0 if is_unpaced else clamp_delay(politeness.delay)
        place = await self._reserve(domain, delay_s, robots_s)
        if place is not None and not place.is_reserved:
            raise ConflictError(_explain(domain, place), "domain_held" if place.is_leased else "domain_without_turn")
        delay_s = max(delay_s, robots_s) if place is None else 0.0 if is_unpaced else clamp_delay(place.delay_s)
        wait_s = self._next_at.get(domain, 0.0) - clock.monotonic() if place is None else place.wait_s
        if wait_s > LONGEST_WAIT_S:
            raise ConflictError(_explain_wait(domain, wait_s), "domain_without_turn")
        await asyncio.sleep(max(wait_s, 0.0))
        return delay_s, place

    async def _reserve(self, domain: str, delay_s: float, robots_s: float) -> Reservation | None:
        """Waits some seconds for a worker that holds the domain: one that finished a crawl releases it soon."""
        give_up_at = clock.monotonic() + LEASE_WAIT_S
        while True:
            async with self._forager.pool.acquire() as conn, conn.transaction():
                await require_allowed(conn, [domain])
                place = await reserve_request(
                    conn, domain, delay_s=delay_s, robots_delay_s=robots_s, within_s=LONGEST_WAIT_S
                )
            if place is None or not place.is_leased or clock.monotonic() > give_up_at:
                return place
            await asyncio.sleep(LEASE_POLL_S)


def _explain(domain: str, place: Reservation) -> str:
    if place.blocked_by is not None:
        return f"{domain} is blocked: {place.blocked_by}. `forager why {domain}` explains."
    if place.is_paused:
        return f"{domain} is paused; `forager domain {domain} resume` ends that."
    if place.is_leased:
        return (
            f"A worker is crawling {domain} now, and only it may ask the site: take what is stored, or ask again when "
            "it is done."
        )
    return _explain_wait(domain, place.wait_s)


def _explain_wait(domain: str, wait_s: float) -> str:
    return f"The next request to {domain} may leave in {wait_s:.0f} s; ask again then."
