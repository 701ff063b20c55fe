"""Tracks whether the database is available, shared by all callers in one process. Pure; it reads no clock.

Three consecutive failures mark the database as unavailable. The change is reported once, and its recovery once. Callers
keep retrying every few moments: the half-minute pause of a typical circuit breaker is longer than most restarts.

A server whose disk is full executes small statements and fails larger ones, so its failures are not consecutive.
Therefore every transaction that is being retried is also listed, with its reason, until it is committed.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

MOST_FAILURES = 3
LONG_S = 5.0
"""A transaction that is retried for longer marks the database as unavailable. Most restarts finish sooner."""


@dataclass(slots=True, eq=False)
class Wait:
    """A transaction that may have to be retried."""

    _absence: "Absence"
    since: float | None = None
    """Time of the first failed attempt."""
    reason: str = ""
    is_long: bool = False

    def note(self, now: float, reason: str) -> None:
        """Records a failed attempt."""
        self.since = now if self.since is None else self.since
        self.reason = reason
        if not self.is_long and now - self.since >= LONG_S:
            self.is_long = True
            self._absence.add_wait(self)


@dataclass(slots=True)
class Absence:
    failures: int = 0
    """Consecutive failures, over all callers."""
    since: float | None = None
    """Time of the first of these failures."""
    on_change: Callable[[str | None], None] = lambda _reason: None
    """Called with the reason when a transaction has been retried for too long, and with None when none is any more."""
    _long: list[Wait] = field(default_factory=list)

    @property
    def is_known(self) -> bool:
        return self.failures >= MOST_FAILURES

    def note_failure(self, now: float) -> bool:
        """Returns True if this failure marks the database as unavailable."""
        self.since = now if self.since is None else self.since
        self.failures += 1
        return self.failures == MOST_FAILURES

    def record_success(self, now: float) -> float | None:
        """Returns how long the database was unavailable; None if it was available."""
        away_s = now - self.since if self.is_known and self.since is not None else None
        self.failures, self.since = 0, None
        return away_s

    @contextmanager
    def waiting(self) -> Iterator[Wait]:
        """Wraps a transaction from its first attempt to its last."""
        wait = Wait(self)
        try:
            yield wait
        finally:
            if wait.is_long:
                self._long.remove(wait)
                if not self._long:
                    self.on_change(None)

    def add_wait(self, wait: Wait) -> None:
        self._long.append(wait)
        self.on_change(wait.reason)
