"""Fetches robots.txt when it is needed, saves the rules in the queue, and applies their consequences.

It starts nothing by itself: the dispatcher requests the rules of an origin, and has them fetched if there are none.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from forager import clock
from forager.domains.store import Release, RobotsCopy
from forager.engine.access import robots_agent_of
from forager.engine.addresses import Addresses
from forager.engine.config import RobotsConfig
from forager.engine.database_clock import DatabaseClock
from forager.engine.domain_queue import DomainQueue, defer
from forager.engine.network_monitor import NetworkMonitor, is_network_failure, shows_network_works
from forager.engine.outcome_handler import OutcomeHandler
from forager.engine.request_timing import LeasedRequest
from forager.engine.sitemap_finder import SitemapFinder
from forager.engine.stop import StopRequest
from forager.engine.write_buffer import WriteBuffer
from forager.errors import (
    AddressBlockedError,
    ExhaustedError,
    InsecureError,
    LeaseLostError,
    NetworkDownError,
    NoHttpsError,
    ProxyError,
    RobotsDeniedError,
    RobotsUnreachableError,
    SkippedError,
    VisitError,
    VisitTimeoutError,
)
from forager.fetch.client import Client
from forager.fetch.models import Fetched
from forager.frontier.models import Outcome, OutcomeKind
from forager.robots import rules as robots
from forager.robots.fetch import MOST_SITEMAPS, RETRY_WAITS_S, ROBOTS_TRIES, TIMEOUT_S, fetch_robots
from forager.robots.rules import Rules

EXHAUSTED_HOLD_S = 5.0
"""Delay before a retry on a machine without free file descriptors."""
LOOK_EVERY_S = 0.5


class DeferredError(Exception):
    """The request cannot be made within this lease."""


class RobotsCache:
    def __init__(
        self,
        config: RobotsConfig,
        client: Client,
        addresses: Addresses,
        outcomes: OutcomeHandler,
        buffer: WriteBuffer,
        *,
        longest_wait_s: float,
        stop: StopRequest,
        database_clock: DatabaseClock,
        sitemaps: SitemapFinder | None = None,
        network: NetworkMonitor | None = None,
    ) -> None:
        self._config = config
        self._longest_wait_s = longest_wait_s
        self._client = client
        self._addresses = addresses
        self._outcomes = outcomes
        self._buffer = buffer
        self._stop = stop
        self._database_clock = database_clock
        self._sitemaps = sitemaps
        self._network = network

    def get_rules(self, queue: DomainQueue, origin: str, now: float) -> Rules | SkippedError | None:
        """Returns the rules, or None if robots.txt has to be fetched. After three failures none is fetched for a
        minute."""
        if (rules := queue.robots.find_fresh(origin, now)) is not None:
            return rules
        wait_s = queue.robots.breaker.wait_s(now)
        if not wait_s:
            return None
        error = RobotsUnreachableError(f"robots.txt could not be had elsewhere in {queue.lease.domain} a moment ago")
        queue.robots.save(origin, error, now + wait_s)
        return error

    async def fetch(self, queue: DomainQueue, origin: str) -> None:
        """Fetches robots.txt within the rate limit of its domain; afterwards the queue has rules, or is closing."""
        requests: list[LeasedRequest] = []
        ttl_s = self._config.robots_ttl_s
        client = _QueueClient(self._client, queue, requests)
        queue.robots.breaker.start(clock.monotonic())
        turn = partial(self.turn, queue, origin, requests)
        is_ours = partial(self.is_local_failure, queue, origin)
        try:
            waits_s = () if _is_guess(queue, origin) else RETRY_WAITS_S
            copy = await fetch_robots(
                client, queue.lease.domain_id, origin, ttl_s=ttl_s, turn=turn, waits_s=waits_s, is_ours=is_ours
            )
        except AddressBlockedError as refusal:
            refusal.drop_traceback()
            queue.robots.save(origin, refusal)  # for the whole lease: the guard's decision does not change
        except NetworkDownError:
            return  # it is requested again when our network is back
        except LeaseLostError:
            return  # the next lease holder requests it
        except ProxyError:
            return  # it is requested again through the next proxy
        except ExhaustedError:
            queue.hold(clock.monotonic(), EXHAUSTED_HOLD_S)  # then it is requested again
            return
        except DeferredError:
            return  # no request was made
        else:
            queue.share.note_robots(max(request.waited_s or 0.0 for request in requests))
            moments = tuple(request.requested_at for request in requests)
            pace_ms = min(request.pace_ms for request in requests)
            self._apply_result(queue, replace(copy, requests=moments, pace_ms=pace_ms))

    async def is_local_failure(self, queue: DomainQueue, origin: str, error: VisitError | None) -> bool:
        """Returns whether robots.txt failed because of our own network; without an error, the network works."""
        if self._network is None or queue.pool is not None:
            return False
        if shows_network_works(error):
            self._network.reached(queue.lease.domain_id, f"{origin}/")
        if error is None or not is_network_failure(error):
            return False
        domain = queue.lease.domain_id
        return await self._network.is_ours(domain, f"{origin}/", error, is_known=queue.has_pages)

    @asynccontextmanager
    async def turn(
        self, queue: DomainQueue, origin: str, requests: list[LeasedRequest]
    ) -> AsyncIterator[Callable[[], None]]:
        """Waits until a request beside those for pages may be made, and yields the callback for when it is sent."""
        address = await self._wait_unless_lost(queue, self._acquire_slot(queue, origin))
        via = queue.pool.take(clock.monotonic()) if queue.pool else None
        if via is None and queue.pool is not None and requests:
            via = requests[-1].via  # a redirect, while all proxies rest: it belongs to the same request
        request = LeasedRequest(queue, self._database_clock, self._addresses, address, via)
        requests.append(request)
        queue.start_robots_request(clock.monotonic())
        try:
            yield request.sent
        finally:
            request.ended()
            queue.finish_robots_request(has_left=request.has_left)
            self._addresses.finish(address, has_left=request.has_left)

    async def _wait_unless_lost(self, queue: DomainQueue, waiting: Coroutine[Any, Any, str | None]) -> str | None:
        """Waits for the turn, which may take long; a stop or the end of the lease ends the wait."""
        turn = asyncio.create_task(waiting)
        try:
            while not turn.done():
                if self._stop.asked or queue.closing or queue.is_lost:
                    raise DeferredError
                await asyncio.wait({turn}, timeout=LOOK_EVERY_S)
            return turn.result()
        finally:
            turn.cancel()

    async def _acquire_slot(self, queue: DomainQueue, origin: str) -> str | None:
        """Waits until both domain and address allow a request, which then counts as started; returns the address."""
        address = await self._addresses.find(queue, origin)
        while True:
            while wait_s := queue.pace.wait_s(now := clock.monotonic()):
                if wait_s > self._longest_wait_s:
                    queue.close(defer(queue, now, self._database_clock.at(now)))
                    raise DeferredError
                await asyncio.sleep(wait_s + clock.TIMER_GRAIN_S)
            await self._addresses.turn(address, ("robots", queue.lease.domain_id))
            if not queue.pace.wait_s(clock.monotonic()):
                return address
            self._addresses.finish(address, has_left=False)

    def _apply_result(self, queue: DomainQueue, copy: RobotsCopy) -> None:
        if queue.is_lost:
            return
        if copy.error is None:
            queue.robots.breaker.succeed()
            self._apply_rules(queue, copy, is_fresh=True)
            self._buffer.add_robots(self._trust(queue, copy))
        elif _tries_http(queue, copy):
            self._buffer.add_robots(copy)
            error = NoHttpsError(f"{copy.origin} could not be reached: {copy.error}")
            queue.robots.save(copy.origin, error, clock.monotonic() + copy.ttl_s)
        else:
            self._buffer.add_robots(copy)
            queue.hold(clock.monotonic(), copy.silence_s)
            for _ in range(ROBOTS_TRIES):
                queue.robots.breaker.fail(clock.monotonic())
            self._mark_unreachable(queue, copy)

    def apply_cached(self, queue: DomainQueue, copy: RobotsCopy) -> None:
        """Applies a copy fetched under an earlier lease, whose holder has already recorded how long to wait."""
        self._apply_rules(queue, copy, counted_s=queue.lease.pace_delay_s - queue.lease.pace_extra_s)

    def _apply_rules(
        self, queue: DomainQueue, copy: RobotsCopy, *, counted_s: float = 0.0, is_fresh: bool = False
    ) -> None:
        file = robots.parse(copy.text or "")
        rules = file.rules_for(robots_agent_of(queue.lease, self._config.robots_agent))
        queue.robots.save(copy.origin, rules, clock.monotonic() + copy.ttl_s)
        if self._sitemaps is not None and not rules.denies_all:
            self._sitemaps.note_robots(queue.lease, copy.origin, file.sitemaps[:MOST_SITEMAPS], is_fresh=is_fresh)
        if rules.crawl_delay_s:
            queue.increase_delay(rules.crawl_delay_s, counted_s=counted_s)
        if rules.denies_all and len(queue.robots) == 1 and queue.targets and queue.lease.settings.obey_robots:
            self._reject_all(queue)

    def _trust(self, queue: DomainQueue, copy: RobotsCopy) -> RobotsCopy:
        """Extends the validity of the copy at a low request rate, where fetching it again would take every request."""
        ttl_s = robots.trusted_s(copy.ttl_s, queue.pace.base_s)
        queue.robots.extend(copy.origin, clock.monotonic() + ttl_s)
        return replace(copy, ttl_s=ttl_s)

    def _reject_all(self, queue: DomainQueue) -> None:
        """Handles a robots.txt that disallows everything: claimed tasks close as rejected, the domain is blocked for 90
        days."""
        reason = "robots.txt forbids everything"
        for target in queue.targets:
            self._outcomes.end_task(queue, Outcome(target, OutcomeKind.BLOCKED_ROBOTS, error=RobotsDeniedError(reason)))
        rest_s = self._config.robots_cooldown_s
        queue.close(Release(queue.lease, 0.0, rest_s, status="blocked", reason_code="robots_denied", reason=reason))

    def _mark_unreachable(self, queue: DomainQueue, copy: RobotsCopy) -> None:
        """Handles an unreachable robots.txt, which means no requests (RFC 9309). A domain with another working origin
        continues there; otherwise one task records the reason, and the rest waits an hour, or as long as Retry-After
        says."""
        kind: type[SkippedError] = InsecureError if copy.is_insecure else RobotsUnreachableError
        error = kind(f"{copy.origin}/robots.txt could not be had: {copy.error}")
        is_overridden = not (queue.lease.settings.obey_robots or copy.is_insecure)
        if queue.robots.has_working_origin or is_overridden:
            queue.robots.save(copy.origin, error, clock.monotonic() + copy.ttl_s)
            return
        if queue.targets:
            self._outcomes.end_task(queue, Outcome(queue.pop_target(), OutcomeKind.FAILED, error=error))
        rest_s = copy.ttl_s
        queue.close(Release(queue.lease, 0.0, rest_s, status="unreachable", reason_code=error.code, reason=str(error)))


def _tries_http(queue: DomainQueue, copy: RobotsCopy) -> bool:
    """Returns whether http is tried instead: the operator named no scheme, and https never worked."""
    return _is_guess(queue, copy.origin) and (copy.is_insecure or copy.is_refused)


def _is_guess(queue: DomainQueue, origin: str) -> bool:
    is_https = origin.startswith("https://")
    return is_https and queue.lease.guesses_scheme and not queue.robots.has_working_origin


class _QueueClient:
    """Fetches robots.txt over the route of the current request: through its proxy, or directly if the queue has
    none."""

    def __init__(self, client: Client, queue: DomainQueue, requests: list[LeasedRequest]) -> None:
        self._client = client
        self._queue = queue
        self._requests = requests

    async def get(
        self, url: str, *, read_body: Callable[[str], bool], cut_at: int | None, on_sent: Callable[[], None]
    ) -> Fetched:
        request, pool = self._requests[-1], self._queue.pool
        if request.via is None:
            if pool is not None:
                raise ProxyError("no proxy of its pool may be used now")
            return await self._client.get(url, read_body=read_body, cut_at=cut_at, on_sent=on_sent)
        error: VisitError | None = None
        try:
            async with asyncio.timeout(TIMEOUT_S * 0.9):  # before the outer timeout, which does not know the cause
                return await self._client.get(url, read_body=read_body, cut_at=cut_at, on_sent=on_sent, via=request.via)
        except VisitError as trouble:
            error = trouble
            raise
        except TimeoutError:
            late = f"{request.via.name} did not answer in time"
            error = VisitTimeoutError("it took too long to answer") if request.has_left else ProxyError(late)
            raise error from None
        finally:
            if (pool := self._queue.pool) is not None:
                pool.record(request.via, error, at=request.requested_at)
