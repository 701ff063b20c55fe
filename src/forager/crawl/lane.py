"""One leased domain in a worker's memory: what is to be visited, at which pace, under which rules.

A lane decides which target may leave when. It starts no request and writes nothing.

    open ──(nothing left, site asked for rest, robots denies all)──> closing ──(all recorded)──> released
      └──────────────(another worker has the domain now)──────────> lost
"""

import heapq
from collections import deque
from collections.abc import Iterable

from forager.domains.store import Release
from forager.errors import RefusedError
from forager.politeness.pace import Pace
from forager.politeness.robots import Rules
from forager.records import Lease, Target

SECONDS_AHEAD = 10.0
MOST_AHEAD = 128


class Lane:
    def __init__(self, lease: Lease, pace: Pace, *, is_unpaced: bool, lease_until: float) -> None:
        self.lease = lease
        self.is_unpaced = is_unpaced
        self.pace = pace
        self.lease_until = lease_until
        """On the monotonic clock, a little before the database's: no request leaves after it."""
        self.rules: dict[str, Rules | RefusedError] = {}
        self.rules_until: dict[str, float] = {}
        """When robots.txt is to be asked for again: a lease may be renewed for days."""
        """What we may ask of each origin; an error, where the guard forbids it or its robots.txt could not be had."""
        self.targets: deque[Target] = deque()
        self.tries: dict[int, int] = {}
        """Task → requests made for it."""
        self.unrecorded = 0
        """Outcomes that are not yet in the database."""
        self.unreachable_in_a_row = 0
        self.is_asking_robots = False
        self.is_refilling = False
        self.is_dry = False
        """The last claim brought less than asked; only what is recorded from now on can bring more."""
        self.is_lost = False
        self.closing: Release | None = None
        self._delayed: list[tuple[float, int, Target]] = []

    @property
    def wanted(self) -> int:
        """How many targets to hold ready: some seconds' worth. A slow site locks few, a fast one never starves."""
        if not self.pace.delay_s:
            return MOST_AHEAD
        return max(2, min(MOST_AHEAD, int(SECONDS_AHEAD / self.pace.delay_s) + 1))

    @property
    def is_hungry(self) -> bool:
        if self.closing or self.is_lost or self.is_dry or self.is_refilling:
            return False
        return len(self.targets) * 2 <= self.wanted

    @property
    def is_quiet(self) -> bool:
        """Nothing is under way: no request, no retry, no unwritten outcome."""
        return not (
            self.pace.in_flight or self.unrecorded or self.is_asking_robots or self.is_refilling or self._delayed
        )

    @property
    def is_over(self) -> bool:
        """Whether the lease may be handed back."""
        return self.is_quiet and (self.closing is not None or (self.is_dry and not self.targets))

    def take(self, targets: Iterable[Target]) -> None:
        self.targets.extend(targets)

    def next_target(self, now: float) -> Target | None:
        """The next one to leave: a retry that is due comes first."""
        if self._delayed and self._delayed[0][0] <= now:
            return heapq.heappop(self._delayed)[2]
        return self.targets.popleft() if self.targets else None

    def put_back(self, target: Target) -> None:
        self.targets.appendleft(target)

    def delay(self, target: Target, until: float) -> None:
        heapq.heappush(self._delayed, (until, target.task_id, target))

    def wakes_at(self) -> float | None:
        """When something may leave again without anybody telling: the pace, or the next retry."""
        if self.pace.in_flight >= self.pace.max_in_flight:
            return None
        if self.targets:
            return self.pace.next_at
        return max(self.pace.next_at, self._delayed[0][0]) if self._delayed else None

    def close(self, release: Release) -> None:
        """No new request; the lease goes back when everything is recorded. What was waiting stays a task."""
        self.closing = release
        self.targets.clear()
        self._delayed.clear()

    def lose(self) -> None:
        self.is_lost = True
        self.targets.clear()
        self._delayed.clear()
