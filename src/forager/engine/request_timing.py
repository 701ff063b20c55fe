"""One request from its start to its answer: when it left, under which pace, and how long the server took.

A request starts, dials, and leaves. The pace counts from the moment it leaves; one that never left counts from its
start, because the server that was dialled noticed it.
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
        """The distance in force: the next one comes no earlier. If it grew while this one dialled, others may have been
        started under the one before."""
        self.waited_s: float | None = None
        """From its leaving to the end of its answer, or until the wait was given up; None if it never left."""

    @property
    def has_left(self) -> bool:
        return self._sent_at is not None

    def sent(self) -> None:
        """Called by the client in the moment the bytes leave; what it raises keeps them from leaving. One look at the
        clock for the pace and for the record: on a busy machine a second look may come a tenth of a second later."""
        self.check_wanted()
        now = clock.monotonic()
        self._leave(now)
        self._sent_at = now
        self.requested_at = self._database_clock.at(now)
        self.pace_ms = min(self.pace_ms, round(self._pace.delay_s * 1000))

    def _leave(self, now: float) -> None:
        """Lets the pace count from now; on a connection that was dead a request leaves twice."""
        self._pace.leave(now, again=self.has_left)

    def check_wanted(self) -> None:
        """Called between two steps of a visit: before the request, after the answer, after the parsing. Raises
        CalledOffError where the task is not wanted any more."""

    def ended(self) -> None:
        """The answer is there, or there will be none."""
        if self._sent_at is not None and self.waited_s is None:
            self.waited_s = clock.monotonic() - self._sent_at


class LeasedRequest(RequestTiming):
    """A request to a leased domain: leaves only under its lease, and counts for the server it is on."""

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
