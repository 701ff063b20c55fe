"""A worker: leases domains, feeds their queues, has outcomes written, says that it lives, stops cleanly.

    claim ──> queues ──> dispatcher (visits) ──> writer ──> queues need refill ──> … ──> released

Three loops share one event loop: `_run_loop` claims, refills and releases; `_heartbeat_loop` renews heartbeat and
leases; the writer writes. Visits are tasks of their own. Nothing here waits for one domain while another could move.
"""

import asyncio
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from forager import clock
from forager.db.database import Database
from forager.dispatch.inbox import MessageInbox, Verdict
from forager.domains import store as domains
from forager.domains.store import LeaseRenewal, Release
from forager.engine import signals
from forager.engine.claims import Claimed, Claims
from forager.engine.config import WorkerConfig
from forager.engine.database_clock import DatabaseClock
from forager.engine.dispatcher import Dispatcher
from forager.engine.domain_queue import DomainQueue, block
from forager.engine.first_delays import FirstDelays
from forager.engine.lease_rebalancing import LeaseRebalancer
from forager.engine.models import Pause, PauseReason
from forager.engine.network_monitor import NetworkMonitor
from forager.engine.pipeline import Tools
from forager.engine.proxy_pools import ProxyPools
from forager.engine.recovery import free_lost, reclaim
from forager.engine.signals import TaskSignals
from forager.engine.stop import StopRequest, cancel
from forager.engine.transaction_retry import in_transaction
from forager.engine.trap_detector import TrapDetector
from forager.engine.writer import Writer
from forager.frontier.models import Lease, Target
from forager.observe import everywhere, log
from forager.politeness.breaker import Breaker
from forager.politeness.pace import LatencyTracker, Throttle, clamp_delay
from forager.proxies.pool import ProxyPool
from forager.stats import series
from forager.stats import store as stats
from forager.stats.counters import Tally
from forager.stats.processes import get_host_key, started_at

TEND_EVERY_S = 0.2
IDLE_S = 1.0
"""A worker of the standing run that has nothing to do looks once in this time."""
CLAIM_EVERY_S, CLAIM_AT_LEAST_EVERY_S = 0.15, 0.6
"""A quick crawl feeds its queues dozens of times a second, and most of the time no other domain is ready: the longer
none was, the more seldom it is asked."""
COALESCE_S = 0.01
MOST_CLAIMED_AT_ONCE = 200
AT_ONCE = 500
"""Leases a heartbeat handles before the event loop may do something else."""
MAKE_ROOM_EVERY_S = 1.0
"""How often a worker without room looks whether domains wait."""
GRACE_S = 3.0
"""For other workers to be heard again after the database was away."""
RECLAIM_EVERY_S = 1.0
"""How often a worker looks for leases of workers that fell silent."""


WORTH_WRITING = 32
"""Pages; a batch of fewer costs much more for each."""


class Worker:
    def __init__(
        self,
        database: Database,
        order: WorkerConfig,
        tools: Tools,
        stop: StopRequest,
        hints: MessageInbox | None = None,
    ) -> None:
        """With hints, domains are claimed as these come; without, as the database has them."""
        self._database = database
        self._order = order
        self._stop = stop
        self._client = tools.client
        self._guard = tools.guard
        self._selector = tools.selector
        self._pauses = tools.pauses
        self._told_pause: Pause | None = None
        """The pause that the database knows of."""
        self._id = 0
        self._queues: dict[int, DomainQueue] = {}
        self._claim_at = 0.0
        """When domains are asked for again, where none was ready and there is other work."""
        self._claim_every_s = CLAIM_EVERY_S
        self._reclaim_at = 0.0
        self._room_at = 0.0
        self._first_waits = FirstDelays()
        self._beat_at = 0.0
        """When we asked for the last heartbeat that was committed: others count our silence from there."""
        self._beat_within_s = 3 * min(order.heartbeat_s, order.lease_s / 3, order.dead_after_s / 3)
        """A longer time between two of them is a gap: the database was away, or this process stood still."""
        self._steady_at = 0.0
        """After a gap: until then the silence of others may have had the same cause."""
        self._stir = asyncio.Event()
        self._hints = hints
        if hints is not None:
            hints.tell(self._stir.set)
        self._clock = DatabaseClock()
        self._tally = Tally()
        """What became of leases, until the next heartbeat writes it."""
        self._claims = Claims(
            database,
            run=order.run,
            spec=order.spec,
            workers=order.workers,
            lease_s=order.lease_s,
            keeping=order.keeping,
            content_policy=order.content_policy,
            labels=order.labels,
            live_s=min(order.lease_s, order.dead_after_s),
        )
        self._traps = TrapDetector(
            tools.selector,
            most_same=order.max_near_duplicates,
            most_calendar=order.max_calendar_pages,
            most_pages=order.max_pages_per_template,
        )
        self._pools = ProxyPools(tools.vault, self._queues)
        self._evenly = LeaseRebalancer(database, order.run)
        self._calls = TaskSignals(database, self._queues, worker=lambda: self._id, on_freed=self._claims.go_on)
        self._writer = Writer(
            database,
            order,
            worker=lambda: self._id,
            queues=self._queues,
            traps=self._traps,
            body_store=tools.body_store,
            pauses=tools.pauses,
            shared=tools.shared,
            on_recorded=self._after_record,
            on_learned=self._on_new_urls,
            on_room=self._resume,
            on_proxies=self._pools.update,
        )
        self._network = (
            NetworkMonitor(
                tools.client.network,
                tools.pauses,
                domains=lambda: len(self._queues),
                is_stopping=lambda: stop.asked,
                forgive=self._forgive,
            )
            if tools.client.network is not None
            else None
        )
        self._traffic = Dispatcher(
            order,
            replace(tools, database_time=self._clock.at),
            stop,
            give=self._writer.batches.add,
            keep_robots=self._writer.batches.add_robots,
            wake=self._stir.set,
            has_room=self._writer.batches.has_room,
            abandon=self._calls.abandon,
            rest=self._flush_if_idle,
            network=self._network,
        )

    async def work(self) -> None:
        """Until the run has nothing left for us, or somebody asks to stop."""
        self._database.absence.on_change = self._note_database
        await self._register()
        writing = asyncio.create_task(self._writer.batches.run())
        beating = asyncio.create_task(self._heartbeat_loop())
        tending = asyncio.create_task(self._run_loop())
        listening = asyncio.create_task(self._listen())
        stopping = asyncio.create_task(self._stop.wait_requested())
        keeping = asyncio.create_task(self._writer.bodies.run())
        try:
            loops = (writing, beating, tending, listening, keeping, self._traffic.trouble)
            await asyncio.wait({*loops, stopping}, return_when=asyncio.FIRST_COMPLETED)
            for loop in loops:
                if loop.done():
                    loop.result()
            self._stir.set()
            await tending  # to the end of its round: cut off in a claim or a release, a lease would stay in our name
            if self._hints is not None:
                self._hints.close()
            await self._traffic.finish()
            await cancel({keeping})
            await self._writer.bodies.retry_pending()
            self._writer.batches.finish()
            await writing
            self._requeue_pending()
            await self._release(list(self._queues.values()))
            await in_transaction(self._database, self._end)
        finally:
            await cancel({writing, beating, tending, listening, stopping, keeping})
            await self._traffic.cancel_open()
            if self._network is not None:
                await self._network.close()

    def _requeue_pending(self) -> None:
        """Pages whose bodies could not be stored to the end stay open tasks, with the requests made for them."""
        for outcome in self._writer.bodies.give_up():
            if queue := self._queues.get(outcome.target.domain_id):
                self._traffic.requeue_task(queue, outcome)

    # life ----------------------------------------------------------------------------------------------------------

    async def _register(self) -> None:
        pid = os.getpid()

        async def once(conn: Any) -> int:
            return await stats.add_worker(
                conn,
                self._order.run,
                host=get_host_key(),
                pid=pid,
                pid_started=started_at(pid),
                labels=self._order.labels,
            )

        asked_at = clock.monotonic()
        self._id = await in_transaction(self._database, once)
        self._beat_at = asked_at
        everywhere(worker=self._id)
        await self._read_clock()

    async def _heartbeat_loop(self) -> None:
        """Say that we live and renew the leases; whatever is no longer ours is dropped at once."""
        every_s = self._beat_within_s / 3
        while True:
            await asyncio.sleep(every_s)
            await self._read_clock()
            asked_at, asked_for = clock.monotonic(), list(self._queues.values())
            told = self._tally.copy()
            is_alive, held = await in_transaction(self._database, partial(self._send_heartbeat, told=told))
            self._tally.forget(told)
            if is_alive:
                self._record_heartbeat(asked_at)
            until = self._lease_until(asked_at)
            await self._pools.refresh(self._database)
            await self._extend_scope()
            # Not those that were claimed meanwhile: their leases are young, and were not seen.
            for number, queue in enumerate(asked_for):
                if number % AT_ONCE == AT_ONCE - 1:
                    await asyncio.sleep(0)
                if self._queues.get(queue.lease.domain_id) is not queue:
                    continue
                if is_alive and (renewal := held.get(queue.lease.token)):
                    queue.lease_until = until
                    queue.apply_resets(renewal.breaker_resets)
                    self._resume_or_close(queue, may_go_on=renewal.may_go_on)
                else:
                    self._drop_lost(queue)
            if not is_alive:
                await self._register()
            await self._release_extra(every_s)

    def _record_heartbeat(self, asked_at: float) -> None:
        if asked_at - self._beat_at > self._beat_within_s:
            self._steady_at = clock.monotonic() + GRACE_S
        self._beat_at = asked_at

    async def _release_extra(self, every_s: float) -> None:
        spared = [
            self._queues[domain]
            for domain in await self._evenly.surplus(self._id, heard_s=2 * every_s)
            if domain in self._queues
        ]
        for queue in spared:
            self._resume_or_close(queue, may_go_on=False)
        if spared:
            log().info("handed back for others", action="leases.shared", domains=len(spared))

    async def _listen(self) -> None:
        """What people order meanwhile: tasks that are paused or cancelled, domains that are switched off."""
        while True:
            await asyncio.sleep(signals.EVERY_S)
            for domain, version in await self._calls.listen():
                queue = self._queues.get(domain)
                if queue is not None and queue.lease.version == version:
                    self._resume_or_close(queue, may_go_on=False)
            await self._record_waits()
            if self._calls.is_sent_away and not self._stop.asked:
                log().info("sent away", action="worker.drained")
                self._stop.ask()
            if self._pauses.current != self._told_pause:
                await in_transaction(self._database, self._write_heartbeat)

    async def _write_heartbeat(self, conn: Any) -> bool:
        """Writes the heartbeat, and why we are paused if we are."""
        pause = self._pauses.current
        is_alive = await stats.beat(conn, self._id, pause)
        self._told_pause = pause
        return is_alive

    def _note_database(self, reason: str | None) -> None:
        """The database has been unavailable for a while, or is back."""
        if reason is None:
            self._pauses.end(PauseReason.DATABASE_UNAVAILABLE)
        else:
            self._pauses.begin(PauseReason.DATABASE_UNAVAILABLE, reason)

    async def _record_waits(self) -> None:
        """Domains that make no request for a while: the database says why and until when, for whoever looks."""
        now = clock.monotonic()
        waits = []
        for queue in self._queues.values():
            if queue.wait_reason is not None:
                waits.append((queue.lease.token, queue.wait_reason, queue.wait_s(now)))
                queue.wait_reason = None
        if waits:
            await in_transaction(self._database, lambda conn: domains.note_waits(conn, waits, worker=self._id))

    async def _end(self, conn: Any) -> None:
        await series.add(conn, self._id, self._tally)
        await stats.end_worker(conn, self._id)
        await signals.prune(conn)

    async def _send_heartbeat(self, conn: Any, told: Tally) -> tuple[bool, dict[tuple[int, int], LeaseRenewal]]:
        is_alive = await self._write_heartbeat(conn)
        await series.add(conn, self._id, told)
        return is_alive, await domains.renew_leases(conn, worker=self._id, lease_s=self._order.lease_s)

    async def _extend_scope(self) -> None:
        """The standing run reaches domains that became known since."""
        growing = self._selector.growing
        if growing is None:
            return

        async def once(conn: Any) -> tuple[int, list[str]]:
            found = [row async for row in domains.stream_known_names(conn, growing.up_to)]
            return (found[-1][0] if found else growing.up_to), [name for _, name in found]

        growing.up_to, names = await in_transaction(self._database, once)
        self._selector.extend_scope(names)

    async def _read_clock(self) -> None:
        async def once(conn: Any) -> None:
            asked_at = clock.monotonic()
            now = await stats.read_clock(conn)
            self._clock.hear(now, asked_at=asked_at, answered_at=clock.monotonic())

        await in_transaction(self._database, once)

    def _lease_until(self, since: float) -> float:
        """A tenth earlier than the database's end, so that no request leaves under a lease that is running out. After
        `worker.dead_after` without a heartbeat of ours others take our leases, however long these are."""
        return min(since + self._order.lease_s * 0.9, self._beat_at + self._order.dead_after_s * 0.9)

    # tending -------------------------------------------------------------------------------------------------------

    async def _run_loop(self) -> None:
        """Claim, refill, release, until nothing is left to do or somebody asks to stop."""
        while not self._stop.asked:
            await self._reclaim()
            await self._free_capacity()
            await self._claim()
            await self._refill()
            over = [queue for queue in self._queues.values() if queue.is_over]
            await self._release(over)
            if over:
                self._stir.set()  # there is room for others now
            elif not self._queues and self._writer.batches.is_idle:
                if await self._is_done():
                    return
                if self._order.spec.is_standing:
                    await self._pause(IDLE_S)
            await self._pause()

    async def _pause(self, longest_s: float = TEND_EVERY_S) -> None:
        """Until something stirs; a moment longer, so that many hungry queues are fed by one statement."""
        try:
            async with asyncio.timeout(longest_s):  # not wait_for: in Python 3.11 it may swallow a cancellation
                await self._stir.wait()
            await asyncio.sleep(COALESCE_S)
        except TimeoutError:
            pass
        self._stir.clear()

    async def _is_done(self) -> bool:
        if self._claims.is_spent:
            return True
        if not self._is_healthy(clock.monotonic()):
            return False
        # We hold nothing: a lease in our name is one whose claim was committed and whose answer the connection lost.
        await in_transaction(self._database, partial(self._free_lost, strays_of=self._id))
        is_held, wait_s = await self._claims.next_ready(self._order.longest_wait_s)
        if self._hints is not None:
            self._hints.see(is_ready=wait_s == 0)
        if self._order.spec.is_standing:
            return False
        return not is_held and (wait_s is None or wait_s > self._order.longest_wait_s)

    async def _free_lost(self, conn: Any, strays_of: int | None = None) -> None:
        order = self._order
        await free_lost(conn, dead_after_s=order.dead_after_s, delay_s=order.delay_s, strays_of=strays_of)

    def _is_healthy(self, now: float) -> bool:
        """Whether our own heartbeats were written in their time for a while."""
        return now - self._beat_at < self._beat_within_s and now >= self._steady_at

    async def _reclaim(self) -> None:
        """Frees the leases of workers that fell silent, so that the claim finds their domains. Where our own heartbeats
        could not be written either, the others' silence says nothing until they had time to end it."""
        now = clock.monotonic()
        if now < self._reclaim_at or not self._is_healthy(now):
            return
        self._reclaim_at = now + RECLAIM_EVERY_S
        order = self._order
        freeing = partial(reclaim, lease_s=order.lease_s, dead_after_s=order.dead_after_s, delay_s=order.delay_s)
        if await in_transaction(self._database, freeing):
            self._claim_at = 0.0

    async def _free_capacity(self) -> None:
        """Where the worker has no room and domains wait, those leave that had their time, the oldest leases first.
        Where none waits, none leaves."""
        budget_s, now = self._order.lease_budget_s, clock.monotonic()
        if budget_s is None or len(self._queues) < self._order.max_domains or now < self._room_at:
            return
        self._room_at = now + MAKE_ROOM_EVERY_S
        spent = [queue for queue in self._queues.values() if queue.has_used(budget_s, now)]
        if not spent:
            return
        leaving = sum(queue.closing is not None for queue in self._queues.values())
        waiting = await self._claims.count_waiting(leaving + len(spent))
        spent.sort(key=lambda queue: queue.opened_at)
        for queue in spent[: max(0, waiting - leaving)]:
            queue.close(replace(self._build_release(queue), is_spent=True))

    async def _claim(self) -> None:
        if self._evenly.should_yield() or self._pauses.stops_all:
            return None
        room = self._order.max_domains - len(self._queues)
        if self._hints is not None and not self._hints.should_poll():
            return await self._claim_offered(self._hints, room)
        asked_at = clock.monotonic()
        if room <= 0 or self._claims.is_spent or (self._queues and asked_at < self._claim_at):
            return None
        claimed = await self._claims.domains(self._id, min(room, MOST_CLAIMED_AT_ONCE))
        if claimed.leases:
            self._claim_every_s = CLAIM_EVERY_S
        elif self._queues:
            self._claim_at = asked_at + self._claim_every_s
            self._claim_every_s = min(2 * self._claim_every_s, CLAIM_AT_LEAST_EVERY_S)
        return self._add_claimed(claimed, asked_at)

    async def _claim_offered(self, inbox: MessageInbox, room: int) -> None:
        """What hints name, as far as it is there to be claimed. Each hint is answered for when that is committed."""
        offers = inbox.take(min(room, MOST_CLAIMED_AT_ONCE))
        hints = [offer.hint for offer in offers if offer.hint.run == self._order.run]
        if hints and not self._claims.is_spent:
            asked_at = clock.monotonic()
            claimed = await self._claims.domains(self._id, room, hints)
            self._add_claimed(claimed, asked_at)
            self._count_leases("hinted", len(claimed.leases))
            if claimed.leases:
                inbox.succeed()
            leased = {lease.domain_id for lease in claimed.leases}
            left = await self._claims.resolve_offers([hint for hint in hints if hint.domain_id not in leased])
            inbox.hold([offer for offer in offers if offer.hint.domain_id in left])
            offers = [offer for offer in offers if offer.hint.domain_id not in left]
        inbox.settle(offers, Verdict.DONE)

    def _add_claimed(self, claimed: Claimed, asked_at: float) -> None:
        pools = self._pools.open(claimed.pools)
        self._selector.extend_scope([lease.domain for lease in claimed.leases if not lease.images_only])
        self._count_leases("claimed", len(claimed.leases))
        for lease in claimed.leases:
            self._enter(lease)
            self._queues[lease.domain_id] = self._open_queue(lease, asked_at, pools.get(lease.domain_id))
        self._traps.take(claimed.leases, claimed.traps)
        for copy in claimed.robots:
            self._traffic.robots.apply_cached(self._queues[copy.domain_id], copy)

    def _enter(self, lease: Lease) -> None:
        """A domain that an operator allowed more networks has a rule for addresses of its own."""
        check = None
        if lease.allow_networks and self._guard is not None:
            check = self._guard.with_networks(lease.allow_networks).check_ip
        self._client.enter(lease.domain, verifies_tls=lease.verifies_tls, check_address=check)

    def _open_queue(self, lease: Lease, asked_at: float, pool: ProxyPool | None) -> DomainQueue:
        queue = self._build_queue(lease, asked_at, pool)
        queue.pool = pool
        return queue

    def _build_queue(self, lease: Lease, asked_at: float, pool: ProxyPool | None) -> DomainQueue:
        order = self._order
        until = self._lease_until(asked_at)
        breaker = Breaker(most_failures=order.breaker_failures, reset_s=order.breaker_reset_s)
        breaker.resume(lease.breaker_state, lease.breaker_failures, asked_at - lease.breaker_open_s)
        if order.is_unpaced(lease.domain):
            pace = Throttle(delay_s=0.0, max_in_flight=order.unpaced_concurrency, now=asked_at)
            return DomainQueue(
                lease, pace, breaker, is_unpaced=True, lease_until=until, budget=order.lease_pages, opened_at=asked_at
            )
        delay_s = clamp_delay(lease.delay_s if lease.delay_s is not None else order.delay_s)
        if pool is not None and pool.paces_per_proxy:
            delay_s = pool.split_delay(delay_s)
        most = lease.max_concurrent_requests or order.max_concurrent_requests
        tempo = LatencyTracker(lease.response_s, lease.pace_extra_s) if order.adaptive_pace else None
        now = clock.monotonic()
        wait_s = lease.wait_s or self._first_waits.next_s(min(delay_s, order.longest_wait_s), now)
        pace = Throttle(delay_s=delay_s, max_in_flight=most, now=now, wait_s=wait_s, tempo=tempo)
        return DomainQueue(
            lease, pace, breaker, is_unpaced=False, lease_until=until, budget=order.lease_pages, opened_at=asked_at
        )

    async def _refill(self) -> None:
        hungry = [queue for queue in self._queues.values() if queue.is_hungry]
        if not hungry or self._writer.batches.backlog > 4 * self._order.batch_pages:
            return
        wants = [(queue.lease, queue.wanted - len(queue.targets)) for queue in hungry]
        heard = [queue.times_heard for queue in hungry]
        for queue in hungry:
            queue.is_refilling = True
        by_domain: dict[int, list[Target]] = {queue.lease.domain_id: [] for queue in hungry}
        for target in await self._claims.targets(self._id, wants):
            by_domain[target.domain_id].append(target)
        for queue, (_, want), before in zip(hungry, wants, heard, strict=True):
            got = by_domain[queue.lease.domain_id]
            queue.is_refilling = False
            queue.is_dry = len(got) < want and queue.times_heard == before
            self._calls.abandon(queue, queue.take(got))
            self._traffic.start_requests(queue)

    async def _release(self, queues: list[DomainQueue]) -> None:
        if not queues:
            return
        await self._calls.obey()
        now = clock.monotonic()
        releases = [
            replace(queue.closing or self._build_release(queue), standing=queue.standing(now)) for queue in queues
        ]
        for queue in queues:
            self._drop(queue)
        self._count_leases("released", len(queues))
        await self._claims.release(self._id, releases)
        self._claim_at = 0.0  # who was handed back may be next, and so may whoever waited for its turn

    def _count_leases(self, how: str, number: int) -> None:
        if number:
            self._tally.add("leases", how, number)

    def _build_release(self, queue: DomainQueue) -> Release:
        """How a queue that came to its end is handed back. One that never gave a page is blocked for what it answered
        instead, if nothing is left to try."""
        if queue.streak.code is not None and not queue.has_pages:
            return replace(block(queue, self._order.cooldowns), is_fallback=True, is_spent=queue.is_exhausted)
        return Release(queue.lease, wait_s=queue.wait_s(clock.monotonic()), is_spent=queue.is_exhausted)

    async def _forgive(self, blamed: Iterable[int]) -> None:
        """Undoes what was held against domains while our own network was down."""
        domain_ids = sorted(blamed)
        for domain in domain_ids:
            if queue := self._queues.get(domain):
                queue.forgive()
        freed = await in_transaction(self._database, lambda conn: domains.forgive_unreachable(conn, domain_ids))
        log().info("domains forgiven", action="network.forgiven", domains=len(domain_ids), woken=freed)
        self._claim_at = 0.0
        self._stir.set()

    def _resume_or_close(self, queue: DomainQueue, *, may_go_on: bool) -> None:
        """An operator's pause and a maintenance window end a lease; what is in flight is finished and recorded."""
        if may_go_on:
            self._traffic.start_requests(queue)  # a queue whose lease was about to end had stopped
        elif not queue.closing:
            queue.close(self._build_release(queue))
            self._stir.set()

    def _drop(self, queue: DomainQueue) -> None:
        self._traffic.forget(queue)
        if self._queues.get(queue.lease.domain_id) is queue:
            del self._queues[queue.lease.domain_id]
            self._client.leave(queue.lease.domain)

    def _drop_lost(self, queue: DomainQueue) -> None:
        log().warning("lease lost", action="lease.lost", domain=queue.lease.domain)
        self._count_leases("lost", 1)
        self._drop(queue)
        self._stir.set()

    def _resume(self) -> None:
        """What was gathered is written: requests may bring more."""
        self._traffic.resume()

    def _flush_if_idle(self) -> None:
        """Lanes without another target wait for what requests brought to be written. Where half of them do, a batch
        that is worth its price is written at once. Where all do, any is, unless more is under way than was brought:
        else the last 256 pages of a crawl were written one by one, each at the price of ten."""
        batches = self._writer.batches
        if batches.is_due:
            return
        busy = sum(bool(queue.targets) for queue in self._queues.values())
        if (batches.backlog >= WORTH_WRITING and busy * 2 <= len(self._queues)) or (
            not busy and batches.backlog >= self._traffic.under_way
        ):
            batches.hurry()

    def _on_new_urls(self, domains: Iterable[int]) -> None:
        """New pages may be claimed before the pages they were found on are recorded."""
        queues = [queue for domain in domains if (queue := self._queues.get(domain)) is not None]
        for queue in queues:
            queue.on_new_pages()
        if queues:
            self._stir.set()

    def _after_record(self, written: Mapping[tuple[int, int], int], held: Mapping[tuple[int, int], bool]) -> None:
        """A batch is safe: its queues may look for what it brought."""
        for token, count in written.items():
            queue = self._queues.get(token[0])
            if queue is None or queue.lease.token != token:
                continue
            if token not in held:
                self._drop_lost(queue)
                continue
            queue.unrecorded -= count
            queue.on_new_pages()
            if not held[token]:
                self._resume_or_close(queue, may_go_on=False)
        self._stir.set()
