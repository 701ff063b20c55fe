"""One leased domain in a worker's memory: what is to be visited, at which pace, under which rules.

A queue decides which target may leave when. It starts no request and writes nothing.

    open ──(nothing left, site asked for rest, robots denies all)──> closing ──(all recorded)──> released
      └──────────────(another worker has the domain now)──────────> lost
"""

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from forager import clock
from forager.domains.store import Release, Standing
from forager.engine.failure_streak import FailureStreak
from forager.engine.request_slots import DomainShare
from forager.errors import SkippedError
from forager.frontier.models import Lease, Target, Trouble
from forager.politeness.breaker import Breaker, BreakerState
from forager.politeness.pace import Throttle
from forager.proxies.pool import ProxyPool
from forager.robots.rules import Rules

ROBOTS_FAILURES = 3
ROBOTS_RESET_S = 60.0
SECONDS_AHEAD = 10.0
MOST_AHEAD = 128
UNREACHABLE_COOLDOWNS_S = (300.0, 900.0, 3600.0, 6 * 3600.0, 86400.0, 7 * 86400.0)
"""The setting `cooldown.unreachable` is the longest."""


class DomainQueue:
    has_served: bool = False
    """Whether its server gave a page in this lease: it works, whatever single pages do."""
    wait_reason: str | None = None
    """Why it makes no request for a while, until that is written down for people to see."""

    def __init__(
        self,
        lease: Lease,
        pace: Throttle,
        breaker: Breaker,
        *,
        is_unpaced: bool,
        lease_until: float,
        budget: int | None,
        opened_at: float = 0.0,
    ) -> None:
        self.lease = lease
        self.opened_at = opened_at
        """On the monotonic clock: when the lease began."""
        self.visits = 0
        """Requests for pages that were made under this lease."""
        self.is_unpaced = is_unpaced
        self.pace = pace
        self.breaker = breaker
        self._breaker_resets = lease.breaker_resets
        """The database knows that it is open or half-open; if it says otherwise, an operator closed it."""
        self.robots_breaker = Breaker(most_failures=ROBOTS_FAILURES, reset_s=ROBOTS_RESET_S)
        """Failures of robots.txt in a row, for all origins together; an origin that failed is not asked for an hour."""
        self.tenant = DomainShare(lease.response_s)
        """What it takes of the worker's open requests, and whether it is prompt."""
        self.pool: ProxyPool | None = None
        """Its proxies; None: it is asked directly."""
        self.addresses: dict[str, str | None] = {}
        """Origin → the address it was found at, where addresses have a pace; None: it has none we know."""
        self.lease_until = lease_until
        """On the monotonic clock, a little before the database's: no request leaves after it."""
        self.rules: dict[str, Rules | SkippedError] = {}
        self.rules_until: dict[str, float] = {}
        """When robots.txt is to be asked for again: a lease may be renewed for days."""
        """What we may ask of each origin; an error, where the guard forbids it or its robots.txt could not be had."""
        self.targets: deque[Target] = deque()
        self.tries: dict[int, list[datetime]] = {}
        """Task → when requests were made for it that are to be made again."""
        self.paces: dict[int, int] = {}
        """Task → the smallest distance in force when these were made: what can be promised of each of them."""
        self.unjudged = 0
        """Failed requests of which it is not known yet whether our own network was at fault."""
        self.unrecorded = 0
        """Outcomes that are not yet in the database."""
        self.times_heard = 0
        """How often there was word of pages: a claim that one of them overtook does not know what that was of."""
        self.streak = FailureStreak(lease.error_streak_code, lease.errors_in_a_row)
        self.has_pages = lease.has_pages
        """Whether it ever gave us a page; one that did is not blocked for a single refusal."""
        self.pages_left = budget
        """What is left of the lease's page budget; None: no end."""
        self.is_asking_robots = False
        self.is_locating = False
        self.is_refilling = False
        self.is_dry = False
        """The last claim brought less than asked; only what is written from now on can bring more."""
        self.is_lost = False
        self.closing: Release | None = None
        self.called_off: set[int] = set()
        """Tasks somebody paused or cancelled, until they are put down."""
        self._delayed: list[tuple[float, int, Target]] = []

    @property
    def wanted(self) -> int:
        """How many targets to hold ready: some seconds' worth. A slow site locks few, a fast one never starves; where
        there are none, a few come soon, and the others while these are visited."""
        most = MOST_AHEAD
        if self.pace.delay_s:
            most = max(2, min(MOST_AHEAD, int(SECONDS_AHEAD / self.pace.delay_s) + 1))
        elif not self.targets:
            most = min(MOST_AHEAD, 2 * self.pace.max_in_flight)
        return most if self.pages_left is None else min(most, len(self.targets) + self.pages_left)

    @property
    def is_spent(self) -> bool:
        """The lease's page budget is used up: others come first now."""
        return self.pages_left == 0

    @property
    def is_hungry(self) -> bool:
        if self.closing or self.is_lost or self.is_dry or self.is_refilling or self.is_spent:
            return False
        return len(self.targets) * 2 <= self.wanted

    @property
    def is_quiet(self) -> bool:
        """Nothing is under way: no request, no retry, no unwritten outcome."""
        return not (
            self.pace.in_flight
            or self.unjudged
            or self.unrecorded
            or self.is_asking_robots
            or self.is_refilling
            or self._delayed
        )

    @property
    def is_over(self) -> bool:
        """Whether the lease may be handed back."""
        return self.is_quiet and (self.closing is not None or self.is_exhausted)

    @property
    def is_exhausted(self) -> bool:
        """All it could take is used up, its budget or what there was: whoever waits comes first now. A turn is a turn
        however short: sites that bring each other one page at a time would be claimed again and again else."""
        return (self.is_dry or self.is_spent) and not self.targets

    def has_used(self, budget_s: float, now: float) -> bool:
        """Whether it had its time and at least one visit: at a slow pace the first one may come later."""
        return self.closing is None and self.visits > 0 and now - self.opened_at >= budget_s

    def take(self, targets: Sequence[Target]) -> list[int]:
        """Answers those that somebody called off meanwhile."""
        self.targets.extend(target for target in targets if target.task_id not in self.called_off)
        if self.pages_left is not None:
            self.pages_left = max(0, self.pages_left - len(targets))
        return [target.task_id for target in targets if target.task_id in self.called_off] if self.called_off else []

    def cancel_target(self, task: int) -> bool:
        """Somebody paused or cancelled it: it does not leave any more. False where it was not waiting to: a visit that
        is under way ends at its next step, one that was finished is recorded, one that comes with a claim is left."""
        self.called_off.add(task)
        waiting = len(self.targets) + len(self._delayed)
        self.targets = deque(target for target in self.targets if target.task_id != task)
        self._delayed = [entry for entry in self._delayed if entry[1] != task]
        heapq.heapify(self._delayed)
        return len(self.targets) + len(self._delayed) < waiting

    def next_target(self, now: float) -> Target | None:
        """The next one to leave: a retry that is due comes first."""
        if self._delayed and self._delayed[0][0] <= now:
            return heapq.heappop(self._delayed)[2]
        return self.targets.popleft() if self.targets else None

    def on_new_pages(self) -> None:
        """A batch was written that may have brought it some."""
        self.times_heard += 1
        self.is_dry = False

    def forgive(self) -> None:
        """What looked like trouble of the site was an outage of our own."""
        self.streak = FailureStreak(is_new=True)
        self.breaker.reset()

    def apply_resets(self, resets: int) -> None:
        """How often an operator closed the breaker by hand: once more than we knew of, then it is closed here, too."""
        if resets > self._breaker_resets:
            self._breaker_resets = resets
            self.breaker.reset()

    def can_start(self, now: float) -> bool:
        return self.pace.can_start(now) and self.breaker.can_start(now, self.pace.in_flight)

    def wait_s(self, now: float) -> float:
        """How long until a request may leave, for the pace and for the breaker."""
        return max(self.pace.wait_s(now), self.breaker.wait_s(now))

    def standing(self, now: float) -> Standing:
        """What a successor needs to know."""
        is_closed = self.breaker.state is BreakerState.CLOSED
        return Standing(
            wait_s=self.wait_s(now),
            delay_s=self.pace.delay_s,
            extra_s=self.pace.delay_s - self.pace.base_s,
            response_s=self.pace.tempo.normal_s if self.pace.tempo else None,
            breaker_state=self.breaker.state,
            breaker_failures=self.breaker.failures,
            breaker_open_s=None if is_closed else max(0.0, now - self.breaker.opened_at),
            breaker_resets=self._breaker_resets,
        )

    def put_back(self, target: Target) -> None:
        self.targets.appendleft(target)

    def delay(self, target: Target, until: float) -> None:
        heapq.heappush(self._delayed, (until, target.task_id, target))

    def next_wake_at(self) -> float | None:
        """When something may leave again without anybody telling: the pace, the breaker, or the next retry."""
        if not self.pace.has_room:
            return None
        if self.pace.in_flight and self.breaker.state is not BreakerState.CLOSED:
            return None
        may_at = max(self.pace.next_at, self.breaker.half_opens_at or 0.0)
        if self.targets:
            return may_at
        return max(may_at, self._delayed[0][0]) if self._delayed else None

    def close(self, release: Release) -> None:
        """No new request; the lease goes back when everything is recorded. What was waiting stays a task."""
        self.closing = release
        self.targets.clear()
        self._delayed.clear()

    def lose(self) -> None:
        self.is_lost = True
        self.targets.clear()
        self._delayed.clear()


def defer(queue: DomainQueue, now: float, database_now: datetime) -> Release:
    """Its next turn is later than anybody waits for. It comes all the same: the pace is written down, and whoever has
    the domain then goes on."""
    wait_s = queue.wait_s(now)
    until = database_now + timedelta(seconds=wait_s)
    reason = f"waits until {until:%Y-%m-%d %H:%M:%S} UTC: one request in {queue.pace.delay_s:,.0f} s"
    return Release(queue.lease, wait_s, wait_s, reason=reason)


def block(queue: DomainQueue, cooldowns: Mapping[str, float]) -> Release:
    """The domain is blocked or unreachable, for the trouble it gave last."""
    code = queue.streak.code
    assert code is not None
    status = "unreachable" if code == Trouble.UNREACHABLE else "blocked"
    wait_s = queue.wait_s(clock.monotonic())
    reason_code, reason = queue.streak.reason_code, queue.streak.reason
    rest_s = cooldowns[code]
    if code == Trouble.UNREACHABLE:
        rest_s = unreachable_cooldown_s(queue.lease.unreachable_cooldowns, rest_s)
    return Release(queue.lease, wait_s, rest_s, status=status, reason_code=reason_code, reason=reason)


def unreachable_cooldown_s(earlier: int, longest_s: float) -> float:
    """Returns how long a domain rests that nobody answers for, after so many cooldowns in a row: a server that is being
    restarted is asked again soon, one that is gone rarely."""
    return min(longest_s, UNREACHABLE_COOLDOWNS_S[min(earlier, len(UNREACHABLE_COOLDOWNS_S) - 1)])
