"""What robots.txt says about a queue: asked for when it is needed, taken into the queue, and what follows from it.

It starts nothing by itself: traffic asks for the rules of an origin, and has them fetched where there are none.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from forager import clock
from forager.domains.store import Release, RobotsCopy
from forager.engine.addresses import Addresses
from forager.engine.config import WorkerConfig
from forager.engine.domain_queue import DomainQueue, defer
from forager.engine.network_monitor import NetworkMonitor, is_network_failure, shows_network_works
from forager.engine.pipeline import Tools
from forager.engine.proxy_pools import TimedClient
from forager.engine.request_timing import RequestTiming
from forager.engine.stop import StopRequest
from forager.errors import (
    AddressBlockedError,
    ExhaustedError,
    InsecureError,
    LeaseLostError,
    NetworkDownError,
    ProxyError,
    RobotsDeniedError,
    RobotsUnreachableError,
    SkippedError,
    VisitError,
)
from forager.frontier.models import Outcome, OutcomeKind
from forager.robots import rules as robots
from forager.robots.fetch import ROBOTS_TRIES, ask_robots
from forager.robots.rules import Rules

EXHAUSTED_HOLD_S = 5.0
"""A machine without a free file is asked again after a while."""
LOOK_EVERY_S = 0.5


class _DeferredError(Exception):
    """Its turn will not come in this lease."""


class RobotsCache:
    def __init__(
        self,
        order: WorkerConfig,
        tools: Tools,
        stop: StopRequest,
        addresses: Addresses,
        *,
        note_sent: Callable[[DomainQueue, str | None, float, bool], None],
        give_up: Callable[[DomainQueue, Outcome], None],
        keep: Callable[[RobotsCopy], None],
        network: NetworkMonitor | None = None,
    ) -> None:
        self._order = order
        self._tools = tools
        self._stop = stop
        self._addresses = addresses
        self._note_sent = note_sent
        self._end_task = give_up
        self._keep = keep
        self._network = network

    def rules_of(self, queue: DomainQueue, origin: str, now: float) -> Rules | SkippedError | None:
        """None where robots.txt is to be asked for. After three failures nothing is asked for a minute."""
        rules = queue.rules.get(origin)
        if rules is not None and queue.rules_until.get(origin, now) >= now:
            return rules
        wait_s = queue.robots_breaker.wait_s(now)
        if not wait_s:
            return None
        error = RobotsUnreachableError(f"robots.txt could not be had elsewhere in {queue.lease.domain} a moment ago")
        queue.rules[origin], queue.rules_until[origin] = error, now + wait_s
        return error

    async def ask(self, queue: DomainQueue, origin: str) -> None:
        """Fetch it under the pace of its domain; afterwards the queue has rules, or is closing."""
        trips: list[RequestTiming] = []
        ttl_s = self._order.robots_ttl_s
        client = TimedClient(self._tools.client, queue, trips)
        queue.robots_breaker.start(clock.monotonic())
        turn = partial(self._turn, queue, origin, trips)
        is_ours = partial(self._is_local_failure, queue, origin)
        try:
            copy = await ask_robots(client, queue.lease.domain_id, origin, ttl_s=ttl_s, turn=turn, is_ours=is_ours)
        except AddressBlockedError as refusal:
            refusal.drop_traceback()
            queue.rules[origin] = refusal
            queue.rules_until.pop(origin, None)  # the guard does not change its mind
        except NetworkDownError:
            return  # it is asked for again when our network is back
        except LeaseLostError:
            return  # whoever has the domain now asks for itself
        except ProxyError:
            return  # it is asked for again, through the next one
        except ExhaustedError:
            queue.pace.hold(clock.monotonic(), EXHAUSTED_HOLD_S)  # then it is asked for again
            return
        except _DeferredError:
            return  # nothing was asked
        else:
            queue.tenant.note_robots(max(trip.waited_s or 0.0 for trip in trips))
            moments = tuple(trip.requested_at for trip in trips)
            pace_ms = min(trip.pace_ms for trip in trips)
            self._apply_result(queue, replace(copy, requests=moments, pace_ms=pace_ms))

    async def _is_local_failure(self, queue: DomainQueue, origin: str, error: VisitError | None) -> bool:
        """Whether robots.txt could not be had because of our own network; where there is no error, it works."""
        if self._network is None or queue.pool is not None:
            return False
        if shows_network_works(error):
            self._network.reached(queue.lease.domain_id, f"{origin}/")
        if error is None or not is_network_failure(error):
            return False
        domain = queue.lease.domain_id
        return await self._network.is_ours(domain, f"{origin}/", error, is_known=queue.has_pages)

    @asynccontextmanager
    async def _turn(
        self, queue: DomainQueue, origin: str, trips: list[RequestTiming]
    ) -> AsyncIterator[Callable[[], None]]:
        address = await self._wait_unless_lost(queue, self._acquire_slot(queue, origin))
        via = queue.pool.take(clock.monotonic()) if queue.pool else None
        trip = RequestTiming(queue.pace, self._tools.database_time, partial(self._note_sent, queue, address), via)
        trips.append(trip)
        queue.pace.start(clock.monotonic())
        try:
            yield trip.sent
        finally:
            trip.ended()
            queue.pace.finish(has_left=trip.has_left)
            self._addresses.finish(address, has_left=trip.has_left)

    async def _wait_unless_lost(self, queue: DomainQueue, waiting: Coroutine[Any, Any, str | None]) -> str | None:
        """A turn may be long in coming; nobody waits for it at a stop, nor when the lease ends."""
        turn = asyncio.create_task(waiting)
        try:
            while not turn.done():
                if self._stop.asked or queue.closing or queue.is_lost:
                    raise _DeferredError
                await asyncio.wait({turn}, timeout=LOOK_EVERY_S)
            return turn.result()
        finally:
            turn.cancel()

    async def _acquire_slot(self, queue: DomainQueue, origin: str) -> str | None:
        """Until domain and address may both be asked; answers the address, where a request counts as started."""
        address = await self._addresses.find(queue, origin)
        while True:
            while wait_s := queue.pace.wait_s(now := clock.monotonic()):
                if wait_s > self._order.longest_wait_s:
                    queue.close(defer(queue, now, self._tools.database_time(now)))
                    raise _DeferredError
                await asyncio.sleep(wait_s + clock.TIMER_GRAIN_S)
            await self._addresses.turn(address, ("robots", queue.lease.domain_id))
            if not queue.pace.wait_s(clock.monotonic()):
                return address
            self._addresses.finish(address, has_left=False)

    def _apply_result(self, queue: DomainQueue, copy: RobotsCopy) -> None:
        if queue.is_lost:
            return
        if copy.error is None:
            queue.robots_breaker.succeed()
            self._apply_rules(queue, copy)
            self._keep(self._trust(queue, copy))
        else:
            self._keep(copy)
            queue.pace.hold(clock.monotonic(), copy.silence_s)
            for _ in range(ROBOTS_TRIES):
                queue.robots_breaker.fail(clock.monotonic())
            self._mark_unreachable(queue, copy)

    def apply_cached(self, queue: DomainQueue, copy: RobotsCopy) -> None:
        """What was asked for under an earlier lease, whose holder has written down how long to wait."""
        self._apply_rules(queue, copy, counted_s=queue.lease.pace_delay_s - queue.lease.pace_extra_s)

    def _apply_rules(self, queue: DomainQueue, copy: RobotsCopy, *, counted_s: float = 0.0) -> None:
        rules = robots.parse(copy.text or "").rules_for(self._order.robots_agent)
        queue.rules[copy.origin] = rules
        queue.rules_until[copy.origin] = clock.monotonic() + copy.ttl_s
        if rules.crawl_delay_s and not queue.is_unpaced:
            queue.pace.increase_delay(rules.crawl_delay_s, counted_s=counted_s)
        if rules.denies_all and len(queue.rules) == 1 and queue.targets:
            self._reject_all(queue)

    def _trust(self, queue: DomainQueue, copy: RobotsCopy) -> RobotsCopy:
        """For long enough: at a slow pace asking again would take every turn."""
        ttl_s = robots.trusted_s(copy.ttl_s, queue.pace.base_s)
        queue.rules_until[copy.origin] = clock.monotonic() + ttl_s
        return replace(copy, ttl_s=ttl_s)

    def _reject_all(self, queue: DomainQueue) -> None:
        """robots.txt forbids everything: what was claimed closes as refused, the domain is blocked for 90 days."""
        reason = "robots.txt forbids everything"
        for target in queue.targets:
            self._end_task(queue, Outcome(target, OutcomeKind.BLOCKED_ROBOTS, error=RobotsDeniedError(reason)))
        rest_s = self._order.cooldowns["robots_denied"]
        queue.close(Release(queue.lease, 0.0, rest_s, status="blocked", reason_code="robots_denied", reason=reason))

    def _mark_unreachable(self, queue: DomainQueue, copy: RobotsCopy) -> None:
        """No robots.txt, no requests (RFC 9309). A domain that answers at another origin goes on there; else one task
        says why, and the rest waits an hour, or as long as a Retry-After says."""
        kind: type[SkippedError] = InsecureError if copy.is_insecure else RobotsUnreachableError
        error = kind(f"{copy.origin}/robots.txt could not be had: {copy.error}")
        if any(not isinstance(known, SkippedError) for known in queue.rules.values()):
            queue.rules[copy.origin] = error
            queue.rules_until[copy.origin] = clock.monotonic() + copy.ttl_s
            return
        if queue.targets:
            self._end_task(queue, Outcome(queue.targets.popleft(), OutcomeKind.FAILED, error=error))
        rest_s = copy.ttl_s
        queue.close(Release(queue.lease, 0.0, rest_s, status="unreachable", reason_code=error.code, reason=str(error)))
