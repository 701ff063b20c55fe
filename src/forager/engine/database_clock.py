"""The database's time, as a worker knows it between two looks: every request is stamped with it."""

from datetime import UTC, datetime

from forager import clock


class DatabaseClock:
    """An answer names a moment between question and answer, no more. What is known already and lies between stays as
    it is: a slow answer would make the clock jump else, and two requests seem nearer to each other than they were."""

    def __init__(self) -> None:
        self._ahead_s = clock.now().timestamp() - clock.monotonic()
        self._has_heard = False

    def update(self, now: datetime, *, asked_at: float, answered_at: float) -> None:
        least_s, most_s = now.timestamp() - answered_at, now.timestamp() - asked_at
        self._ahead_s = min(max(self._ahead_s, least_s), most_s) if self._has_heard else least_s
        self._has_heard = True

    def at(self, moment: float) -> datetime:
        """Its time when ours showed that moment."""
        return datetime.fromtimestamp(self._ahead_s + moment, UTC)
