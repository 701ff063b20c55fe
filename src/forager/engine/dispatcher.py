"""Keeps queues moving: starts what may start now, sets an alarm for what may start later, settles what came back.

Knows nothing of the database. Outcomes and robots copies go to whoever `give` and `keep_robots` are.
"""

import asyncio
import os
import random
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from forager import clock
from forager.domains.store import Release, RobotsCopy
from forager.engine import retry_policy
from forager.engine.addresses import Addresses
from forager.engine.config import WorkerConfig
from forager.engine.domain_queue import DomainQueue, block, defer
from forager.engine.network_monitor import NetworkMonitor, is_network_failure, shows_network_works
from forager.engine.pipeline import Tools, admit, visit
from forager.engine.proxy_pools import POOL_REST_S, record_proxy_result
from forager.engine.rendering import RenderOptions
from forager.engine.request_slots import RequestSlots, Slot, Wait
from forager.engine.request_timing import RequestTiming
from forager.engine.robots_cache import RobotsCache
from forager.engine.stop import StopRequest, cancel, settled
from forager.errors import (
    BrokenError,
    LeaseLostError,
    ProxyError,
    StatusError,
    UnavailableError,
    VisitError,
)
from forager.fetch.models import Rendering
from forager.frontier.models import Outcome, Target, Trouble
from forager.images.models import ImagePolicy
from forager.observe import about, log
from forager.proxies.models import Proxy
from forager.robots.rules import Rules
from forager.storage.policy import ContentPolicy
from forager.urls.domain import origin_of

TOLD_WAIT_S = 3.0
"""A shorter wait is over before a person could read of it."""


class Dispatcher:
    def __init__(
        self,
        order: WorkerConfig,
        tools: Tools,
        stop: StopRequest,
        *,
        give: Callable[[Outcome], None],
        keep_robots: Callable[[RobotsCopy], None],
        wake: Callable[[], None],
        has_room: Callable[[int], bool] = lambda _open: True,
        abandon: Callable[[DomainQueue, Sequence[int]], None] = lambda _queue, _tasks: None,
        rest: Callable[[], None] = lambda: None,
        network: NetworkMonitor | None = None,
    ) -> None:
        self._order = order
        self._tools = tools
        self._stop = stop
        self._give_out = give
        self._stir = wake
        """Called when a queue is hungry or over."""
        self._has_room = has_room
        """Whether what so many open requests bring could be kept, if it could not be written now."""
        self._put_down = abandon
        """Told of tasks that somebody paused or cancelled, and that go no further."""
        self._network = network
        """Asked before a failure of the network is held against a site."""
        self._rest = rest
        """Called when nothing is under way any more, and when a page is there whose queue could go on at once if it had
        another target."""
        self._addresses = Addresses(tools.client.locate, delay_s=order.delay_per_ip_s, most=order.max_requests_per_ip)
        self.robots = RobotsCache(
            order,
            tools,
            stop,
            self._addresses,
            note_sent=self._note_sent,
            give_up=self._end_task,
            keep=keep_robots,
            network=network,
        )
        self._open: set[asyncio.Task[None]] = set()
        self._slots = RequestSlots(order.max_requests_in_flight)
        self._lines: dict[Wait, dict[int, DomainQueue]] = {wait: {} for wait in Wait}
        """Lanes that could move but for the worker's own limits, first come first served in each line."""
        self._paused: dict[int, DomainQueue] = {}
        """Lanes that could move but for a fault of our own."""
        tools.pauses.on_change(self._resume_paused)
        self._alarms: dict[int, tuple[float, asyncio.Handle]] = {}
        """When each queue is looked at again. uvloop's handles do not tell their time, so it stands beside them."""
        self._loop = asyncio.get_running_loop()
        self.trouble: asyncio.Future[None] = self._loop.create_future()
        """Fails when a task of ours does: a bug here must end the worker, not leave a queue waiting for ever."""
        self._rng = random.Random(os.urandom(8))  # noqa: S311 (jitter, keeps no secret)

    @property
    def under_way(self) -> int:
        """Requests that were begun, up to what they brought; who asks from within one counts it."""
        return len(self._open)

    # starting ------------------------------------------------------------------------------------------------------

    def start_requests(self, queue: DomainQueue) -> None:
        """Start all of a queue that may start now."""
        now = clock.monotonic()
        while not (queue.is_lost or queue.closing or queue.is_asking_robots or queue.is_locating or self._stop.asked):
            if now >= queue.lease_until:
                return
            if self._tools.pauses.stops(stores_bodies=self._stores_bodies(queue)):
                self._paused[queue.lease.domain_id] = queue
                return
            if wait := self._why_wait(queue, now):
                self._lines[wait][queue.lease.domain_id] = queue
                return
            target = queue.next_target(now) if queue.can_start(now) else None
            if target is None:
                self._wait(queue, now)
                break
            if not self._start(queue, target, now):
                break
        if queue.is_hungry or queue.is_over:
            self._stir()

    def go_on(self) -> None:
        """There is room for another: who waited for it comes first."""
        while queue := self._next_waiting():
            self.start_requests(queue)

    def resume(self) -> None:
        """There is room for many. Between two of them others have their turn: above all the next batch, which would be
        written after hundreds of requests were started else."""
        if queue := self._next_waiting():
            self.start_requests(queue)
            self._loop.call_soon(self.resume)

    def _next_waiting(self) -> DomainQueue | None:
        """Who may start now of those that waited; first who is owed some."""
        lines = self._lines
        if not any(lines.values()) or not self._has_room(len(self._open)):
            return None
        for wait, may_come in self._slots.list_wait_queues(clock.monotonic()):
            if may_come and lines[wait]:
                self._slots.record_granted(wait)
                return lines[wait].pop(next(iter(lines[wait])))
        return None

    def _stores_bodies(self, queue: DomainQueue) -> bool:
        """Whether visits of the queue leave something in the body store."""
        policy = queue.lease.content_policy or self._order.content_policy
        images = queue.lease.images or self._order.images
        return policy != ContentPolicy.SIGNALS or images == ImagePolicy.DOWNLOAD or queue.lease.images_only

    def _resume_paused(self) -> None:
        """A pause began or ended: queues that no pause concerns any more move again, one after the other."""
        if not self._paused or self._tools.pauses.stops_all:
            return
        paused, self._paused = self._paused, {}
        self._lines[Wait.ANY] |= paused
        self._loop.call_soon(self.resume)

    def _why_wait(self, queue: DomainQueue, now: float) -> Wait | None:
        if not self._has_room(len(self._open)):
            return Wait.ANY
        return self._slots.why_wait(queue.tenant, now)

    def _start(self, queue: DomainQueue, target: Target, now: float) -> bool:
        """False where something has to be found out, or waited for, before this target can leave."""
        if queue.pool is not None and not self._has_proxy(queue, target, now):
            return False
        origin = origin_of(target.url)
        rules = self.robots.rules_of(queue, origin, now)
        if rules is None:
            queue.put_back(target)
            queue.is_asking_robots = True
            self._spawn(self._fetch_robots(queue, origin))
            return False
        if refused := admit(target, rules):
            self._end_task(queue, refused)
            return True
        if not self._is_address_free(queue, origin, now):
            queue.put_back(target)
            return False
        queue.pace.start(now)
        queue.breaker.start(now)
        self._addresses.start(queue.addresses.get(origin), queue.lease.domain_id, now)
        slot = self._slots.open(queue.tenant, now)
        via = queue.pool.take(now) if queue.pool else None
        self._spawn(self._visit(queue, target, slot, queue.addresses.get(origin), via))
        return True

    def _has_proxy(self, queue: DomainQueue, target: Target, now: float) -> bool:
        """Whether a proxy of the queue's pool may be used now. A pool that is dead, or spent for long, ends the lease:
        one task says why, and it is nobody's fault but ours."""
        assert queue.pool is not None
        wait_s = queue.pool.wait_s(now)
        if wait_s == 0.0:
            return True
        if wait_s is None:
            self._end_task(queue, self._failed_outcome(queue, target, ProxyError(queue.pool.exhausted_reason())))
            queue.close(Release(queue.lease, queue.wait_s(now), POOL_REST_S, reason=queue.pool.exhausted_reason()))
        elif wait_s > self._order.longest_wait_s:
            reason = "its proxies have made all requests they may make in this hour"
            queue.close(Release(queue.lease, queue.wait_s(now), wait_s, reason=reason))
        else:
            queue.put_back(target)
            queue.pace.hold(now, wait_s)
            self._set_timer(queue, now)
        return False

    def _failed_outcome(self, queue: DomainQueue, target: Target, error: VisitError) -> Outcome:
        """A visit that did not begin, or not again: the requests that were made for it stay on record."""
        made = queue.tries.pop(target.task_id, [])
        if not made:
            return Outcome(target, retry_policy.outcome_of(error), error=error)
        *earlier, last = made
        pace_ms = queue.paces.pop(target.task_id)
        return Outcome(
            target,
            retry_policy.outcome_of(error),
            error=error,
            requested_at=last,
            earlier_requests=tuple(earlier),
            pace_ms=pace_ms,
        )

    def _is_address_free(self, queue: DomainQueue, origin: str, now: float) -> bool:
        """Whether the server behind this origin, which may have other hosts, can take another request."""
        if not self._addresses.limit(queue):
            return True
        if origin not in queue.addresses:
            queue.is_locating = True
            self._spawn(self._find_out(queue, origin))
            return False
        address, who = queue.addresses[origin], queue.lease.domain_id
        if address is None or self._addresses.can_start(address, who, now):
            return True
        self._addresses.wait(address, who, partial(self.start_requests, queue))
        return False

    async def _find_out(self, queue: DomainQueue, origin: str) -> None:
        """Where an origin's server is."""
        await self._addresses.find(queue, origin)
        queue.is_locating = False
        self.start_requests(queue)

    async def _fetch_robots(self, queue: DomainQueue, origin: str) -> None:
        await self.robots.ask(queue, origin)
        queue.is_asking_robots = False
        self.start_requests(queue)

    def _wait(self, queue: DomainQueue, now: float) -> None:
        """For its next turn; a turn that is too far off ends the lease instead."""
        is_idle = not queue.pace.in_flight and queue.next_wake_at() is not None
        if is_idle and queue.wait_s(now) > self._order.longest_wait_s:
            queue.close(defer(queue, now, self._tools.database_time(now)))
        else:
            self._set_timer(queue, now)

    def _set_timer(self, queue: DomainQueue, now: float) -> None:
        next_wake_at = queue.next_wake_at()
        if next_wake_at is None or queue.is_lost or queue.is_asking_robots or self._stop.asked:
            return
        domain = queue.lease.domain_id
        when = self._loop.time() + max(0.0, next_wake_at - now) + clock.TIMER_GRAIN_S  # else it rings again until then
        if domain in self._alarms:
            earlier, alarm = self._alarms[domain]
            if earlier <= when:
                return
            alarm.cancel()
        self._alarms[domain] = (when, self._loop.call_at(when, self._on_timer, queue))

    def _on_timer(self, queue: DomainQueue) -> None:
        self._alarms.pop(queue.lease.domain_id, None)
        self.start_requests(queue)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._open.add(task)
        task.add_done_callback(self._note_end)

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._open.discard(task)
        if not self._open:
            self._rest()
        if not task.cancelled() and (bug := task.exception()) and not self.trouble.done():
            self.trouble.set_exception(bug)

    def forget(self, queue: DomainQueue) -> None:
        """The queue is no longer ours; what still comes back for it is dropped."""
        queue.lose()
        for line in (*self._lines.values(), self._paused):
            line.pop(queue.lease.domain_id, None)
        if queue.lease.domain_id in self._alarms:
            self._alarms.pop(queue.lease.domain_id)[1].cancel()

    # settling ------------------------------------------------------------------------------------------------------

    async def _visit(
        self, queue: DomainQueue, target: Target, slot: Slot, address: str | None, via: Proxy | None
    ) -> None:
        about(task=target.task_id, domain=queue.lease.domain)
        trip = RequestTiming(
            queue.pace,
            self._tools.database_time,
            partial(self._note_sent, queue, address),
            via,
            lambda: target.task_id not in queue.called_off,
        )
        policy, images = (
            queue.lease.content_policy or self._order.content_policy,
            queue.lease.images or self._order.images,
        )
        outcome = await visit(target, self._tools, policy, trip, images, drawing=self._render_options(queue, target))
        queue.pace.finish(has_left=trip.has_left)
        queue.visits += 1
        took_s = outcome.waited_s
        self._slots.close(slot, clock.monotonic() - slot.opened_at if took_s is None else took_s)
        if via is not None:
            at, took_ms = trip.requested_at, outcome.response_time_ms
            record_proxy_result(queue, via, outcome.error, at=at, response_time_ms=took_ms)
        if via is None and await self._is_local_failure(queue, outcome):
            self._take_back(queue, outcome)
        else:
            self._settle(queue, outcome)
        if not queue.is_lost:
            line = self._slots.get_wait_queue(queue.tenant, clock.monotonic())
            self._lines[line][queue.lease.domain_id] = queue  # those who waited for this come first
        self._addresses.finish(address, has_left=trip.has_left)
        self.go_on()

    async def _is_local_failure(self, queue: DomainQueue, outcome: Outcome) -> bool:
        """Whether a request failed because of our own network."""
        network, error, domain = self._network, outcome.error, queue.lease.domain_id
        if network is None:
            return False
        if shows_network_works(error):
            network.reached(domain, outcome.target.url)
        if error is None or not is_network_failure(error):
            return False
        queue.unjudged += 1
        try:
            return await network.is_ours(domain, outcome.target.url, error, is_known=queue.has_pages)
        finally:
            queue.unjudged -= 1

    def _take_back(self, queue: DomainQueue, outcome: Outcome) -> None:
        """The visit is made again when the network is back; that a request left for it stays on record."""
        if queue.is_lost or queue.closing:
            return
        self._record_request(queue, outcome)
        if outcome.target.task_id in queue.called_off:
            self._put_down(queue, [outcome.target.task_id])
        else:
            queue.put_back(outcome.target)

    def _note_sent(self, queue: DomainQueue, address: str | None, now: float, again: bool) -> None:
        """A request leaves; not without a lease, however long it dialled."""
        if queue.is_lost or now >= queue.lease_until:
            raise LeaseLostError("the lease ended before the request left")
        queue.pace.leave(now, again=again)
        self._addresses.sent(address, now, again=again)
        self._set_timer(queue, now)

    def _render_options(self, queue: DomainQueue, target: Target) -> RenderOptions | None:
        """How its page may be drawn; None where no browser is wanted."""
        mode = queue.lease.rendering or self._order.rendering
        if mode == Rendering.NEVER or target.is_image:
            return None
        rules = queue.rules.get(origin_of(target.url))
        return RenderOptions(mode, rules if isinstance(rules, Rules) else None, partial(self._on_subrequest, queue))

    def _on_subrequest(self, queue: DomainQueue) -> None:
        """A page that is drawn asks for more: the next page keeps its distance to that too."""
        now = clock.monotonic()
        if queue.is_lost or now >= queue.lease_until:
            raise LeaseLostError("the lease ended before the request left")
        queue.pace.hold(now, queue.pace.delay_s)
        self._set_timer(queue, now)

    def _settle(self, queue: DomainQueue, outcome: Outcome) -> None:
        """Another try of the same task, or the end of it."""
        error, task = outcome.error, outcome.target.task_id
        if isinstance(error, LeaseLostError):
            if not queue.is_lost and not queue.closing:
                queue.put_back(outcome.target)
            return
        if isinstance(error, UnavailableError) or (error is not None and task in queue.called_off):
            self.requeue_task(queue, outcome)
            return
        self._update_health(queue, outcome)
        earlier = queue.tries.pop(task, [])
        if error is not None and self._retry_soon(queue, outcome, error, earlier):
            return
        if earlier:
            pace_ms = min(queue.paces.pop(task), outcome.pace_ms or 0)
            outcome = replace(outcome, earlier_requests=tuple(earlier), pace_ms=pace_ms)
        queue.streak.note(outcome)
        queue.has_pages |= error is None and outcome.trouble is None
        if error is None:
            self._give(queue, outcome)
        else:
            self._end_task(queue, outcome)
        self._close_failing(queue, outcome, retry_policy.hold_s(error, len(earlier) + 1) if error else 0.0)

    def requeue_task(self, queue: DomainQueue, outcome: Outcome) -> None:
        """Somebody paused or cancelled it, or something of ours is missing: the task is open again, for any worker.
        That a request was made for it stays on record."""
        self._record_request(queue, outcome)
        if not queue.is_lost:
            self._put_down(queue, [outcome.target.task_id])

    def _record_request(self, queue: DomainQueue, outcome: Outcome) -> None:
        """A request that left is told with the next outcome of its task."""
        task, pace_ms = outcome.target.task_id, outcome.pace_ms or 0
        if outcome.waited_s is not None and outcome.requested_at is not None:
            queue.tries[task] = [*outcome.earlier_requests, *queue.tries.get(task, []), outcome.requested_at]
            queue.paces[task] = min(queue.paces.get(task, pace_ms), pace_ms)

    def _update_health(self, queue: DomainQueue, outcome: Outcome) -> None:
        """What the breaker and the adaptive pace learn from a request. Where a server gave pages, one that failed and
        fails again at once says nothing new about it: three broken pages must not hold up the others."""
        is_failure = retry_policy.is_failure(outcome.error)
        queue.has_served |= outcome.error is None
        is_repeated = isinstance(outcome.error, StatusError) and bool(queue.tries.get(outcome.target.task_id))
        if is_failure and not (is_repeated and queue.has_served):
            queue.breaker.fail(clock.monotonic())
            if queue.breaker.is_open:
                failures = queue.breaker.failures
                queue.wait_reason = f"{failures} requests in a row failed, the last one because {outcome.error}"
        elif is_failure is False:
            queue.breaker.succeed()
        if outcome.waited_s is not None:
            queue.pace.note(outcome.waited_s, is_good=outcome.error is None)

    def _retry_soon(self, queue: DomainQueue, outcome: Outcome, error: VisitError, earlier: list[datetime]) -> bool:
        now, tries = clock.monotonic(), len(earlier) + 1
        hold_s = retry_policy.hold_s(error, tries)
        queue.pace.hold(now, hold_s)
        if hold_s >= TOLD_WAIT_S:
            queue.wait_reason = f"the server asked us to wait {hold_s:.0f} s (answer {outcome.status_code})"
        quick_s = retry_policy.quick_retry_s(error, tries, self._rng, outcome.target.retry_count)
        if quick_s is None or queue.pace.wait_s(now) > self._order.longest_wait_s or queue.breaker.is_open:
            return False  # the whole domain waits for longer: this try is recorded, another one follows later
        if self._stop.asked or queue.closing:
            return False
        assert outcome.requested_at is not None
        task, pace_ms = outcome.target.task_id, outcome.pace_ms or 0
        queue.tries[task] = [*earlier, outcome.requested_at]
        queue.paces[task] = min(queue.paces.get(task, pace_ms), pace_ms)
        queue.delay(outcome.target, now + max(quick_s, hold_s))
        return True

    def _end_task(self, queue: DomainQueue, outcome: Outcome) -> None:
        """The task ends without a page; perhaps another one follows later."""
        later_s = None
        if outcome.error is not None:
            most = outcome.target.max_retries
            most = self._order.max_retries if most is None else most
            later_s = retry_policy.later_retry_s(outcome.error, outcome.target.retry_count, most)
            self._say(queue, outcome, later_s)
        self._give(queue, replace(outcome, retry_in_s=later_s))

    def _say(self, queue: DomainQueue, outcome: Outcome, later_s: float | None) -> None:
        """A visit that failed, in a line; a bug of ours is worth one at any level."""
        error, target = outcome.error, outcome.target
        tell = log().error if isinstance(error, BrokenError) else log().info
        tell(
            "visit failed",
            action="visit.failed",
            task=target.task_id,
            domain=queue.lease.domain,
            url=target.url,
            code=error.code if error else None,
            error=str(error),
            again_in_s=later_s,
        )

    def _close_failing(self, queue: DomainQueue, outcome: Outcome, hold_s: float) -> None:
        """A site that keeps refusing or not answering is left alone; one that asks for a long rest, or needs one, gets
        it."""
        if queue.closing:
            return
        longest_s, pause_s = self._order.longest_wait_s, queue.breaker.wait_s(clock.monotonic())
        if self._should_block(queue):
            queue.close(block(queue, self._order.cooldowns))
        elif hold_s > longest_s:
            reason = f"the server asked us to wait {hold_s:.0f} s (answer {outcome.status_code})"
            queue.close(Release(queue.lease, wait_s=hold_s, rest_s=hold_s, reason=reason))
        elif pause_s > longest_s:
            reason = f"{queue.breaker.failures} requests in a row failed, the last one because {outcome.error}"
            queue.close(Release(queue.lease, wait_s=pause_s, rest_s=pause_s, reason=reason))

    def _should_block(self, queue: DomainQueue) -> bool:
        if queue.streak.code is None:
            return False
        is_patient = queue.streak.code in {Trouble.UNREACHABLE, Trouble.RATE_LIMITED}
        return queue.streak.count >= (self._order.max_unreachable if is_patient else self._order.max_domain_errors)

    def _give(self, queue: DomainQueue, outcome: Outcome) -> None:
        if not queue.is_lost:
            queue.unrecorded += 1
            uses = queue.pool.take_pending() if queue.pool else ()
            self._give_out(replace(outcome, proxy_uses=uses) if uses else outcome)
            if queue.is_unpaced and not queue.targets:
                self._rest()

    # stopping ------------------------------------------------------------------------------------------------------

    async def finish(self) -> None:
        """Let open requests finish; a second request to stop cuts them off."""
        if self._open:
            finishing = asyncio.create_task(settled(self._open))
            insisting = asyncio.create_task(self._stop.wait_immediate())
            await asyncio.wait({finishing, insisting}, return_when=asyncio.FIRST_COMPLETED)
            await cancel({finishing, insisting})
        await self.cancel_open()

    async def cancel_open(self) -> None:
        await cancel(self._open)
