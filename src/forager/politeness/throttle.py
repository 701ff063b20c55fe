"""The rate limit of one domain, kept in memory by the lease holder: decides when the next request may be sent.

Pure: reads no clock and makes no request; the caller passes in times and results. Times are from the monotonic clock,
so a change of the system clock causes no burst. Only the wait, the current delay and the server's normal latency are
saved, for the next lease holder. The same class limits an IP address that many hosts share.
"""

import random

LONGEST_RETRY_AFTER_S = 24 * 3600.0
RECENT_WEIGHT = 0.3
NORMAL_WEIGHT = 0.01
"""Half of the normal latency comes from the last 70 responses: a server that stays slow ends up with a slow normal."""
IS_SLOW = 2.0
"""Multiple of the normal latency; latency beyond it increases the delay."""
EXTRA_PER_SLOW_S = 2.0
MOST_EXTRA_S = 30.0
FEW_DOMAINS, MANY_DOMAINS = 20, 100


LEAST_DELAY_S = 0.05
"""Minimum between two requests to one domain, whatever a flag, a setting or the domain's own delay says: only
`politeness.no_delay_hosts` removes the delay."""


def clamp_delay(delay_s: float) -> float:
    """Returns the delay raised to the minimum for a rate-limited host."""
    return max(delay_s, LEAST_DELAY_S)


def first_wait_s(delay_s: float, opened: int, rng: random.Random) -> float:
    """Returns how long a domain waits before its first request: a random part of its delay, if `opened` other domains
    were leased just before. Otherwise all of them would send in the same moment and none for the rest of the delay, for
    as long as they are leased. A few may start at once."""
    share = min(1.0, max(0.0, (opened - FEW_DOMAINS) / (MANY_DOMAINS - FEW_DOMAINS)))
    return rng.uniform(0.0, delay_s * share)


class LatencyTracker:
    """Tracks a server's recent and normal latency, and the extra delay that follows from them."""

    __slots__ = ("_seen", "normal_s", "recent_s")

    def __init__(self, normal_s: float | None = None, extra_s: float = 0.0) -> None:
        """Continues with the values that the previous lease holder saved."""
        self.normal_s = normal_s
        self.recent_s = normal_s
        self._seen = 0 if normal_s is None else round(1 / NORMAL_WEIGHT)
        if normal_s is not None and extra_s > 0:
            self.recent_s = IS_SLOW * normal_s + min(extra_s, MOST_EXTRA_S) / EXTRA_PER_SLOW_S

    def note(self, seconds: float, *, is_good: bool) -> None:
        """Records the latency of a response. A fast error does not show that the server is healthy."""
        if self.normal_s is None or self.recent_s is None:
            if is_good:
                self.normal_s = self.recent_s = seconds
                self._seen = 1
            return
        if not is_good and seconds <= self.recent_s:
            return
        self.recent_s += RECENT_WEIGHT * (seconds - self.recent_s)
        if is_good:
            self._seen += 1
            self.normal_s += max(NORMAL_WEIGHT, 1 / self._seen) * (seconds - self.normal_s)

    @property
    def extra_s(self) -> float:
        if self.normal_s is None or self.recent_s is None:
            return 0.0
        return min(MOST_EXTRA_S, EXTRA_PER_SLOW_S * max(0.0, self.recent_s - IS_SLOW * self.normal_s))


class Throttle:
    """Enforces the delay between sent requests, and a limit on open ones. With a delay of 0, only the limit applies.

    A request starts, connects, and is sent. No other request starts until it is sent: a slow connect must not bring it
    closer to the next one. A request that already started is sent at the delay that applied at its start.
    """

    __slots__ = ("_keeps_others", "_leaving", "base_s", "in_flight", "max_in_flight", "next_at", "tempo")

    def __init__(
        self,
        *,
        delay_s: float,
        max_in_flight: int,
        now: float,
        wait_s: float = 0.0,
        tempo: LatencyTracker | None = None,
    ) -> None:
        self.base_s = delay_s
        """The delay from settings, robots.txt and the operator; the current delay is never lower."""
        self.tempo = tempo
        """None: the server's latency does not change the delay."""
        self.max_in_flight = max_in_flight
        self.in_flight = 0
        self.next_at = now + wait_s
        self._leaving = 0
        """Requests that started and are not sent yet; more than one only while there is no delay."""
        self._keeps_others = False
        """One of them started under a delay: others wait for it, even if the delay has been removed since."""

    @property
    def delay_s(self) -> float:
        """The current delay."""
        return self.base_s if self.tempo is None else self.base_s + self.tempo.extra_s

    @property
    def is_sending(self) -> bool:
        """Whether other requests must wait until a request is sent."""
        return self._leaving > 0 and (self._keeps_others or self.delay_s > 0)

    def wait_s(self, now: float) -> float:
        """Returns the seconds until a request may be sent; 0 if it may be sent now. Ignores the limit on open
        requests."""
        return max(0.0, self.next_at - now)

    @property
    def has_room(self) -> bool:
        """Whether only the delay can prevent the next request from starting."""
        return not self.is_sending and self.in_flight < self.max_in_flight

    def can_start(self, now: float) -> bool:
        return self.has_room and now >= self.next_at

    def start(self, now: float) -> None:
        self.in_flight += 1
        self._leaving += 1
        self._keeps_others |= self.delay_s > 0
        self.next_at = max(self.next_at, now + self.delay_s)

    def leave(self, now: float, again: bool = False) -> None:
        """Records that the request is sent, after connecting and other work: the delay counts from here. A request
        repeated after a dead connection is sent `again`; others still wait for another request that is connecting."""
        if not again:
            self._has_left()
        self.next_at = max(self.next_at, now + self.delay_s)

    def finish(self, *, has_left: bool = True) -> None:
        """Records the end of an open request. If it was never sent, the delay counts from its start."""
        self.in_flight -= 1
        if not has_left:
            self._has_left()

    def _has_left(self) -> None:
        self._leaving = max(0, self._leaving - 1)
        self._keeps_others &= self._leaving > 0

    def hold(self, now: float, seconds: float) -> None:
        """Pauses the whole domain as the site requested (429, 503, Retry-After)."""
        self.next_at = max(self.next_at, now + min(max(seconds, 0.0), LONGEST_RETRY_AFTER_S))

    def increase_delay(self, delay_s: float, *, counted_s: float = 0.0) -> None:
        """Raises the delay as robots.txt asks; never lowers it. The wait after the last request grows too, except for
        the part `counted_s` that the previous lease holder included in its saved wait."""
        if delay_s > self.base_s:
            self.next_at += max(0.0, delay_s - max(self.base_s, counted_s))
            self.base_s = delay_s

    def note(self, seconds: float, *, is_good: bool) -> None:
        """Records the latency of a response. A longer delay counts from the last request; a shorter one from the
        next."""
        if self.tempo is None:
            return
        before_s = self.delay_s
        self.tempo.note(seconds, is_good=is_good)
        self.next_at += max(0.0, self.delay_s - before_s)
