"""The circuit breaker of a domain: a server in trouble is left in peace for a minute, then tried gently. Pure.

    closed ──(5 failures in a row)──> open ──(60 s)──> half-open ──(2 successes)──> closed
                                       └────────(any failure)───────┘

A failure is a request nobody usable answered: network trouble, a time-out, a 5xx. Any success in between starts the
count anew. Half-open lets one request through at a time. It is the short pause of a lease; whether a domain is given up
for days is decided by the errors of whole tasks in a row.
"""

from enum import StrEnum

SUCCESSES_TO_CLOSE = 2


class BreakerState(StrEnum):
    """The values of the column `domains.breaker_state`."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Breaker:
    __slots__ = ("failures", "most_failures", "opened_at", "reset_s", "state", "successes")

    def __init__(self, *, most_failures: int, reset_s: float) -> None:
        self.most_failures = most_failures
        self.reset_s = reset_s
        self.state = BreakerState.CLOSED
        self.failures = 0
        """In a row."""
        self.successes = 0
        """While half-open."""
        self.opened_at = 0.0
        """On the caller's clock; of no meaning while closed."""

    def resume(self, state: str, failures: int, opened_at: float) -> "Breaker":
        """As a predecessor left it."""
        self.state, self.failures, self.opened_at = BreakerState(state), failures, opened_at
        return self

    def reset(self) -> None:
        """An operator knows better."""
        self.state, self.failures = BreakerState.CLOSED, 0

    @property
    def is_open(self) -> bool:
        return self.state is BreakerState.OPEN

    @property
    def half_opens_at(self) -> float | None:
        """When a request may be tried again; None where time is not what it waits for."""
        return self.opened_at + self.reset_s if self.is_open else None

    def wait_s(self, now: float) -> float:
        return max(0.0, self.opened_at + self.reset_s - now) if self.is_open else 0.0

    def can_start(self, now: float, in_flight: int) -> bool:
        if self.state is BreakerState.CLOSED:
            return True
        return in_flight == 0 and not self.wait_s(now)

    def start(self, now: float) -> None:
        """A request starts, as `can_start` allowed; after the pause it is the first one."""
        if self.is_open and not self.wait_s(now):
            self.state, self.successes = BreakerState.HALF_OPEN, 0

    def succeed(self) -> None:
        """What comes back while open had left before, and says nothing about now."""
        if self.is_open:
            return
        self.failures = 0
        self.successes += 1
        if self.state is BreakerState.HALF_OPEN and self.successes >= SUCCESSES_TO_CLOSE:
            self.state = BreakerState.CLOSED

    def fail(self, now: float) -> None:
        if self.is_open:
            return
        self.failures += 1
        if self.state is BreakerState.HALF_OPEN or self.failures >= self.most_failures:
            self.state, self.opened_at = BreakerState.OPEN, now
