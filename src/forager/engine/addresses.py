"""Rate limits per IP address: a thousand hosts on one server are one server. Waiting domains are served in turn.

Counts only the requests of this worker: each worker enforces the limits for itself. Unpaced hosts are not limited here.
"""

import asyncio
from collections.abc import Callable, Hashable
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Protocol

from forager import clock
from forager.engine.config import RequestLimits
from forager.engine.domain_queue import DomainQueue
from forager.politeness.throttle import Throttle

MOST_IDLE = 10_000


class Locator(Protocol):
    async def locate(self, url: str) -> str | None:
        """Returns the address that the host of a URL has."""


class Addresses:
    """Tracks requests per address. The address None is unknown and has no limits."""

    def __init__(self, locator: Locator, limits: RequestLimits) -> None:
        self._locator = locator
        self._delay_s = limits.delay_per_ip_s
        self._most = limits.max_requests_per_ip
        self._paces: dict[str, Throttle] = {}
        self._waiting: dict[str, dict[Hashable, Callable[[], None]]] = {}
        self._alarms: dict[str, asyncio.TimerHandle] = {}

    def limit(self, queue: DomainQueue) -> bool:
        """Returns whether this queue is subject to address limits at all."""
        return not queue.is_unpaced and (bool(self._delay_s) or self._most is not None)

    async def find(self, queue: DomainQueue, origin: str) -> str | None:
        """Returns the address of an origin as first resolved in this lease; None where it is not limited or unknown."""
        if not self.limit(queue):
            return None
        if origin not in queue.addresses:
            address = await self._locator.locate(f"{origin}/")
            queue.save_address(origin, server_of(address) if address else None)
        return queue.addresses[origin]

    def can_start(self, address: str | None, who: Hashable, now: float) -> bool:
        if address is None:
            return True
        first = next(iter(self._waiting.get(address, ())), who)
        return first == who and self._get_throttle(address, now).can_start(now)

    def start(self, address: str | None, who: Hashable, now: float) -> None:
        if address is not None:
            self._get_throttle(address, now).start(now)
            self.forget(address, who)

    def sent(self, address: str | None, now: float, *, again: bool = False) -> None:
        if address is not None:
            self._paces[address].leave(now, again=again)
            self._serve(address)

    def finish(self, address: str | None, *, has_left: bool) -> None:
        if address is not None:
            self._paces[address].finish(has_left=has_left)
            self._serve(address)

    def wait(self, address: str, who: Hashable, wake: Callable[[], None]) -> None:
        """Registers `wake`, which is called when the request may start. It must start at once or it loses its turn.
        Pass a new callable each time."""
        self._waiting.setdefault(address, {})[who] = wake
        self._set_timer(address)

    def forget(self, address: str, who: Hashable) -> None:
        """Removes a waiting request."""
        waiting = self._waiting.get(address, {})
        waiting.pop(who, None)
        if not waiting:
            self._waiting.pop(address, None)

    async def turn(self, address: str | None, who: Hashable) -> None:
        """Returns when the request may start and counts as started; the caller must call `sent` and `finish`
        afterwards."""
        now = clock.monotonic()
        if address is None or self.can_start(address, who, now):
            self.start(address, who, now)
            return
        entered: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def enter() -> None:
            if not entered.done():
                self.start(address, who, clock.monotonic())
                entered.set_result(None)

        self.wait(address, who, enter)
        try:
            await entered
        except asyncio.CancelledError:
            self.forget(address, who)
            if entered.done() and not entered.cancelled():
                self.finish(address, has_left=False)
            raise

    def _serve(self, address: str) -> None:
        while waiting := self._waiting.get(address):
            if not self._paces[address].can_start(clock.monotonic()):
                break
            who, wake = next(iter(waiting.items()))
            wake()
            if self._waiting.get(address, {}).get(who) is wake:
                self.forget(address, who)
        self._set_timer(address)

    def _set_timer(self, address: str) -> None:
        """Sets the timer for requests that wait for a point in time, also if it has passed since. Requests that wait
        for another one to be sent or to finish are served on that event."""
        if address in self._alarms or address not in self._waiting or not self._paces[address].has_room:
            return
        wait_s = self._paces[address].wait_s(clock.monotonic())
        self._alarms[address] = asyncio.get_running_loop().call_later(
            wait_s + clock.TIMER_GRAIN_S, self._on_timer, address
        )

    def _on_timer(self, address: str) -> None:
        del self._alarms[address]
        self._serve(address)

    def _get_throttle(self, address: str, now: float) -> Throttle:
        if address not in self._paces:
            if len(self._paces) >= MOST_IDLE:
                self._evict_idle(now)
            most = self._most if self._most is not None else 1_000_000
            self._paces[address] = Throttle(delay_s=self._delay_s, max_in_flight=most, now=now)
        return self._paces[address]

    def _evict_idle(self, now: float) -> None:
        for address, pace in list(self._paces.items()):
            if not pace.in_flight and not pace.wait_s(now) and address not in self._waiting:
                del self._paces[address]


def server_of(address: str) -> str:
    """Returns what counts as one server: an IPv4 address, or the /64 of an IPv6 address, which belongs to one
    customer."""
    ip = ip_address(address.partition("%")[0])
    if not isinstance(ip, IPv6Address):
        return str(ip)
    return str(ip.ipv4_mapped or ip_network((ip, 64), strict=False))
