"""One request from its start to its answer: when it left, under which pace, and how long the server took.

A request starts, dials, and leaves. The pace counts from the moment it leaves; one that never left counts from its
start, because whoever was dialled heard of it.
"""

from collections.abc import Callable
from datetime import datetime

from forager import clock
from forager.errors import CalledOffError
from forager.politeness.pace import Throttle
from forager.proxies.models import Proxy


class RequestTiming:
    __slots__ = (
        "_database_time", "_may_go_on", "_on_sent", "_pace", "_sent_at", "pace_ms", "requested_at", "via", "waited_s"
    )  # fmt: skip

    def __init__(
        self,
        pace: Throttle,
        database_time: Callable[[float], datetime],
        on_sent: Callable[[float, bool], None] = lambda _now, _again: None,
        via: Proxy | None = None,
        may_go_on: Callable[[], bool] = lambda: True,
    ) -> None:
        """`on_sent` tells whoever keeps the pace, and whether it had left before; `may_go_on` says whether the task is
        still wanted."""
        self._may_go_on = may_go_on
        self.via = via
        self._pace = pace
        self._database_time = database_time
        self._on_sent = on_sent
        self._sent_at: float | None = None
        self.requested_at = database_time(clock.monotonic())
        self.pace_ms = round(pace.delay_s * 1000)
        """The distance in force: the next one comes no earlier. If it grew while this one dialled, others may have been
        started under the one before."""
        self.waited_s: float | None = None
        """From its leaving to the end of its answer, or until nobody waited any more; None if it never left."""

    @property
    def has_left(self) -> bool:
        return self._sent_at is not None

    def sent(self) -> None:
        """Called by the client in the moment the bytes leave; what it raises keeps them from leaving. One look at the
        clock for the pace and for the record: on a busy machine a second look may come a tenth of a second later."""
        self.go_on()
        now = clock.monotonic()
        self._on_sent(now, self.has_left)
        self._sent_at = now
        self.requested_at = self._database_time(now)
        self.pace_ms = min(self.pace_ms, round(self._pace.delay_s * 1000))

    def go_on(self) -> None:
        """Asked between two steps of a visit: before the request, after the answer, after the reading."""
        if not self._may_go_on():
            raise CalledOffError("somebody paused or cancelled it")

    def ended(self) -> None:
        """The answer is there, or there will be none."""
        if self._sent_at is not None and self.waited_s is None:
            self.waited_s = clock.monotonic() - self._sent_at
