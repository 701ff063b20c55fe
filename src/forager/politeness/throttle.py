"""The pace of one domain, kept by its lease holder in memory: when may the next request leave?

Pure but for what it is told: it reads no clock and makes no request. Time is the monotonic clock's, so that a machine
whose clock is set does not burst. Only the wait, the delay in force and the server's usual time are written down, for
a successor. The same class paces an IP address that many hosts share.
"""

import random

LONGEST_RETRY_AFTER_S = 24 * 3600.0
RECENT_WEIGHT = 0.3
NORMAL_WEIGHT = 0.01
"""Half of what is normal was learned from the last 70 answers: a server that stays slow is a slow server in the end."""
IS_SLOW = 2.0
"""Times the normal; what an answer takes beyond that is answered with distance."""
EXTRA_PER_SLOW_S = 2.0
MOST_EXTRA_S = 30.0
FEW_DOMAINS, MANY_DOMAINS = 20, 100


LEAST_DELAY_S = 0.05
"""Between two requests to one domain, whatever a flag, a setting or the domain's own delay says: only
`politeness.no_delay_hosts` takes the pace away."""


def clamp_delay(delay_s: float) -> float:
    """Returns the delay that a host with a pace is asked with."""
    return max(delay_s, LEAST_DELAY_S)


def first_wait_s(delay_s: float, opened: int, rng: random.Random) -> float:
    """Returns how long a domain waits before its first request, a random part of its delay, where `opened` others were
    leased a moment ago: started together, all would be asked in one moment and none for the rest of the delay, for as
    long as they are leased. A few may start at once."""
    share = min(1.0, max(0.0, (opened - FEW_DOMAINS) / (MANY_DOMAINS - FEW_DOMAINS)))
    return rng.uniform(0.0, delay_s * share)


class LatencyTracker:
    """How long a server takes, lately and as a rule, and how much more distance that asks for."""

    __slots__ = ("_seen", "normal_s", "recent_s")

    def __init__(self, normal_s: float | None = None, extra_s: float = 0.0) -> None:
        """A successor goes on with what its predecessor knew."""
        self.normal_s = normal_s
        self.recent_s = normal_s
        self._seen = 0 if normal_s is None else round(1 / NORMAL_WEIGHT)
        if normal_s is not None and extra_s > 0:
            self.recent_s = IS_SLOW * normal_s + min(extra_s, MOST_EXTRA_S) / EXTRA_PER_SLOW_S

    def note(self, seconds: float, *, is_good: bool) -> None:
        """An answer took so long. An error that comes fast does not show that the server is well."""
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
    """Spacing between the moments requests leave, and a cap on open ones. A delay of 0 leaves only the cap.

    A request is started, dials, and leaves. Until it has left nobody else starts: a slow dial must not bring it closer
    to the next one. One that was started already leaves at the distance that was asked for then.
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
        """What settings, robots.txt and the operator want; the delay in force is never below."""
        self.tempo = tempo
        """None: the server's slowness changes nothing."""
        self.max_in_flight = max_in_flight
        self.in_flight = 0
        self.next_at = now + wait_s
        self._leaving = 0
        """Requests that were started and have not left yet; more than one only while there is no delay."""
        self._keeps_others = False
        """One of them was started under a delay: it is waited for, also if the delay is gone by then."""

    @property
    def delay_s(self) -> float:
        """The delay in force."""
        return self.base_s if self.tempo is None else self.base_s + self.tempo.extra_s

    @property
    def is_sending(self) -> bool:
        """Whether others have to wait until a request has left."""
        return self._leaving > 0 and (self._keeps_others or self.delay_s > 0)

    def wait_s(self, now: float) -> float:
        """How long until a request may leave; 0 when it may now. The cap on open requests is not a matter of time."""
        return max(0.0, self.next_at - now)

    @property
    def has_room(self) -> bool:
        """Whether nothing but time keeps the next request from starting."""
        return not self.is_sending and self.in_flight < self.max_in_flight

    def can_start(self, now: float) -> bool:
        return self.has_room and now >= self.next_at

    def start(self, now: float) -> None:
        self.in_flight += 1
        self._leaving += 1
        self._keeps_others |= self.delay_s > 0
        self.next_at = max(self.next_at, now + self.delay_s)

    def leave(self, now: float, again: bool = False) -> None:
        """The request really leaves, after dialling and other busy moments: the distance counts from here. On a
        connection that was dead it leaves `again`, and another that still dials is none the less waited for."""
        if not again:
            self._has_left()
        self.next_at = max(self.next_at, now + self.delay_s)

    def finish(self, *, has_left: bool = True) -> None:
        """An open request ended; one that never left had only started, and the distance counts from there."""
        self.in_flight -= 1
        if not has_left:
            self._has_left()

    def _has_left(self) -> None:
        self._leaving = max(0, self._leaving - 1)
        self._keeps_others &= self._leaving > 0

    def hold(self, now: float, seconds: float) -> None:
        """The site asked for silence (429, 503, Retry-After): the whole domain waits."""
        self.next_at = max(self.next_at, now + min(max(seconds, 0.0), LONGEST_RETRY_AFTER_S))

    def increase_delay(self, delay_s: float, *, counted_s: float = 0.0) -> None:
        """robots.txt may ask for more distance, never for less. The distance to the last request counts too, but for
        what a predecessor `counted` when it wrote down how long to wait."""
        if delay_s > self.base_s:
            self.next_at += max(0.0, delay_s - max(self.base_s, counted_s))
            self.base_s = delay_s

    def note(self, seconds: float, *, is_good: bool) -> None:
        """An answer took so long. More distance counts from the last request on; less, from the next one."""
        if self.tempo is None:
            return
        before_s = self.delay_s
        self.tempo.note(seconds, is_good=is_good)
        self.next_at += max(0.0, self.delay_s - before_s)
