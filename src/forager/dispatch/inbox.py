"""Hints on the worker's side: they wait here until it has room, and each is answered for.

    put ──> waiting ──> taken ──> DONE    acknowledged: claimed, or nothing to claim
               │           └────> LATER   back into the queue after a while, for whoever has room
               └── too long, or closed ──> LATER

It also decides when the worker asks the database by itself: while the broker is away, when it is idle and not told of
what is ready, and now and then anyway. Whoever sends hints may be gone, and those of a worker that froze stay in its
hands until the broker gives it up, after 13 s.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from forager import clock
from forager.dispatch.message import CrawlHint
from forager.logs import log

HOLD_S = 1.0
"""A hint that a full worker has in hand for so long goes back: another may have room."""
GRACE_S = 3.0
"""So long a broker may be out of reach before workers do without it."""
PATIENCE_S = 10.0
"""A worker looks for itself once in this time, whatever it hears."""
OVERDUE_S = 3.0
"""An idle one, when something is ready for so long and no hint comes. They are sent every second."""


class MessageReply(Enum):
    DONE = "done"
    LATER = "later"


@dataclass(frozen=True, slots=True)
class Offer:
    key: str
    """Which message it came with."""
    hint: CrawlHint
    arrived_at: float
    is_urgent: bool = False
    """It came by the priority queue."""


class MessageInbox:
    """All of it happens on the worker's event loop."""

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
        """Since when something is ready that we, idle, have not claimed."""

    def tell(self, wake: Callable[[], None]) -> None:
        """Whom to wake when a hint comes."""
        self._stir = wake

    def put(self, key: str, hint: CrawlHint, is_urgent: bool = False) -> None:
        if self._is_closed:  # it was on its way when we stopped to listen
            return self._settle(key, MessageReply.LATER)
        self._waiting.append(Offer(key, hint, clock.monotonic(), is_urgent))
        return self._stir()

    def close(self) -> None:
        """The worker takes nothing more: others get what it has in hand now, and not when its last page is written."""
        self._is_closed = True
        self._stop_listening()
        left, self._waiting = self._waiting, []
        self.settle(left, MessageReply.LATER)

    def take(self, room: int) -> list[Offer]:
        """At most so many, the urgent first. What waited too long because there was no room is handed back."""
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
        """They are somebody else's share: back into the queue, but not at once, since they might come straight here."""
        if offers:
            asyncio.get_running_loop().call_later(HOLD_S, self.settle, offers, MessageReply.LATER)

    def come(self) -> None:
        """The broker answers; what was in hand over an old connection is delivered again."""
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
        """Whether the worker asks the database for domains now, as it does without a queue."""
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
        """Hints led to a lease. Those of others may come all day, and tell an idle worker nothing."""
        self._ready_at = None

    def see(self, *, is_ready: bool) -> None:
        """What an idle worker sees of its run: whether a domain could be claimed now."""
        if not is_ready:
            self._ready_at = None
        elif self._ready_at is None:
            self._ready_at = clock.monotonic()
