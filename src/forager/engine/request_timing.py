"""One request from its start to its response: when it was sent, under which delay, and how long the server took.

A request starts, connects, and is sent. The delay counts from when it is sent; for a request that was never sent it
counts from the start, because the server noticed the connection.
"""

from forager import clock
from forager.engine.addresses import Addresses
from forager.engine.database_clock import DatabaseClock
from forager.engine.domain_queue import DomainQueue
from forager.politeness.throttle import Throttle
from forager.proxies.models import Proxy


class RequestTiming:
    __slots__ = ("_database_clock", "_pace", "_sent_at", "pace_ms", "requested_at", "via", "waited_s")

    def __init__(self, pace: Throttle, database_clock: DatabaseClock, via: Proxy | None = None) -> None:
        self.via = via
        self._pace = pace
        self._database_clock = database_clock
        self._sent_at: float | None = None
        self.requested_at = database_clock.at(clock.monotonic())
        self.pace_ms = round(pace.delay_s * 1000)
        """The delay in force: the next request comes no earlier. If it grew while this one was connecting, others may
        have been started under the previous delay."""
        self.waited_s: float | None = None
        """Seconds from sending to the end of the response or the timeout; None if it was never sent."""

    @property
    def has_left(self) -> bool:
        return self._sent_at is not None

    def sent(self) -> None:
        """Called by the client at the moment the bytes are sent; an exception prevents that. Reads the clock once for
        both the delay and the record: on a busy machine a second read may come a tenth of a second later."""
        self.check_wanted()
        now = clock.monotonic()
        self._leave(now)
        self._sent_at = now
        self.requested_at = self._database_clock.at(now)
        self.pace_ms = min(self.pace_ms, round(self._pace.delay_s * 1000))

    def _leave(self, now: float) -> None:
        """Restarts the delay from now; on a dead connection a request is sent twice."""
        self._pace.leave(now, again=self.has_left)

    def check_wanted(self) -> None:
        """Called between two steps of a visit: before the request, after the response, after parsing. Raises
        CalledOffError if the task was paused or cancelled."""

    def ended(self) -> None:
        """Called when the response is complete, or will not arrive."""
        if self._sent_at is not None and self.waited_s is None:
            self.waited_s = clock.monotonic() - self._sent_at


class LeasedRequest(RequestTiming):
    """A request to a leased domain: it is sent only under the lease, and counts towards the limits of its server."""

    __slots__ = ("_address", "_addresses", "_queue")

    def __init__(
        self,
        queue: DomainQueue,
        database_clock: DatabaseClock,
        addresses: Addresses,
        address: str | None,
        via: Proxy | None,
    ) -> None:
        super().__init__(queue.pace, database_clock, via)
        self._queue = queue
        self._addresses = addresses
        self._address = address

    def _leave(self, now: float) -> None:
        self._queue.record_sent(now, again=self.has_left)
        self._addresses.sent(self._address, now, again=self.has_left)
        if self.via is not None and self._queue.pool is not None:
            self._queue.pool.note_sent(self.via, now)
