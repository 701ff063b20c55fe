"""What robots.txt says about a lane: asked for when it is needed, taken into the lane, and what follows from it.

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
from forager.engine.config import WorkerOrder
from forager.engine.domain_queue import Lane, stand_by
from forager.engine.network_monitor import NetworkWatch, is_network_failure, shows_network_works
from forager.engine.pipeline import Tools
from forager.engine.proxy_pools import TripClient
from forager.engine.request_timing import Trip
from forager.engine.robots_fetch import ROBOTS_TRIES, ask_robots
from forager.engine.stop import StopRequest
from forager.errors import (
    AddressRefusedError,
    ExhaustedError,
    InsecureError,
    LeaseLostError,
    NetworkDownError,
    ProxyError,
    RefusedError,
    RobotsDeniedError,
    RobotsUnreachableError,
    VisitError,
)
from forager.politeness import robots
from forager.politeness.robots import Rules
from forager.records import Outcome, OutcomeKind

EXHAUSTED_HOLD_S = 5.0
"""A machine without a free file is asked again after a while."""
LOOK_EVERY_S = 0.5


class _NoTurnError(Exception):
    """Its turn will not come in this lease."""


class RobotsDesk:
    def __init__(
        self,
        order: WorkerOrder,
        tools: Tools,
        stop: StopRequest,
        addresses: Addresses,
        *,
        note_sent: Callable[[Lane, str | None, float, bool], None],
        give_up: Callable[[Lane, Outcome], None],
        keep: Callable[[RobotsCopy], None],
        network: NetworkWatch | None = None,
    ) -> None:
        self._order = order
        self._tools = tools
        self._stop = stop
        self._addresses = addresses
        self._note_sent = note_sent
        self._give_up = give_up
        self._keep = keep
        self._network = network

    def rules_of(self, lane: Lane, origin: str, now: float) -> Rules | RefusedError | None:
        """None where robots.txt is to be asked for. After three failures nothing is asked for a minute (R246)."""
        rules = lane.rules.get(origin)
        if rules is not None and lane.rules_until.get(origin, now) >= now:
            return rules
        wait_s = lane.robots_breaker.wait_s(now)
        if not wait_s:
            return None
        error = RobotsUnreachableError(f"robots.txt could not be had elsewhere in {lane.lease.domain} a moment ago")
        lane.rules[origin], lane.rules_until[origin] = error, now + wait_s
        return error

    async def ask(self, lane: Lane, origin: str) -> None:
        """Fetch it under the pace of its domain; afterwards the lane has rules, or is closing."""
        trips: list[Trip] = []
        ttl_s = self._order.robots_ttl_s
        client = TripClient(self._tools.client, lane, trips)
        lane.robots_breaker.start(clock.monotonic())
        turn = partial(self._turn, lane, origin, trips)
        is_ours = partial(self._is_ours, lane, origin)
        try:
            copy = await ask_robots(client, lane.lease.domain_id, origin, ttl_s=ttl_s, turn=turn, is_ours=is_ours)
        except AddressRefusedError as refusal:
            refusal.drop_traceback()
            lane.rules[origin] = refusal
            lane.rules_until.pop(origin, None)  # the guard does not change its mind
        except NetworkDownError:
            return  # it is asked for again when our network is back
        except LeaseLostError:
            return  # whoever has the domain now asks for itself
        except ProxyError:
            return  # it is asked for again, through the next one
        except ExhaustedError:
            lane.pace.hold(clock.monotonic(), EXHAUSTED_HOLD_S)  # then it is asked for again
            return
        except _NoTurnError:
            return  # nothing was asked
        else:
            lane.tenant.note_robots(max(trip.waited_s or 0.0 for trip in trips))
            moments = tuple(trip.requested_at for trip in trips)
            pace_ms = min(trip.pace_ms for trip in trips)
            self._take_answer(lane, replace(copy, requests=moments, pace_ms=pace_ms))

    async def _is_ours(self, lane: Lane, origin: str, error: VisitError | None) -> bool:
        """Whether robots.txt could not be had because of our own network; where there is no error, it works."""
        if self._network is None or lane.pool is not None:
            return False
        if shows_network_works(error):
            self._network.reached(lane.lease.domain_id, f"{origin}/")
        if error is None or not is_network_failure(error):
            return False
        domain = lane.lease.domain_id
        return await self._network.is_ours(domain, f"{origin}/", error, is_known=lane.has_pages)

    @asynccontextmanager
    async def _turn(self, lane: Lane, origin: str, trips: list[Trip]) -> AsyncIterator[Callable[[], None]]:
        address = await self._while_wanted(lane, self._wait_for_turn(lane, origin))
        via = lane.pool.take(clock.monotonic()) if lane.pool else None
        trip = Trip(lane.pace, self._tools.database_time, partial(self._note_sent, lane, address), via)
        trips.append(trip)
        lane.pace.start(clock.monotonic())
        try:
            yield trip.sent
        finally:
            trip.ended()
            lane.pace.finish(has_left=trip.has_left)
            self._addresses.finish(address, has_left=trip.has_left)

    async def _while_wanted(self, lane: Lane, waiting: Coroutine[Any, Any, str | None]) -> str | None:
        """A turn may be long in coming; nobody waits for it at a stop, nor when the lease ends."""
        turn = asyncio.create_task(waiting)
        try:
            while not turn.done():
                if self._stop.asked or lane.closing or lane.is_lost:
                    raise _NoTurnError
                await asyncio.wait({turn}, timeout=LOOK_EVERY_S)
            return turn.result()
        finally:
            turn.cancel()

    async def _wait_for_turn(self, lane: Lane, origin: str) -> str | None:
        """Until domain and address may both be asked; answers the address, where a request counts as started."""
        address = await self._addresses.find(lane, origin)
        while True:
            while wait_s := lane.pace.wait_s(now := clock.monotonic()):
                if wait_s > self._order.longest_wait_s:
                    lane.close(stand_by(lane, now, self._tools.database_time(now)))
                    raise _NoTurnError
                await asyncio.sleep(wait_s + clock.TIMER_GRAIN_S)
            await self._addresses.turn(address, ("robots", lane.lease.domain_id))
            if not lane.pace.wait_s(clock.monotonic()):
                return address
            self._addresses.finish(address, has_left=False)

    def _take_answer(self, lane: Lane, copy: RobotsCopy) -> None:
        if lane.is_lost:
            return
        if copy.error is None:
            lane.robots_breaker.succeed()
            self._take_rules(lane, copy)
            self._keep(self._trust(lane, copy))
        else:
            self._keep(copy)
            lane.pace.hold(clock.monotonic(), copy.silence_s)
            for _ in range(ROBOTS_TRIES):
                lane.robots_breaker.fail(clock.monotonic())
            self._stand_off(lane, copy)

    def take_kept(self, lane: Lane, copy: RobotsCopy) -> None:
        """What was asked for under an earlier lease, whose holder has written down how long to wait."""
        self._take_rules(lane, copy, counted_s=lane.lease.pace_delay_s - lane.lease.pace_extra_s)

    def _take_rules(self, lane: Lane, copy: RobotsCopy, *, counted_s: float = 0.0) -> None:
        rules = robots.parse(copy.text or "").rules_for(self._order.robots_agent)
        lane.rules[copy.origin] = rules
        lane.rules_until[copy.origin] = clock.monotonic() + copy.ttl_s
        if rules.crawl_delay_s and not lane.is_unpaced:
            lane.pace.slow_to(rules.crawl_delay_s, counted_s=counted_s)
        if rules.denies_all and len(lane.rules) == 1 and lane.targets:
            self._refuse_all(lane)

    def _trust(self, lane: Lane, copy: RobotsCopy) -> RobotsCopy:
        """For long enough: at a slow pace asking again would take every turn."""
        ttl_s = robots.trusted_s(copy.ttl_s, lane.pace.base_s)
        lane.rules_until[copy.origin] = clock.monotonic() + ttl_s
        return replace(copy, ttl_s=ttl_s)

    def _refuse_all(self, lane: Lane) -> None:
        """robots.txt forbids everything: what was claimed closes as refused, the domain is blocked for 90 days."""
        reason = "robots.txt forbids everything"
        for target in lane.targets:
            self._give_up(lane, Outcome(target, OutcomeKind.BLOCKED_ROBOTS, error=RobotsDeniedError(reason)))
        rest_s = self._order.cooldowns["robots_denied"]
        lane.close(Release(lane.lease, 0.0, rest_s, status="blocked", reason_code="robots_denied", reason=reason))

    def _stand_off(self, lane: Lane, copy: RobotsCopy) -> None:
        """No robots.txt, no requests (RFC 9309). A domain that answers at another origin goes on there; else one task
        says why, and the rest waits an hour, or as long as a Retry-After says."""
        kind: type[RefusedError] = InsecureError if copy.is_insecure else RobotsUnreachableError
        error = kind(f"{copy.origin}/robots.txt could not be had: {copy.error}")
        if any(not isinstance(known, RefusedError) for known in lane.rules.values()):
            lane.rules[copy.origin] = error
            lane.rules_until[copy.origin] = clock.monotonic() + copy.ttl_s
            return
        if lane.targets:
            self._give_up(lane, Outcome(lane.targets.popleft(), OutcomeKind.FAILED, error=error))
        rest_s = copy.ttl_s
        lane.close(Release(lane.lease, 0.0, rest_s, status="unreachable", reason_code=error.code, reason=str(error)))
