"""How much somebody may ask: a sliding window, counted by the second. Pure.

A process knows what it let through itself, and what all processes together had let through when they last compared. It
lets through a twentieth of the limit on its own, then it compares before it goes on; as much again may be on its way to
the others. So one process lets through the limit and no more, and n processes at most

    limit + n · (a tenth of the limit, at least two)

in any window, however requests fall between two comparings. Refused requests do not count: who is refused and keeps
asking is let through again as early as who waits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

WINDOW_S = 60
SHARE = 20


@dataclass(slots=True)
class RequestCounter:
    """Of one subject, in one process."""

    known: dict[int, int] = field(default_factory=dict)
    """Second → requests, of all processes, as of the last comparing."""
    own: dict[int, int] = field(default_factory=dict)
    """What came here since."""
    _summed: tuple[int, int] = (-1, 0)
    """Of which second, and the sum of what is known then: a thousand requests a second ask for it."""

    def count(self, second: int) -> int:
        oldest = second - WINDOW_S
        if self._summed[0] != second:
            self._summed = second, sum(n for at, n in self.known.items() if at >= oldest)
        return self._summed[1] + sum(n for at, n in self.own.items() if at >= oldest)

    def wait_s(self, second: int, limit: int) -> int:
        """Until one more fits; 0: it does now."""
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
        """How many more may come, and in how many seconds it will be more."""
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
        """What is to be told to the others. It counts on meanwhile as known."""
        told, self.own, self._summed = self.own, {}, (-1, 0)
        for at, n in told.items():
            self.known[at] = self.known.get(at, 0) + n
        return told

    def restore_pending(self, told: Mapping[int, int]) -> None:
        """They could not be told: it stays ours."""
        self._summed = (-1, 0)
        for at, n in told.items():
            self.own[at] = self.own.get(at, 0) + n
            self.known[at] = self.known.get(at, 0) - n

    def learn(self, counts: Mapping[int, int]) -> None:
        """What all let through, as far as whoever tells knows: where he forgot some, we did not."""
        oldest = max((*self.known, *counts), default=0) - 2 * WINDOW_S
        kept = {at: n for at, n in self.known.items() if at >= oldest and n > counts.get(at, 0)}
        self.known, self._summed = {**counts, **kept}, (-1, 0)


def share_of(limit: int) -> int:
    """What a process lets through before it compares."""
    return max(1, limit // SHARE)
