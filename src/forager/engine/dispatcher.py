"""Dispatches requests: starts those that may start now, sets timers for later ones, handles finished ones.

Does not access the database: outcomes and robots.txt copies go to the write buffer.
"""

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import Any

from forager import clock
from forager.domains.store import Release
from forager.engine.abandoned_tasks import AbandonedTasks
from forager.engine.addresses import Addresses
from forager.engine.config import WorkerConfig, needs_store
from forager.engine.database_clock import DatabaseClock
from forager.engine.domain_queue import DomainQueue, defer
from forager.engine.domain_queues import DomainQueues
from forager.engine.logins import Logins
from forager.engine.network_monitor import NetworkMonitor, is_network_failure, shows_network_works
from forager.engine.outcome_handler import OutcomeHandler
from forager.engine.pauses import Pauses
from forager.engine.pipeline import Pipeline, VisitOptions, admit, admit_session
from forager.engine.proxying import POOL_COOLDOWN_S
from forager.engine.rendering import RenderOptions
from forager.engine.request_slots import RequestSlots, Slot, Wait
from forager.engine.request_timing import LeasedRequest
from forager.engine.robots_cache import RobotsCache
from forager.engine.sitemap_finder import SitemapFinder
from forager.engine.stop import StopRequest, cancel, settled
from forager.engine.write_buffer import WriteBuffer
from forager.errors import (
    CalledOffError,
    ProxyError,
)
from forager.fetch.models import Rendering, RenderSteps
from forager.frontier.models import Outcome, Target
from forager.links.scope import claim_depth
from forager.logs import about
from forager.parsing.models import ParseOptions
from forager.proxies.models import Proxy
from forager.robots.rules import Rules
from forager.storage.policy import ContentPolicy
from forager.urls.domain import origin_of

WORTH_WRITING = 32
"""Minimum batch size in pages; a smaller batch costs much more per page."""


class Dispatcher:
    def __init__(
        self,
        config: WorkerConfig,
        pipeline: Pipeline,
        queues: DomainQueues,
        buffer: WriteBuffer,
        abandoned: AbandonedTasks,
        *,
        stop: StopRequest,
        pauses: Pauses,
        database_clock: DatabaseClock,
        sitemaps: SitemapFinder | None = None,
        network: NetworkMonitor | None = None,
    ) -> None:
        self._longest_wait_s = config.pacing.longest_wait_s
        self._follows_files = sitemaps is not None and claim_depth(config.run.spec) > 0
        self._pipeline = pipeline
        self._queues = queues
        self._buffer = buffer
        self._stop = stop
        self._pauses = pauses
        self.database_clock = database_clock
        self._network = network
        """Consulted before a network failure counts against a site."""
        self.addresses = Addresses(pipeline.client, config.requests)
        self.outcomes = OutcomeHandler(config.failures, config.pacing.longest_wait_s, buffer, abandoned, stop)
        self.robots = RobotsCache(
            *(config.robots, pipeline.client, self.addresses, self.outcomes, buffer),
            longest_wait_s=config.pacing.longest_wait_s,
            stop=stop,
            database_clock=database_clock,
            sitemaps=sitemaps,
            network=network,
        )
        self.logins = Logins(pipeline.client, self.robots, self.outcomes, database_clock)
        self._open: set[asyncio.Task[None]] = set()
        self._slots = RequestSlots(config.requests.max_requests_in_flight)
        self._waiting: dict[Wait, dict[int, DomainQueue]] = {wait: {} for wait in Wait}
        """Queues that wait only for the worker's own limits, by what they wait for; first come, first served."""
        self._paused: dict[int, DomainQueue] = {}
        """Queues that wait only because of a fault of our own."""
        pauses.on_change(self._resume_paused)
        self._timers: dict[int, tuple[float, asyncio.Handle]] = {}
        """The wake-up time of each queue. uvloop's timer handles do not expose theirs, so it is stored here."""
        self._loop = asyncio.get_running_loop()
        self.failure: asyncio.Future[None] = self._loop.create_future()
        """Fails when one of our tasks fails: a bug here must end the worker, not leave a queue waiting forever."""

    # starting ------------------------------------------------------------------------------------------------------

    def start_requests(self, queue: DomainQueue) -> None:
        """Starts all requests of a queue that may start now."""
        now = clock.monotonic()
        while queue.is_ready and not self._stop.asked:
            if now >= queue.lease_until:
                return
            if self._pauses.is_paused and self._pauses.stops(stores_bodies=needs_store(queue.lease)):
                self._paused[queue.lease.domain_id] = queue
                return
            if wait := self._why_wait(queue, now):
                self._waiting[wait][queue.lease.domain_id] = queue
                return
            target = queue.next_target(now) if queue.can_start(now) else None
            if target is None:
                self._wait(queue, now)
                break
            if not self._start(queue, target, now):
                break
        if queue.needs_refill or queue.is_over:
            self._queues.wake()

    def start_waiting(self) -> None:
        """Starts queues that waited for a request to finish."""
        while queue := self._next_waiting():
            self.start_requests(queue)

    def resume(self) -> None:
        """Starts waiting queues when many slots are free. Yields to the event loop between two of them, above all for
        the next batch, which would otherwise be written only after hundreds of requests were started."""
        if queue := self._next_waiting():
            self.start_requests(queue)
            self._loop.call_soon(self.resume)

    def _next_waiting(self) -> DomainQueue | None:
        """Returns the next waiting queue that may start now; queues with reserved slots come first."""
        waiting = self._waiting
        if not any(waiting.values()) or not self._buffer.has_room(len(self._open)):
            return None
        for wait, may_come in self._slots.list_wait_queues(clock.monotonic()):
            if may_come and waiting[wait]:
                self._slots.record_granted(wait)
                return waiting[wait].pop(next(iter(waiting[wait])))
        return None

    def _resume_paused(self) -> None:
        """Called when a pause begins or ends: queues that no pause affects any more resume, one after the other."""
        if not self._paused or self._pauses.stops_all:
            return
        paused, self._paused = self._paused, {}
        self._waiting[Wait.ANY] |= paused
        self._loop.call_soon(self.resume)

    def _why_wait(self, queue: DomainQueue, now: float) -> Wait | None:
        if not self._buffer.has_room(len(self._open)):
            return Wait.ANY
        return self._slots.why_wait(queue.share, now)

    def _start(self, queue: DomainQueue, target: Target, now: float) -> bool:
        """Returns False where something has to be fetched or waited for before this target can be requested."""
        if queue.pool is not None and not self._has_proxy(queue, target, now):
            return False
        origin = origin_of(target.url)
        rules = self.robots.get_rules(queue, origin, now)
        if rules is None:
            queue.put_back(target)
            queue.begin_robots_fetch()
            self._spawn(self._fetch_robots(queue, origin))
            return False
        obeys_robots = queue.lease.settings.obey_robots
        if refused := admit(target, rules, obeys_robots=obeys_robots) or admit_session(target, queue.login):
            self.outcomes.end_task(queue, refused)
            self._flush_if_waiting(queue)
            return True
        if queue.needs_login:
            queue.put_back(target)
            queue.begin_login()
            self._spawn(self._log_in(queue))
            return False
        if not self._is_address_free(queue, origin, now):
            queue.put_back(target)
            return False
        queue.start_visit(now)
        self.addresses.start(queue.addresses.get(origin), queue.lease.domain_id, now)
        slot = self._slots.open(queue.share, now)
        via = queue.pool.take(now) if queue.pool else None
        self._spawn(self._visit(queue, target, slot, queue.addresses.get(origin), via))
        return True

    def _has_proxy(self, queue: DomainQueue, target: Target, now: float) -> bool:
        """Returns whether a proxy of the queue's pool may be used now. A pool that is dead, or exhausted for long, ends
        the lease: one task records the reason, as a fault of our own."""
        assert queue.pool is not None
        wait_s = queue.pool.wait_s(now)
        if wait_s == 0.0:
            return True
        if wait_s is None:
            reason = queue.pool.exhausted_reason()
            self.outcomes.fail(queue, target, ProxyError(reason))
            queue.close(Release(queue.lease, queue.wait_s(now), POOL_COOLDOWN_S, reason=reason))
        elif wait_s > self._longest_wait_s:
            reason = queue.pool.wait_reason()
            queue.close(Release(queue.lease, queue.wait_s(now), wait_s, reason=reason))
        else:
            queue.put_back(target)
            queue.hold(now, wait_s)
            self.set_timer(queue, now)
        return False

    def _is_address_free(self, queue: DomainQueue, origin: str, now: float) -> bool:
        """Returns whether the server of this origin, which may serve other hosts, can take another request."""
        if not self.addresses.limit(queue):
            return True
        if origin not in queue.addresses:
            queue.begin_resolving()
            self._spawn(self._locate(queue, origin))
            return False
        address, who = queue.addresses[origin], queue.lease.domain_id
        if address is None or self.addresses.can_start(address, who, now):
            return True
        self.addresses.wait(address, who, partial(self.start_requests, queue))
        return False

    async def _locate(self, queue: DomainQueue, origin: str) -> None:
        """Resolves the server of an origin."""
        await self.addresses.find(queue, origin)
        queue.end_resolving()
        self.start_requests(queue)

    async def _fetch_robots(self, queue: DomainQueue, origin: str) -> None:
        await self.robots.fetch(queue, origin)
        queue.end_robots_fetch()
        self._flush_if_waiting(queue)
        self.start_requests(queue)

    async def _log_in(self, queue: DomainQueue) -> None:
        about(domain=queue.lease.domain)
        await self.logins.run(queue)
        queue.end_login()
        self.start_requests(queue)

    def _wait(self, queue: DomainQueue, now: float) -> None:
        """Waits for the next request time; one that is too far off ends the lease instead."""
        is_idle = not queue.pace.in_flight and queue.next_wake_at() is not None
        if is_idle and queue.wait_s(now) > self._longest_wait_s:
            queue.close(defer(queue, now, self.database_clock.at(now)))
        else:
            self.set_timer(queue, now)

    def set_timer(self, queue: DomainQueue, now: float) -> None:
        next_wake_at = queue.next_wake_at()
        if next_wake_at is None or queue.is_lost or self._stop.asked:
            return
        if queue.is_fetching_robots or queue.is_logging_in:
            return
        domain = queue.lease.domain_id
        when = self._loop.time() + max(0.0, next_wake_at - now) + clock.TIMER_GRAIN_S  # else it fires repeatedly
        if domain in self._timers:
            earlier, timer = self._timers[domain]
            if earlier <= when:
                return
            timer.cancel()
        self._timers[domain] = (when, self._loop.call_at(when, self._on_timer, queue))

    def _on_timer(self, queue: DomainQueue) -> None:
        self._timers.pop(queue.lease.domain_id, None)
        self.start_requests(queue)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._open.add(task)
        task.add_done_callback(self._note_end)

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._open.discard(task)
        if not self._open:
            self._flush_if_idle()
        if not task.cancelled() and (bug := task.exception()) and not self.failure.done():
            self.failure.set_exception(bug)

    def remove(self, queue: DomainQueue) -> None:
        """Removes a queue that is no longer leased; results that still arrive for it are dropped."""
        queue.lose()
        for queues in (*self._waiting.values(), self._paused):
            queues.pop(queue.lease.domain_id, None)
        if queue.lease.domain_id in self._timers:
            self._timers.pop(queue.lease.domain_id)[1].cancel()

    # visits --------------------------------------------------------------------------------------------------------

    async def _visit(
        self, queue: DomainQueue, target: Target, slot: Slot, address: str | None, via: Proxy | None
    ) -> None:
        about(task=target.task_id, domain=queue.lease.domain)
        request = PageRequest(self, queue, target, address, via)
        logins = queue.login.logins if queue.login is not None else 0
        outcome = await self._pipeline.visit(target, request, self._options_of(queue, target, request))
        queue.finish_visit(has_left=request.has_left)
        took_s = outcome.waited_s
        self._slots.close(slot, clock.monotonic() - slot.opened_at if took_s is None else took_s)
        if via is not None and queue.pool is not None:
            at, took_ms = request.requested_at, outcome.response_time_ms
            queue.pool.record(via, outcome.error, at=at, response_time_ms=took_ms)
        if via is None and await self._is_local_failure(queue, outcome):
            self.outcomes.put_back(queue, outcome)
        elif self.logins.judge(queue, outcome, logins):
            pass  # it is visited again with a valid session
        elif self.outcomes.handle(queue, outcome):
            self._flush_if_waiting(queue)
        if not queue.is_lost:
            wait = self._slots.get_wait_queue(queue.share, clock.monotonic())
            self._waiting[wait][queue.lease.domain_id] = queue  # queues that waited longer come first
        self.addresses.finish(address, has_left=request.has_left)
        self.start_waiting()

    def _options_of(self, queue: DomainQueue, target: Target, request: "PageRequest") -> VisitOptions:
        settings = queue.lease.settings
        rendering, mode = None, settings.rendering
        if mode != Rendering.NEVER and target.is_page:
            rules = queue.robots.get(origin_of(target.url)) if settings.obey_robots else None
            rendering = RenderOptions(
                mode,
                rules if isinstance(rules, Rules) else None,
                RenderSteps(
                    settings.render_wait_for, settings.render_click, settings.render_scroll, settings.render_screenshot
                ),
                request.subrequest_sent,
                queue.login,
            )
        follows = self._follows_files
        return VisitOptions(
            settings.content,
            settings.images,
            rendering,
            settings.documents,
            settings.store_external_links,
            queue.login,
            sitemaps=follows and settings.sitemaps,
            feeds=follows and settings.feeds,
            parse=ParseOptions(
                settings.search_words,
                settings.parser,
                markdown=settings.content == ContentPolicy.TEXT,
                extractors=settings.extractors,
                items=settings.items,
            ),
        )

    async def _is_local_failure(self, queue: DomainQueue, outcome: Outcome) -> bool:
        """Returns whether a request failed because of our own network."""
        network, error, domain = self._network, outcome.error, queue.lease.domain_id
        if network is None:
            return False
        if shows_network_works(error):
            network.reached(domain, outcome.target.url)
        if error is None or not is_network_failure(error):
            return False
        with queue.diagnosing():
            return await network.is_ours(domain, outcome.target.url, error, is_known=queue.has_pages)

    def _flush_if_waiting(self, queue: DomainQueue) -> None:
        """Flushes the buffer when a page arrived whose queue could continue at once if it had another target."""
        if queue.is_unpaced and not queue.is_lost and not queue.targets:
            self._flush_if_idle()

    def _flush_if_idle(self) -> None:
        """Flushes the buffer when queues without targets wait for outcomes to be written. If half of them wait, a batch
        of at least the minimum size is written at once. If all wait, any batch is, unless more requests are in flight
        than outcomes are buffered: otherwise the last 256 pages of a crawl would be written one by one, each at the
        cost of ten."""
        buffer = self._buffer
        if buffer.is_due:
            return
        busy = sum(bool(queue.targets) for queue in self._queues)
        if (buffer.backlog >= WORTH_WRITING and busy * 2 <= len(self._queues)) or (
            not busy and buffer.backlog >= len(self._open)
        ):
            buffer.flush()

    # stopping ------------------------------------------------------------------------------------------------------

    async def finish(self) -> None:
        """Lets open requests finish; a second stop request cancels them."""
        if self._open:
            finishing = asyncio.create_task(settled(self._open))
            insisting = asyncio.create_task(self._stop.wait_immediate())
            await asyncio.wait({finishing, insisting}, return_when=asyncio.FIRST_COMPLETED)
            await cancel({finishing, insisting})
        await self.cancel_open()

    async def cancel_open(self) -> None:
        await cancel(self._open)


class PageRequest(LeasedRequest):
    """The request for one page. Its task may be cancelled, and the delay of its queue counts from when it is sent."""

    __slots__ = ("_dispatcher", "_task_id")

    def __init__(
        self, dispatcher: Dispatcher, queue: DomainQueue, target: Target, address: str | None, via: Proxy | None
    ) -> None:
        super().__init__(queue, dispatcher.database_clock, dispatcher.addresses, address, via)
        self._dispatcher = dispatcher
        self._task_id = target.task_id

    def check_wanted(self) -> None:
        if self._task_id in self._queue.called_off:
            raise CalledOffError("an operator paused or cancelled it")

    def _leave(self, now: float) -> None:
        super()._leave(now)
        self._dispatcher.set_timer(self._queue, now)

    def subrequest_sent(self) -> None:
        """Counts a request made while rendering a page: the delay before the next page applies to it too."""
        now = clock.monotonic()
        self._queue.check_lease(now)
        self._queue.hold(now, self._queue.pace.delay_s)
        self._dispatcher.set_timer(self._queue, now)
