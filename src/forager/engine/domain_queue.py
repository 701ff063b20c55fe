"""One leased domain in a worker's memory: which targets to visit, at which rate, under which rules.

A queue decides which target may be requested when. It starts no request and writes nothing.

    open ──(nothing left, site needs a cooldown, robots denies all)──> closing ──(all recorded)──> released
      └──────────────(another worker has the domain now)──────────> lost
"""

import heapq
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from forager import clock
from forager.domains.sessions import DomainSession
from forager.domains.store import Release, RequestState
from forager.engine import retry_policy
from forager.engine.failure_streak import FailureStreak
from forager.engine.login_state import LoginState
from forager.engine.proxying import ProxyPool
from forager.engine.request_history import RequestHistory
from forager.engine.request_slots import DomainShare
from forager.engine.robots_rules import RobotsRules
from forager.errors import LeaseLostError, StatusError, VisitError
from forager.frontier.models import DomainFailure, Lease, Outcome, Target
from forager.politeness.breaker import Breaker, BreakerState
from forager.politeness.throttle import Throttle

SECONDS_AHEAD = 10.0
MOST_AHEAD = 128
URGENT_AHEAD = 8
"""Targets that are claimed for urgent tasks of a domain that has others waiting."""
UNREACHABLE_COOLDOWNS_S = (300.0, 900.0, 3600.0, 6 * 3600.0, 86400.0, 7 * 86400.0)
"""The setting `cooldown.unreachable` is the upper limit."""


@dataclass(slots=True)
class UrgentTasks:
    """The urgent tasks of one queue."""

    held: set[int] = field(default_factory=set)
    """Those that it took and that are not finished."""
    are_expected: bool = False
    """Some are to be claimed, although enough other targets may be there."""
    since: datetime | None = None
    """Since when those were due that were last expected: one that cannot be claimed is not expected again and again."""


class DomainQueue:
    """Only this module changes a queue; the other modules of the engine read it or call its methods."""

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
        pool: ProxyPool | None = None,
        session: DomainSession | None = None,
        login: LoginState | None = None,
    ) -> None:
        self.lease = lease
        self.opened_at = opened_at
        """Start of the lease on the monotonic clock."""
        self.lease_until = lease_until
        """End of the lease on the monotonic clock, slightly before the database's: no request is sent after it."""
        self.pages_left = budget
        """The rest of the lease's page budget; None: no limit."""
        self.closing: Release | None = None
        self.is_lost = False
        self.wait_reason: str | None = None
        """Why it makes no request for a while; set until that is written to the database."""
        # requests
        self.is_unpaced = is_unpaced
        self.pace, self.breaker = pace, breaker
        self._breaker_resets = lease.breaker_resets
        """How often operators had closed the breaker by hand, as last known; a higher number means that one closed it
        again."""
        self.share = DomainShare(lease.response_s)
        """Its share of the worker's request slots, and whether it is fast."""
        self.pool = pool
        """Its proxy pool; None: it is requested directly."""
        self.addresses: dict[str, str | None] = {}
        """Origin → its resolved address, where addresses are rate limited; None: unknown."""
        self.is_resolving = False
        self.visits = 0
        """Number of page requests made under this lease."""
        # robots.txt
        self.robots = RobotsRules()
        self.is_fetching_robots = False
        # login
        self.session = session or DomainSession()
        self.login = login
        """None: the domain has no login."""
        self.is_logging_in = False
        # targets
        self.targets: deque[Target] = deque()
        self._delayed: list[tuple[float, int, Target]] = []
        self.called_off: set[int] = set()
        """Tasks that an operator paused or cancelled, until they are abandoned."""
        self.is_refilling = False
        self.is_frontier_empty = False
        """The last claim returned fewer targets than requested; only pages enqueued from now on can add more."""
        self._urgent = UrgentTasks()
        self._has_news = False
        """New pages were reported after the last claim began: its result may be out of date."""
        # outcomes
        self.history = RequestHistory()
        self._undiagnosed = 0
        """Number of failed requests for which it is not yet known whether our own network was at fault."""
        self._unrecorded = 0
        """Number of outcomes that are not yet in the database."""
        self.streak = FailureStreak(lease.error_streak_code, lease.errors_in_a_row)
        self.has_pages = lease.has_pages
        """Whether the domain ever returned a page; one that did is not blocked for a single rejection."""
        self._has_served = False
        """Whether its server returned a page in this lease: it works, even if single pages fail."""

    # the lease -----------------------------------------------------------------------------------------------------

    @property
    def is_budget_exhausted(self) -> bool:
        """Returns whether the lease's page budget is used up, so that other domains come first."""
        return self.pages_left == 0

    @property
    def is_quiet(self) -> bool:
        """Returns whether nothing is in flight: no request, no retry, no unwritten outcome."""
        return not (
            self.pace.in_flight
            or self._undiagnosed
            or self._unrecorded
            or self.is_fetching_robots
            or self.is_logging_in
            or self.is_refilling
            or self._delayed
        )

    @property
    def is_over(self) -> bool:
        """Returns whether the lease may be released."""
        return self.is_quiet and (self.closing is not None or self.is_exhausted)

    @property
    def is_exhausted(self) -> bool:
        """Returns whether its budget or frontier is used up, so that waiting domains come first. This applies however
        short the lease was: otherwise sites that add one page to each other at a time would be claimed repeatedly."""
        return (self.is_frontier_empty or self.is_budget_exhausted) and not self.targets

    def has_used(self, budget_s: float, now: float) -> bool:
        """Returns whether it used its time and made at least one visit: at a low rate the first one may come later."""
        return self.closing is None and self.visits > 0 and now - self.opened_at >= budget_s

    def renew(self, until: float, breaker_resets: int) -> None:
        """Extends the lease. `breaker_resets` is how often an operator closed the breaker; if it is higher than the
        known value, the breaker is closed here too."""
        self.lease_until = until
        if breaker_resets > self._breaker_resets:
            self._breaker_resets = breaker_resets
            self.breaker.reset()

    def close(self, release: Release) -> None:
        """Stops new requests; the lease is released when everything is recorded. Waiting targets stay open tasks."""
        self.closing = release
        self._clear_targets()

    def lose(self) -> None:
        self.is_lost = True
        self._clear_targets()

    def _clear_targets(self) -> None:
        self.targets.clear()
        self._urgent.held.clear()
        self._delayed.clear()

    def check_lease(self, now: float) -> None:
        """Raises LeaseLostError if no request may be sent any more."""
        if self.is_lost or now >= self.lease_until:
            raise LeaseLostError("the lease ended before the request left")

    def take_wait_reason(self) -> str | None:
        """Returns, once, why it makes no request for a while."""
        reason, self.wait_reason = self.wait_reason, None
        return reason

    def standing(self, now: float) -> RequestState:
        """Returns the request state that the next lease holder needs."""
        is_closed = self.breaker.state is BreakerState.CLOSED
        return RequestState(
            wait_s=self.wait_s(now),
            delay_s=self.pace.delay_s,
            extra_s=self.pace.delay_s - self.pace.base_s,
            response_s=self.pace.tempo.normal_s if self.pace.tempo else None,
            breaker_state=self.breaker.state,
            breaker_failures=self.breaker.failures,
            breaker_open_s=None if is_closed else max(0.0, now - self.breaker.opened_at),
            breaker_resets=self._breaker_resets,
        )

    # targets -------------------------------------------------------------------------------------------------------

    @property
    def wanted(self) -> int:
        """Returns the number of targets to hold ready: enough for some seconds. A slow site locks few tasks, a fast one
        never runs out. An empty queue first gets a few quickly, and the rest while these are visited."""
        most = MOST_AHEAD
        if self.pace.delay_s:
            most = max(2, min(MOST_AHEAD, int(SECONDS_AHEAD / self.pace.delay_s) + 1))
        elif not self.targets:
            most = min(MOST_AHEAD, 2 * self.pace.max_in_flight)
        return most if self.pages_left is None else min(most, len(self.targets) + self.pages_left)

    @property
    def needs_refill(self) -> bool:
        if self.closing or self.is_lost or self.is_frontier_empty or self.is_refilling or self.is_budget_exhausted:
            return False
        return self._urgent.are_expected or len(self.targets) * 2 <= self.wanted

    def begin_refill(self) -> int:
        """Returns the number of targets to claim."""
        self.is_refilling, self._has_news = True, False
        want = self.wanted - len(self.targets)
        if self._urgent.are_expected:
            self._urgent.are_expected = False
            most = URGENT_AHEAD if self.pages_left is None else min(URGENT_AHEAD, self.pages_left)
            return max(want, most)
        return want

    def expect_urgent(self, since: datetime) -> bool:
        """Has urgent tasks, due `since`, claimed at once. Returns False if these were expected before."""
        if self.closing or since == self._urgent.since:
            return False
        self._urgent.since, self._urgent.are_expected = since, True
        self.add_new_pages()
        return True

    @property
    def has_urgent(self) -> bool:
        """Returns whether it holds urgent tasks that are not finished, or is about to."""
        return bool(self._urgent.held) or self._urgent.are_expected

    def end_refill(self, targets: Sequence[Target], *, is_short: bool) -> list[int]:
        """Adds the claimed targets; `is_short` means fewer than requested. Returns the tasks that an operator cancelled
        meanwhile."""
        self.is_refilling = False
        self.is_frontier_empty = is_short and not self._has_news
        return self.take(targets)

    def take(self, targets: Sequence[Target]) -> list[int]:
        """Adds targets, urgent ones before the others. Returns the tasks among them that an operator cancelled
        meanwhile."""
        wanted = [target for target in targets if target.task_id not in self.called_off]
        urgent = [target for target in wanted if target.is_urgent]
        self._urgent.held.update(target.task_id for target in urgent)
        self.targets.extendleft(reversed(urgent))
        self.targets.extend(target for target in wanted if not target.is_urgent)
        if self.pages_left is not None:
            self.pages_left = max(0, self.pages_left - len(targets))
        return [target.task_id for target in targets if target.task_id in self.called_off] if self.called_off else []

    def add_new_pages(self) -> None:
        """Called when a batch was written that may contain new pages of this domain."""
        self._has_news = True
        self.is_frontier_empty = False

    def next_target(self, now: float) -> Target | None:
        """Returns the next target to request: a retry that is due comes first."""
        if self._delayed and self._delayed[0][0] <= now:
            return heapq.heappop(self._delayed)[2]
        return self.targets.popleft() if self.targets else None

    def pop_target(self) -> Target:
        """Removes and returns the next target that is not a retry."""
        return self.targets.popleft()

    def put_back(self, target: Target) -> None:
        self.targets.appendleft(target)

    def put_last(self, target: Target) -> None:
        self.targets.append(target)

    def delay(self, target: Target, until: float) -> None:
        heapq.heappush(self._delayed, (until, target.task_id, target))

    def cancel_target(self, task: int) -> bool:
        """Removes a target that an operator paused or cancelled. Returns False if it was not waiting: a visit in
        progress ends at its next step, a finished one is recorded, and one that arrives with a claim is skipped."""
        self.called_off.add(task)
        self._urgent.held.discard(task)
        waiting = len(self.targets) + len(self._delayed)
        self.targets = deque(target for target in self.targets if target.task_id != task)
        self._delayed = [entry for entry in self._delayed if entry[1] != task]
        heapq.heapify(self._delayed)
        return len(self.targets) + len(self._delayed) < waiting

    def remove_cancelled(self, task: int) -> None:
        """Called when the database has recorded that the task was abandoned."""
        self.called_off.discard(task)

    # requests ------------------------------------------------------------------------------------------------------

    @property
    def is_ready(self) -> bool:
        """Returns whether only the delay and the breaker keep the next request from starting."""
        is_busy = self.is_fetching_robots or self.is_logging_in or self.is_resolving
        return not (self.is_lost or self.closing or is_busy)

    def can_start(self, now: float) -> bool:
        return self.pace.can_start(now) and self.breaker.can_start(now, self.pace.in_flight)

    def wait_s(self, now: float) -> float:
        """Returns the seconds until a request may be sent, by delay and breaker."""
        return max(self.pace.wait_s(now), self.breaker.wait_s(now))

    def next_wake_at(self) -> float | None:
        """Returns when a request may be sent without a further event: by delay, breaker, or the next retry."""
        if not self.pace.has_room:
            return None
        if self.pace.in_flight and self.breaker.state is not BreakerState.CLOSED:
            return None
        may_at = max(self.pace.next_at, self.breaker.half_opens_at or 0.0)
        if self.targets:
            return may_at
        return max(may_at, self._delayed[0][0]) if self._delayed else None

    def start_visit(self, now: float) -> None:
        self.pace.start(now)
        self.breaker.start(now)

    def start_robots_request(self, now: float) -> None:
        self.pace.start(now)

    def record_sent(self, now: float, *, again: bool) -> None:
        """Records that a request is being sent; raises LeaseLostError if the lease ended while it was connecting."""
        self.check_lease(now)
        self.pace.leave(now, again=again)

    def finish_visit(self, *, has_left: bool) -> None:
        self.pace.finish(has_left=has_left)
        self.visits += 1

    def finish_robots_request(self, *, has_left: bool) -> None:
        self.pace.finish(has_left=has_left)

    def hold(self, now: float, seconds: float, reason: str | None = None) -> None:
        """Pauses the whole domain; a given reason is written to the database."""
        self.pace.hold(now, seconds)
        if reason is not None:
            self.wait_reason = reason

    def increase_delay(self, delay_s: float, *, counted_s: float) -> None:
        """Applies a longer delay that robots.txt asks for."""
        if not self.is_unpaced:
            self.pace.increase_delay(delay_s, counted_s=counted_s)

    def set_pool(self, pool: ProxyPool | None) -> None:
        self.pool = pool

    def begin_resolving(self) -> None:
        self.is_resolving = True

    def end_resolving(self) -> None:
        self.is_resolving = False

    def save_address(self, origin: str, address: str | None) -> None:
        self.addresses[origin] = address

    # robots.txt ----------------------------------------------------------------------------------------------------

    def begin_robots_fetch(self) -> None:
        self.is_fetching_robots = True

    def end_robots_fetch(self) -> None:
        self.is_fetching_robots = False

    # login ---------------------------------------------------------------------------------------------------------

    @property
    def needs_login(self) -> bool:
        return self.login is not None and not self.login.is_logged_in

    def begin_login(self) -> None:
        self.is_logging_in = True

    def end_login(self) -> None:
        self.is_logging_in = False

    # outcomes ------------------------------------------------------------------------------------------------------

    @contextmanager
    def diagnosing(self) -> Iterator[None]:
        """Wraps the check whether our own network is at fault: until it ends, the queue is not over."""
        self._undiagnosed += 1
        try:
            yield
        finally:
            self._undiagnosed -= 1

    def update_health(self, outcome: Outcome, now: float) -> None:
        """Updates the breaker and the adaptive delay from a request. If the server returned pages, a page that failed
        before and fails again says nothing new about it: three broken pages must not delay the others."""
        is_failure = retry_policy.is_failure(outcome.error)
        self._has_served |= outcome.error is None
        is_repeated = isinstance(outcome.error, StatusError) and outcome.target.task_id in self.history
        if is_failure and not (is_repeated and self._has_served):
            self.breaker.fail(now)
            if self.breaker.is_open:
                self.wait_reason = self.breaker_reason(outcome.error)
        elif is_failure is False:
            self.breaker.succeed()
        if outcome.waited_s is not None:
            self.pace.note(outcome.waited_s, is_good=outcome.error is None)

    def breaker_reason(self, error: VisitError | None) -> str:
        return f"{self.breaker.failures} requests in a row failed, the last one because {error}"

    def end_task(self, outcome: Outcome) -> None:
        """Updates the failure streak, and whether the domain has pages, from the outcome that ended a task."""
        self._urgent.held.discard(outcome.target.task_id)
        self.streak.note(outcome)
        self.has_pages |= outcome.error is None and outcome.trouble is None

    def forgive(self) -> None:
        """Clears failures that were caused by an outage of our own."""
        self.streak = FailureStreak(is_new=True)
        self.breaker.reset()

    def add_unrecorded(self) -> None:
        """Counts an outcome that was passed to the writer."""
        self._unrecorded += 1

    def remove_unrecorded(self, outcomes: int) -> None:
        """Called when the writer has recorded outcomes."""
        self._unrecorded -= outcomes


def defer(queue: DomainQueue, now: float, database_now: datetime) -> Release:
    """Releases a domain whose next request is later than a worker waits. The request time is saved, so the next lease
    holder keeps the delay."""
    wait_s = queue.wait_s(now)
    until = database_now + timedelta(seconds=wait_s)
    reason = f"waits until {until:%Y-%m-%d %H:%M:%S} UTC: one request in {queue.pace.delay_s:,.0f} s"
    return Release(queue.lease, wait_s, wait_s, reason=reason)


def block(queue: DomainQueue, cooldowns: Mapping[str, float]) -> Release:
    """Releases a domain as blocked or unreachable, with the reason of its last failure."""
    code = queue.streak.code
    assert code is not None
    status = "unreachable" if code == DomainFailure.UNREACHABLE else "blocked"
    wait_s = queue.wait_s(clock.monotonic())
    reason_code, reason = queue.streak.reason_code, queue.streak.reason
    rest_s = cooldowns[code]
    if code == DomainFailure.UNREACHABLE:
        rest_s = unreachable_cooldown_s(queue.lease.unreachable_cooldowns, rest_s)
    return Release(queue.lease, wait_s, rest_s, status=status, reason_code=reason_code, reason=reason)


def unreachable_cooldown_s(earlier: int, longest_s: float) -> float:
    """Returns the cooldown of a domain that does not respond, after `earlier` cooldowns in a row: a server that is
    restarting is retried soon, one that is gone rarely."""
    return min(longest_s, UNREACHABLE_COOLDOWNS_S[min(earlier, len(UNREACHABLE_COOLDOWNS_S) - 1)])
