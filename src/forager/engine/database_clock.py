"""Estimates the database's time between two queries: every request is stamped with it."""

from datetime import UTC, datetime

from forager import clock


class DatabaseClock:
    """Keeps the offset between the monotonic clock and the database's clock. A response only proves that its time lies
    between query and response. An offset that fits this interval is kept: otherwise a slow response would make the
    clock jump, and two requests would seem closer together than they were."""

    def __init__(self) -> None:
        self._ahead_s = clock.now().timestamp() - clock.monotonic()
        self._has_heard = False

    def update(self, now: datetime, *, asked_at: float, answered_at: float) -> None:
        least_s, most_s = now.timestamp() - answered_at, now.timestamp() - asked_at
        self._ahead_s = min(max(self._ahead_s, least_s), most_s) if self._has_heard else least_s
        self._has_heard = True

    def at(self, moment: float) -> datetime:
        """Returns the database's time at a moment of the monotonic clock."""
        return datetime.fromtimestamp(self._ahead_s + moment, UTC)
