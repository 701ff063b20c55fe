"""Whether the database answers, as all who wait for it in one process know it together. Pure; it reads no clock.

Three failures in a row mean that it is away: that is said once, and once more when it is back. Who waits goes on asking
every few moments: a pause of half a minute, as breakers have it, would be longer than most restarts.
"""

from dataclasses import dataclass

MOST_FAILURES = 3


@dataclass(slots=True)
class Absence:
    failures: int = 0
    """In a row, of all who tried."""
    since: float | None = None
    """When the first of them was."""

    @property
    def is_known(self) -> bool:
        return self.failures >= MOST_FAILURES

    def note_failure(self, now: float) -> bool:
        """Whether this is the one after which it counts as away."""
        self.since = now if self.since is None else self.since
        self.failures += 1
        return self.failures == MOST_FAILURES

    def note_answer(self, now: float) -> float | None:
        """How long it was away, if it was."""
        away_s = now - self.since if self.is_known and self.since is not None else None
        self.failures, self.since = 0, None
        return away_s
