"""Whether the database answers, as all who wait for it in one process know it together. Pure; it reads no clock.

Three failures in a row mean that it is away: that is said once, and once more when it is back. Who waits goes on asking
every few moments: a pause of half a minute, as breakers have it, would be longer than most restarts.

A server whose disk is full answers small statements and fails larger ones, so that failures are not in a row. So every
transaction that is tried again is on a list as well, with its reason, until it is committed.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

MOST_FAILURES = 3
LONG_S = 5.0
"""A transaction that is tried again for longer makes the database unavailable. Most restarts are over by then."""


@dataclass(slots=True, eq=False)
class Wait:
    """One transaction that may have to be tried again."""

    _absence: "Absence"
    since: float | None = None
    """When its first try failed."""
    reason: str = ""
    is_long: bool = False

    def note(self, now: float, reason: str) -> None:
        """A try failed."""
        self.since = now if self.since is None else self.since
        self.reason = reason
        if not self.is_long and now - self.since >= LONG_S:
            self.is_long = True
            self._absence.add_wait(self)


@dataclass(slots=True)
class Absence:
    failures: int = 0
    """In a row, of all who tried."""
    since: float | None = None
    """When the first of them was."""
    on_change: Callable[[str | None], None] = lambda _reason: None
    """Called with the reason when a transaction has waited for long, and with None when no one does any more."""
    _long: list[Wait] = field(default_factory=list)

    @property
    def is_known(self) -> bool:
        return self.failures >= MOST_FAILURES

    def note_failure(self, now: float) -> bool:
        """Whether this is the one after which it counts as away."""
        self.since = now if self.since is None else self.since
        self.failures += 1
        return self.failures == MOST_FAILURES

    def record_success(self, now: float) -> float | None:
        """How long it was away, if it was."""
        away_s = now - self.since if self.is_known and self.since is not None else None
        self.failures, self.since = 0, None
        return away_s

    @contextmanager
    def waiting(self) -> Iterator[Wait]:
        """Around a transaction, from its first try to its last."""
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
