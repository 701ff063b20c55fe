"""Holds hints in the worker until it has capacity; each one is acknowledged or requeued.

    put ──> waiting ──> taken ──> DONE    acknowledged: claimed, or nothing to claim
               │           └────> LATER   requeued after a delay, for a worker with capacity
               └── too long, or closed ──> LATER

Also decides when the worker polls the database itself: while the broker is unavailable, when the worker is idle and
gets no hint although a domain is ready, and at a regular interval. The sender of hints may be gone, and the hints of a
frozen worker stay with it until the broker drops its connection, after 13 s.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from forager import clock
from forager.dispatch.message import CrawlHint
from forager.logs import log

HOLD_S = 1.0
"""A hint that a full worker has held for this time is requeued: another worker may have capacity."""
GRACE_S = 3.0
"""Time a broker may be unreachable before workers continue without it."""
PATIENCE_S = 10.0
"""Interval at which a worker polls the database, whatever hints it receives."""
OVERDUE_S = 3.0
"""An idle worker polls when a domain has been ready for this time and no hint arrives. Hints are sent every second."""


class MessageReply(Enum):
    DONE = "done"
    LATER = "later"


@dataclass(frozen=True, slots=True)
class Offer:
    key: str
    """Identifies the message that carried it."""
    hint: CrawlHint
    arrived_at: float
    is_urgent: bool = False
    """It came through the priority queue."""


class MessageInbox:
    """Queue of received hints. Used only on the worker's event loop."""

    def __init__(
        self, settle: Callable[[str, MessageReply], None], stop_listening: Callable[[], None] = lambda: None
    ) -> None:
        self._settle = settle
        self._stop_listening = stop_listening
        self._is_closed = False
        self._waiting: list[Offer] = []
        self._stir: Callable[[], None] = lambda: None
        self._is_near = False
        self._is_said = False
        self._gone_at = self._looked_at = clock.monotonic()
        self._ready_at: float | None = None
        """Since when a domain is ready that this idle worker has not claimed."""

    def tell(self, wake: Callable[[], None]) -> None:
        """Sets the callback that is called when a hint arrives."""
        self._stir = wake

    def put(self, key: str, hint: CrawlHint, is_urgent: bool = False) -> None:
        if self._is_closed:  # it was in transit when we stopped consuming
            return self._settle(key, MessageReply.LATER)
        self._waiting.append(Offer(key, hint, clock.monotonic(), is_urgent))
        return self._stir()

    def close(self) -> None:
        """Stops accepting hints and requeues the waiting ones, so that other workers get them now and not when the
        last page of this worker is written."""
        self._is_closed = True
        self._stop_listening()
        left, self._waiting = self._waiting, []
        self.settle(left, MessageReply.LATER)

    def take(self, room: int) -> list[Offer]:
        """Returns up to `room` hints, urgent ones first. Requeues those that waited too long for capacity."""
        self._waiting.sort(key=lambda offer: not offer.is_urgent)
        taken, self._waiting = self._waiting[: max(room, 0)], self._waiting[max(room, 0) :]
        now = clock.monotonic()
        tired = [offer for offer in self._waiting if now - offer.arrived_at >= HOLD_S]
        if tired:
            self._waiting = [offer for offer in self._waiting if now - offer.arrived_at < HOLD_S]
            self.settle(tired, MessageReply.LATER)
        return taken

    def settle(self, offers: Sequence[Offer], verdict: MessageReply) -> None:
        for offer in offers:
            self._settle(offer.key, verdict)

    def hold(self, offers: Sequence[Offer]) -> None:
        """Requeues hints that are other workers' share after a delay, since they might be delivered to this worker
        again at once."""
        if offers:
            asyncio.get_running_loop().call_later(HOLD_S, self.settle, offers, MessageReply.LATER)

    def come(self) -> None:
        """Records that the broker is connected; messages held over an old connection are delivered again."""
        self._is_near = True
        self._looked_at = clock.monotonic()
        if self._is_said:
            self._is_said = False
            log().warning("the broker is back", action="queue.back")

    def go(self) -> None:
        self._waiting.clear()
        if self._is_near:
            self._is_near, self._gone_at = False, clock.monotonic()

    @property
    def is_away(self) -> bool:
        return not self._is_near and clock.monotonic() - self._gone_at >= GRACE_S

    def should_poll(self) -> bool:
        """Returns whether the worker polls the database for domains now, as it does without a queue."""
        if self.is_away:
            if not self._is_said:
                self._is_said = True
                log().warning("the broker is away, domains come from the database alone", action="queue.away")
            return True
        now = clock.monotonic()
        is_overdue = self._ready_at is not None and now - self._ready_at >= OVERDUE_S
        if not is_overdue and now - self._looked_at < PATIENCE_S:
            return False
        self._looked_at, self._ready_at = now, None
        return True

    def succeed(self) -> None:
        """Records that hints led to a lease. Only these count: hints for other workers' domains may arrive all day
        without giving an idle worker anything to do."""
        self._ready_at = None

    def see(self, *, is_ready: bool) -> None:
        """Records what an idle worker sees of its run: whether a domain could be claimed now."""
        if not is_ready:
            self._ready_at = None
        elif self._ready_at is None:
            self._ready_at = clock.monotonic()
