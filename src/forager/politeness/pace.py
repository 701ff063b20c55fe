"""The pace of one domain, kept by its lease holder in memory: when may the next request leave?

Pure but for what it is told: it reads no clock and makes no request. Time is the monotonic clock's, so that a machine
whose clock is set does not burst. Only `wait_s` is written down, for a successor.
"""

LONGEST_RETRY_AFTER_S = 24 * 3600.0


class Pace:
    """Spacing between the starts of requests, and a cap on open ones. A delay of 0 leaves only the cap."""

    __slots__ = ("delay_s", "in_flight", "max_in_flight", "next_at")

    def __init__(self, *, delay_s: float, max_in_flight: int, now: float, wait_s: float = 0.0) -> None:
        self.delay_s = delay_s
        self.max_in_flight = max_in_flight
        self.in_flight = 0
        self.next_at = now + wait_s

    def wait_s(self, now: float) -> float:
        """How long until a request may leave; 0 when it may now. The cap on open requests is not a matter of time."""
        return max(0.0, self.next_at - now)

    def may_start(self, now: float) -> bool:
        return self.in_flight < self.max_in_flight and now >= self.next_at

    def start(self, now: float) -> None:
        self.in_flight += 1
        self.next_at = now + self.delay_s

    def leave(self, now: float) -> None:
        """The request really leaves, a busy moment after it was started: the distance counts from here."""
        if self.delay_s:
            self.next_at = max(self.next_at, now + self.delay_s)

    def finish(self) -> None:
        self.in_flight -= 1

    def hold(self, now: float, seconds: float) -> None:
        """The site asked for silence (429, 503, Retry-After): the whole domain waits."""
        self.next_at = max(self.next_at, now + min(max(seconds, 0.0), LONGEST_RETRY_AFTER_S))

    def slow_to(self, delay_s: float) -> None:
        """robots.txt may ask for more distance, never for less. The distance to the last request counts too."""
        if delay_s > self.delay_s:
            self.next_at += delay_s - self.delay_s
            self.delay_s = delay_s
