"""The circuit breaker of a domain: pauses requests to a failing server for a minute, then probes it. Pure.

    closed ──(5 failures in a row)──> open ──(60 s)──> half-open ──(2 successes)──> closed
                                       └────────(any failure)───────┘

A failure is a request without a usable response: network error, timeout, 5xx. Any success resets the count. Half-open
allows one request at a time. The breaker is the short pause within a lease; whether a domain is blocked for days
depends on consecutive failed tasks.
"""

from enum import StrEnum

SUCCESSES_TO_CLOSE = 2


class BreakerState(StrEnum):
    """Values of the column `domains.breaker_state`."""

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
        """Consecutive failures."""
        self.successes = 0
        """Successes while half-open."""
        self.opened_at = 0.0
        """On the caller's clock; meaningless while closed."""

    def resume(self, state: str, failures: int, opened_at: float) -> "Breaker":
        """Restores the state that the previous lease holder saved."""
        self.state, self.failures, self.opened_at = BreakerState(state), failures, opened_at
        return self

    def reset(self) -> None:
        """Closes the breaker on an operator's request."""
        self.state, self.failures = BreakerState.CLOSED, 0

    @property
    def is_open(self) -> bool:
        return self.state is BreakerState.OPEN

    @property
    def half_opens_at(self) -> float | None:
        """When the next request may be tried; None unless open."""
        return self.opened_at + self.reset_s if self.is_open else None

    def wait_s(self, now: float) -> float:
        return max(0.0, self.opened_at + self.reset_s - now) if self.is_open else 0.0

    def can_start(self, now: float, in_flight: int) -> bool:
        if self.state is BreakerState.CLOSED:
            return True
        return in_flight == 0 and not self.wait_s(now)

    def start(self, now: float) -> None:
        """Records the start of a request that `can_start` allowed; after the pause, the first one half-opens the
        breaker."""
        if self.is_open and not self.wait_s(now):
            self.state, self.successes = BreakerState.HALF_OPEN, 0

    def succeed(self) -> None:
        """Records a success. Ignored while open: that request was sent earlier, and does not show the server's current
        state."""
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
