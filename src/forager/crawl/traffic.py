"""Keeps lanes moving: starts what may start now, sets an alarm for what may start later, settles what came back.

Knows nothing of the database. Outcomes and robots copies go to whoever `give` and `keep_robots` are.
"""

import asyncio
import os
import random
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from forager import clock
from forager.crawl import judge
from forager.crawl.lane import Lane
from forager.crawl.line import Tools, admit, visit
from forager.crawl.order import WorkerOrder
from forager.crawl.permission import UNREACHABLE_TTL_S, ask_robots
from forager.crawl.stop import StopRequest
from forager.domains.store import Release, RobotsCopy
from forager.errors import (
    AddressRefusedError,
    ConnectError,
    DnsError,
    RefusedError,
    RobotsDeniedError,
    RobotsUnreachableError,
)
from forager.politeness import robots
from forager.records import Outcome, OutcomeKind, Target
from forager.urls import origin_of

UNREACHABLE_AFTER = 5
TIMER_GRAIN_S = 0.001
"""uvloop's timers may ring up to a millisecond early."""
ROBOTS_DENIED_REST_S = 90 * 86400.0
UNREACHABLE_REST_S = 7 * 86400.0


class Traffic:
    def __init__(
        self,
        order: WorkerOrder,
        tools: Tools,
        stop: StopRequest,
        *,
        give: Callable[[Outcome], None],
        keep_robots: Callable[[RobotsCopy], None],
        stir: Callable[[], None],
    ) -> None:
        self._order = order
        self._tools = tools
        self._stop = stop
        self._give_out = give
        self._keep_robots = keep_robots
        self._stir = stir
        """Called when a lane is hungry or over."""
        self._open: set[asyncio.Task[None]] = set()
        self._in_flight = 0
        self._starved: dict[int, Lane] = {}
        """Lanes that could move but for the worker's own limit, first come first served."""
        self._alarms: dict[int, tuple[float, asyncio.Handle]] = {}
        """When each lane is looked at again. uvloop's handles do not tell their time, so it stands beside them."""
        self.trouble: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Fails when a task of ours does: a bug here must end the worker, not leave a lane waiting for ever."""
        self._rng = random.Random(os.urandom(8))  # noqa: S311 (jitter, keeps no secret)

    # starting ------------------------------------------------------------------------------------------------------

    def pump(self, lane: Lane) -> None:
        """Start all of a lane that may start now."""
        now = clock.monotonic()
        while not (lane.is_lost or lane.closing or lane.is_asking_robots or self._stop.asked):
            if now >= lane.lease_until:
                return
            if self._in_flight >= self._order.max_requests_in_flight:
                self._starved[lane.lease.domain_id] = lane
                return
            target = lane.next_target(now) if lane.pace.may_start(now) else None
            if target is None:
                break
            self._start(lane, target, now)
        self._set_alarm(lane, now)
        if lane.is_hungry or lane.is_over:
            self._stir()

    def _start(self, lane: Lane, target: Target, now: float) -> None:
        origin = origin_of(target.url)
        rules = lane.rules.get(origin)
        if rules is None or lane.rules_until.get(origin, now) < now:
            lane.put_back(target)
            lane.is_asking_robots = True
            self._spawn(self._ask_robots(lane, origin))
        elif refused := admit(target, rules):
            self._give_up(lane, refused)
        else:
            lane.pace.start(now)
            self._in_flight += 1
            self._spawn(self._visit(lane, target))

    def _set_alarm(self, lane: Lane, now: float) -> None:
        wakes_at = lane.wakes_at()
        if wakes_at is None or lane.is_lost or lane.is_asking_robots or self._stop.asked:
            return
        loop, domain = asyncio.get_running_loop(), lane.lease.domain_id
        when = loop.time() + max(0.0, wakes_at - now)
        if domain in self._alarms:
            earlier, alarm = self._alarms[domain]
            if earlier <= when:
                return
            alarm.cancel()
        self._alarms[domain] = (when, loop.call_at(when, self._ring, lane))

    def _ring(self, lane: Lane) -> None:
        self._alarms.pop(lane.lease.domain_id, None)
        self.pump(lane)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._open.add(task)
        task.add_done_callback(self._note_end)

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._open.discard(task)
        if not task.cancelled() and (bug := task.exception()) and not self.trouble.done():
            self.trouble.set_exception(bug)

    def forget(self, lane: Lane) -> None:
        """The lane is no longer ours; what still comes back for it is dropped."""
        lane.lose()
        self._starved.pop(lane.lease.domain_id, None)
        if lane.lease.domain_id in self._alarms:
            self._alarms.pop(lane.lease.domain_id)[1].cancel()

    # settling ------------------------------------------------------------------------------------------------------

    async def _visit(self, lane: Lane, target: Target) -> None:
        lane.pace.leave(clock.monotonic())
        outcome = await visit(target, self._tools, lane.lease.content_policy)
        lane.pace.finish()
        self._in_flight -= 1
        self._settle(lane, outcome)
        self._starved[lane.lease.domain_id] = lane  # those who waited for this come first
        while self._starved and self._in_flight < self._order.max_requests_in_flight:
            self.pump(self._starved.pop(next(iter(self._starved))))

    def _settle(self, lane: Lane, outcome: Outcome) -> None:
        """Another try of the same task, or the end of it."""
        error, task = outcome.error, outcome.target.task_id
        tries = lane.tries.pop(task, 0) + 1
        if error is None:
            lane.unreachable_in_a_row = 0
            self._give(lane, outcome)
            return
        now = clock.monotonic()
        hold_s = judge.hold_s(error, tries)
        lane.pace.hold(now, hold_s)
        quick_s = judge.quick_retry_s(error, tries, self._rng)
        if quick_s is not None and hold_s <= self._order.longest_wait_s and not self._stop.asked and not lane.closing:
            lane.tries[task] = tries
            lane.delay(outcome.target, now + max(quick_s, hold_s))
            return
        self._give_up(lane, outcome)
        self._note_trouble(lane, outcome, hold_s)

    def _give_up(self, lane: Lane, outcome: Outcome) -> None:
        """The task ends without a page; perhaps another one follows later."""
        later_s = None
        if outcome.error is not None:
            later_s = judge.later_retry_s(outcome.error, outcome.target.retry_count, self._order.max_retries)
        self._give(lane, replace(outcome, retry_in_s=later_s))

    def _note_trouble(self, lane: Lane, outcome: Outcome, hold_s: float) -> None:
        """A site that asks for a long rest gets it; one that nobody answers for is left for a week."""
        if hold_s > self._order.longest_wait_s:
            reason = f"the server asked us to wait {hold_s:.0f} s (answer {outcome.status_code})"
            lane.close(Release(lane.lease, wait_s=hold_s, rest_s=hold_s, reason=reason))
        elif isinstance(outcome.error, DnsError | ConnectError):
            lane.unreachable_in_a_row += 1
            if lane.unreachable_in_a_row >= UNREACHABLE_AFTER:
                self._close_unreachable(lane, outcome.error.code, str(outcome.error), UNREACHABLE_REST_S)
        else:
            lane.unreachable_in_a_row = 0

    def _close_unreachable(self, lane: Lane, code: str, reason: str, rest_s: float) -> None:
        lane.close(
            Release(lane.lease, wait_s=0.0, rest_s=rest_s, status="unreachable", reason_code=code, reason=reason)
        )

    def _give(self, lane: Lane, outcome: Outcome) -> None:
        if not lane.is_lost:
            lane.unrecorded += 1
            self._give_out(outcome)

    # robots --------------------------------------------------------------------------------------------------------

    async def _ask_robots(self, lane: Lane, origin: str) -> None:
        async def turn() -> None:
            await asyncio.sleep(lane.pace.wait_s(clock.monotonic()) + TIMER_GRAIN_S)
            lane.pace.start(clock.monotonic())
            lane.pace.finish()

        client, ttl_s = self._tools.client, self._order.robots_ttl_s
        try:
            copy = await ask_robots(client, lane.lease.domain_id, origin, ttl_s=ttl_s, turn=turn)
        except AddressRefusedError as refusal:
            lane.rules[origin] = refusal
            lane.rules_until.pop(origin, None)  # the guard does not change its mind
        else:
            self._take_answer(lane, copy)
        lane.is_asking_robots = False
        self.pump(lane)

    def _take_answer(self, lane: Lane, copy: RobotsCopy) -> None:
        if lane.is_lost:
            return
        self._keep_robots(copy)
        if copy.error is None:
            self.take_rules(lane, copy)
        else:
            self._stand_off(lane, copy.origin, copy.error)

    def take_rules(self, lane: Lane, copy: RobotsCopy) -> None:
        rules = robots.parse(copy.text or "").rules_for(self._order.robots_agent)
        lane.rules[copy.origin] = rules
        lane.rules_until[copy.origin] = clock.monotonic() + copy.ttl_s
        if rules.crawl_delay_s and not lane.is_unpaced:
            lane.pace.slow_to(rules.crawl_delay_s)
        if rules.denies_all and len(lane.rules) == 1 and lane.targets:
            self._refuse_all(lane)

    def _refuse_all(self, lane: Lane) -> None:
        """robots.txt forbids everything: what was claimed closes as refused, the domain is blocked for 90 days."""
        reason = "robots.txt forbids everything"
        for target in lane.targets:
            self._give(lane, Outcome(target, OutcomeKind.BLOCKED_ROBOTS, error=RobotsDeniedError(reason)))
        rest_s = ROBOTS_DENIED_REST_S
        lane.close(Release(lane.lease, 0.0, rest_s, status="blocked", reason_code="robots_denied", reason=reason))

    def _stand_off(self, lane: Lane, origin: str, reason: str) -> None:
        """No robots.txt, no requests (RFC 9309). A domain that answers at another origin goes on there; else one task
        says why, and the rest waits an hour."""
        error = RobotsUnreachableError(f"{origin}/robots.txt could not be had: {reason}")
        if any(not isinstance(known, RefusedError) for known in lane.rules.values()):
            lane.rules[origin] = error
            lane.rules_until[origin] = clock.monotonic() + UNREACHABLE_TTL_S
            return
        if lane.targets:
            self._give_up(lane, Outcome(lane.targets.popleft(), OutcomeKind.FAILED, error=error))
        self._close_unreachable(lane, error.code, str(error), UNREACHABLE_TTL_S)

    # stopping ------------------------------------------------------------------------------------------------------

    async def finish(self) -> None:
        """Let open requests finish; a second request to stop cuts them off."""
        if self._open:
            finishing = asyncio.create_task(_settled(self._open))
            insisting = asyncio.create_task(self._stop.wait_insisted())
            await asyncio.wait({finishing, insisting}, return_when=asyncio.FIRST_COMPLETED)
            await cancel({finishing, insisting})
        await self.cut_off()

    async def cut_off(self) -> None:
        await cancel(self._open)


async def _settled(tasks: set[asyncio.Task[None]]) -> None:
    await asyncio.wait(set(tasks))


async def cancel(tasks: set[asyncio.Task[None]]) -> None:
    """Cancel tasks and wait until they are gone."""
    doomed = set(tasks)
    for task in doomed:
        task.cancel()
    await asyncio.gather(*doomed, return_exceptions=True)
