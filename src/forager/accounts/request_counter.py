"""Counts requests for a rate limit: a sliding window with a resolution of a second. Pure.

A process knows the requests it has accepted, and the total of all processes as of the last synchronization. It accepts
a twentieth of the limit on its own and then synchronizes before it continues; as many again may be in transit to the
other processes. So one process accepts the limit and no more, and n processes accept at most

    limit + n · (a tenth of the limit, at least two)

in any window, however requests fall between two synchronizations. Rejected requests do not count: a client that keeps
sending is accepted again as early as one that waits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

WINDOW_S = 60
SHARE = 20


@dataclass(slots=True)
class RequestCounter:
    """The requests of one subject in one process."""

    known: dict[int, int] = field(default_factory=dict)
    """Second → requests of all processes, as of the last synchronization."""
    own: dict[int, int] = field(default_factory=dict)
    """Second → requests of this process since then."""
    _summed: tuple[int, int] = (-1, 0)
    """The second, and the sum of `known` in its window: cached because a thousand requests a second need it."""

    def count(self, second: int) -> int:
        oldest = second - WINDOW_S
        if self._summed[0] != second:
            self._summed = second, sum(n for at, n in self.known.items() if at >= oldest)
        return self._summed[1] + sum(n for at, n in self.own.items() if at >= oldest)

    def wait_s(self, second: int, limit: int) -> int:
        """Returns the seconds until the next request is accepted; 0 if it is accepted now."""
        excess = self.count(second) - limit
        if excess < 0:
            return 0
        oldest = second - WINDOW_S
        for at in sorted({at for at in (*self.known, *self.own) if at >= oldest}):
            excess -= self.known.get(at, 0) + self.own.get(at, 0)
            if excess < 0:
                return at + WINDOW_S + 1 - second
        return WINDOW_S

    def standing(self, second: int, limit: int) -> tuple[int, int]:
        """Returns the number of requests left, and the seconds until it grows."""
        oldest = second - WINDOW_S
        first = min((at for at in (*self.known, *self.own) if at >= oldest), default=second)
        return max(limit - self.count(second), 0), first + WINDOW_S + 1 - second

    def take(self, second: int) -> None:
        self.own[second] = self.own.get(second, 0) + 1

    def needs_sync(self, limit: int) -> bool:
        return sum(self.own.values()) >= share_of(limit)

    def is_idle(self, second: int) -> bool:
        return not self.own and all(at < second - WINDOW_S for at in self.known)

    def take_pending(self) -> dict[int, int]:
        """Returns the counts to send to the other processes, and counts them as known meanwhile."""
        told, self.own, self._summed = self.own, {}, (-1, 0)
        for at, n in told.items():
            self.known[at] = self.known.get(at, 0) + n
        return told

    def restore_pending(self, told: Mapping[int, int]) -> None:
        """Takes the counts back after a failed synchronization."""
        self._summed = (-1, 0)
        for at, n in told.items():
            self.own[at] = self.own.get(at, 0) + n
            self.known[at] = self.known.get(at, 0) - n

    def learn(self, counts: Mapping[int, int]) -> None:
        """Merges the totals of all processes. Keeps a known count that is higher: the shared one may have lost some."""
        oldest = max((*self.known, *counts), default=0) - 2 * WINDOW_S
        kept = {at: n for at, n in self.known.items() if at >= oldest and n > counts.get(at, 0)}
        self.known, self._summed = {**counts, **kept}, (-1, 0)


def share_of(limit: int) -> int:
    """Returns the number of requests that a process accepts before it synchronizes."""
    return max(1, limit // SHARE)
