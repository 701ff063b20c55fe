"""Decides which domain may open a request when a worker's request slots run short: slow sites get few.

Pure apart from its counters. While slots are plentiful, every domain may open requests. When they are scarce, a domain
that is not fast has at most one open request. One eighth of all slots is reserved for fast domains, so that hundreds of
slow servers cannot block the others, and one eighth each for slow domains and for sites that were never requested, so
that neither starve. These two shares are separate: behind hundreds of slow servers a new site had waited for 50 s.
"""

from collections import deque
from enum import Enum

PROMPT_S = 2.0
"""A site is fast if its last response took no longer, and if no request to it is open for longer now."""
FEWEST_IN_A_CROWD = 16
MOST_NEW_IN_A_ROW = 3
"""Number of new sites admitted in a row while slow ones wait."""


class Wait(Enum):
    """What a domain waits for that may not open a request."""

    ANY = "any slot"
    NEW = "a slot that is not kept for prompt domains, for the first page of a site"
    OPEN_TO_ALL = "a slot that is not kept for prompt domains"
    NO_CROWD = "the end of the crowd, or of its own open request"


class DomainShare:
    """The open requests of one domain, and whether it is fast."""

    __slots__ = ("_opened_at", "_took_s")

    def __init__(self, took_s: float | None = None) -> None:
        """`took_s`: its usual response time, if known."""
        self._opened_at: list[float] = []
        self._took_s = took_s

    @property
    def open(self) -> int:
        return len(self._opened_at)

    @property
    def is_new(self) -> bool:
        """Returns whether its response time is still unknown."""
        return self._took_s is None

    def note_robots(self, took_s: float) -> None:
        """Marks a site as slow if its robots.txt took long; a fast robots.txt proves nothing."""
        if self._took_s is None and took_s > PROMPT_S:
            self._took_s = took_s

    def is_prompt(self, now: float) -> bool:
        if self._took_s is None or self._took_s > PROMPT_S:
            return False
        return not self._opened_at or now - self._opened_at[0] <= PROMPT_S

    def enter(self, now: float) -> None:
        self._opened_at.append(now)

    def leave(self, opened_at: float, took_s: float) -> None:
        self._opened_at.remove(opened_at)
        self._took_s = took_s


class Share(Enum):
    """The share of all slots that an open request counts towards."""

    PROMPT = "prompt"
    NEW = "new"
    SLOW = "slow"


class Slot:
    """One open request."""

    __slots__ = ("domain", "opened_at", "share")

    def __init__(self, domain: DomainShare, opened_at: float, share: Share) -> None:
        self.domain = domain
        self.opened_at = opened_at
        self.share = share


class RequestSlots:
    def __init__(self, most: int) -> None:
        self._most = most
        self._crowd = min(most, max(FEWEST_IN_A_CROWD, most // 2))
        self._kept = most // 8
        self.taken = 0
        self._taken_by = dict.fromkeys(Share, 0)
        self._young: deque[Slot] = deque()
        """First requests of new sites, the oldest first; one that is open for long belongs to a slow site."""
        self._new_in_a_row = 0

    @property
    def has_any(self) -> bool:
        return self.taken < self._most

    @property
    def is_at_limit(self) -> bool:
        return self.taken >= self._crowd

    @property
    def _new_or_slow(self) -> int:
        return self._taken_by[Share.NEW] + self._taken_by[Share.SLOW]

    def has_priority(self, share: Share) -> bool:
        """Returns whether a slot is free and this share comes first: slow sites if they and new ones together use less
        than an eighth, new sites if they alone use less than an eighth and the eighth of fast domains stays free."""
        if share is Share.NEW:
            has_less = self._taken_by[share] < self._kept and self._new_or_slow < self._most - self._kept
        else:
            has_less = self._new_or_slow < self._kept
        return has_less and self.has_any

    def is_open_to(self, share: Share) -> bool:
        """Returns whether a domain that is not fast and has no open request may open one. Slow domains also leave an
        eighth for new ones."""
        left = self._kept if share is Share.NEW else 2 * self._kept
        return self.taken < max(self._crowd, self._most - left) or self.has_priority(share)

    def why_wait(self, domain: DomainShare, now: float) -> Wait | None:
        """Returns what the domain has to wait for; None: it may open a request now."""
        if self.taken < self._crowd:
            return None
        if self._crowd == self._most:  # too few slots to reserve any: first come, first served
            return Wait.ANY
        if domain.is_prompt(now):
            return None if self.has_any else Wait.ANY
        if domain.open:
            return Wait.NO_CROWD
        self._expire_new(now)
        share = Share.NEW if domain.is_new else Share.SLOW
        return None if self.is_open_to(share) else self.get_wait_queue(domain, now)

    def get_wait_queue(self, domain: DomainShare, now: float) -> Wait:
        """Returns the wait queue of a domain that has no open request."""
        if self._crowd == self._most or domain.is_prompt(now):
            return Wait.ANY
        return Wait.NEW if domain.is_new else Wait.OPEN_TO_ALL

    def list_wait_queues(self, now: float) -> tuple[tuple[Wait, bool], ...]:
        """Returns the wait queues in order of priority, each with whether it may be served; queues below their share
        come first."""
        self._expire_new(now)
        unproven = ((Wait.NEW, Share.NEW), (Wait.OPEN_TO_ALL, Share.SLOW))
        if self._new_in_a_row >= MOST_NEW_IN_A_ROW:
            unproven = (unproven[1], unproven[0])
        return (
            *((wait, self.has_priority(share)) for wait, share in unproven),
            (Wait.ANY, self.has_any),
            *((wait, self.is_open_to(share)) for wait, share in unproven),
            (Wait.NO_CROWD, not self.is_at_limit),
        )

    def record_granted(self, wait: Wait) -> None:
        """Records that a domain from this wait queue was admitted."""
        if wait is Wait.NEW:
            self._new_in_a_row += 1
        elif wait is Wait.OPEN_TO_ALL:
            self._new_in_a_row = 0

    def open(self, domain: DomainShare, now: float) -> Slot:
        share = Share.PROMPT if domain.is_prompt(now) else Share.NEW if domain.is_new else Share.SLOW
        slot = Slot(domain, now, share)
        domain.enter(now)
        self.taken += 1
        self._taken_by[share] += 1
        if share is Share.NEW:
            self._young.append(slot)
        return slot

    def close(self, slot: Slot, took_s: float) -> None:
        """`took_s`: how long its site took to respond."""
        slot.domain.leave(slot.opened_at, took_s)
        self.taken -= 1
        self._taken_by[slot.share] -= 1
        if slot.share is Share.NEW:
            self._young.remove(slot)

    def _expire_new(self, now: float) -> None:
        """Reassigns slots of new sites to the slow share after two seconds, so that a slow new site cannot hold the
        share of new ones for longer."""
        while self._young and now - self._young[0].opened_at > PROMPT_S:
            slot = self._young.popleft()
            slot.share = Share.SLOW
            self._taken_by[Share.NEW] -= 1
            self._taken_by[Share.SLOW] += 1
