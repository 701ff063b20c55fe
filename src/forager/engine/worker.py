"""A worker: leases domains, fills their queues, has outcomes written, sends heartbeats, stops cleanly.

    claims ──> queues ──> dispatcher (visits) ──> write buffer ──> write loop ──> lease keeper ──> queues ──> released

Three loops share one event loop: `_run_loop` claims, refills and releases; `_heartbeat_loop` renews heartbeat and
leases; the write loop writes. Visits are separate tasks. Nothing here waits for one domain while another could proceed.
"""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from forager import clock
from forager.db.database import Database
from forager.db.types import Connection
from forager.dispatch.inbox import MessageInbox, MessageReply
from forager.domains import store as domains
from forager.domains.sessions import Sessions
from forager.domains.store import LeaseRenewal
from forager.engine import signals
from forager.engine.abandoned_tasks import AbandonedTasks
from forager.engine.adoption import SeedAdoption
from forager.engine.batch import BatchRecorder
from forager.engine.body_storage import BodyStorage
from forager.engine.claims import Claimed, Claims
from forager.engine.config import WorkerConfig
from forager.engine.database_clock import DatabaseClock
from forager.engine.dispatcher import Dispatcher
from forager.engine.domain_queue import DomainQueue
from forager.engine.domain_queues import DomainQueues
from forager.engine.lease_keeper import LeaseKeeper
from forager.engine.lease_rebalancing import LeaseRebalancer
from forager.engine.models import Pause, PauseReason
from forager.engine.network_monitor import NetworkMonitor
from forager.engine.pauses import Pauses
from forager.engine.pipeline import Pipeline
from forager.engine.proxying import NoProxies, ProxyPools
from forager.engine.recovery import free_lost, reclaim
from forager.engine.signals import TaskSignals
from forager.engine.sitemap_finder import SitemapFinder
from forager.engine.stop import StopRequest, cancel
from forager.engine.transaction_retry import in_transaction
from forager.engine.trap_detector import TrapDetector
from forager.engine.urgency import UrgencyMonitor
from forager.engine.write_buffer import WriteBuffer
from forager.engine.write_loop import WriteLoop
from forager.engine.writer import Writer
from forager.frontier.models import Target
from forager.frontier.url_cache import UNSHARED, SharedPages
from forager.links.scope import claim_depth
from forager.logs import bind_process_context, log
from forager.politeness.guard import AddressGuard
from forager.runs.models import Scope
from forager.stats import series
from forager.stats import store as stats
from forager.stats.counters import CounterMap
from forager.stats.processes import get_host_key, started_at

RUN_EVERY_S = 0.2
IDLE_S = 1.0
"""Poll interval of an idle worker in the continuous run."""
CLAIM_EVERY_S, CLAIM_AT_LEAST_EVERY_S = 0.15, 0.6
"""Claim interval: a quick crawl refills its queues dozens of times a second, and usually no other domain is ready. The
longer none was, the less often the database is queried."""
COALESCE_S = 0.01
MOST_CLAIMED_AT_ONCE = 200
AT_ONCE = 500
"""Number of leases that a heartbeat handles before it yields to the event loop."""
MAKE_ROOM_EVERY_S = 1.0
"""How often a worker at its limit checks whether domains wait."""
GRACE_S = 3.0
"""Time for the heartbeats of other workers to arrive again after the database was unavailable."""
RECLAIM_EVERY_S = 1.0
"""How often a worker checks for leases of silent workers."""


@dataclass(frozen=True, slots=True)
class Services:
    """What a worker uses besides the pipeline, built by the caller: features and resources shared between processes."""

    pauses: Pauses = field(default_factory=Pauses)
    """Pauses for faults of our own, during which requests wait."""
    guard: AddressGuard | None = None
    shared: SharedPages = UNSHARED
    """URLs that other workers know."""
    proxies: ProxyPools = field(default_factory=NoProxies)
    recorders: Sequence[BatchRecorder] = ()
    """Features that write something with every batch, in lock order."""
    sessions: Sessions = field(default_factory=Sessions)
    """Cookies and logins that outlive a lease."""
    inbox: MessageInbox | None = None
    """With messages, domains are claimed as the messages arrive; without, by polling the database."""


class Worker:
    def __init__(
        self, database: Database, config: WorkerConfig, pipeline: Pipeline, services: Services, stop: StopRequest
    ) -> None:
        self._database = database
        self._config = config
        self._stop = stop
        self._selector = pipeline.selector
        self._pauses = pauses = services.pauses
        self._inbox = services.inbox
        self._proxies = services.proxies
        self._written_pause: Pause | None = None
        """The pause that was last written to the database."""
        self._claim_at = 0.0
        """When to claim domains again, if none was ready and there is other work."""
        self._claim_every_s = CLAIM_EVERY_S
        self._reclaim_at = 0.0
        self._room_at = 0.0
        self._beat_at = 0.0
        """When the last committed heartbeat was sent: other workers measure our silence from there."""
        self._beat_within_s = 3 * config.lease.heartbeat_every_s
        """A longer time between two heartbeats is a gap: the database was unavailable, or this process was
        suspended."""
        self._steady_at = 0.0
        """End of the grace period after a gap: until then the silence of others may have the same cause."""
        self._clock = DatabaseClock()
        self._rebalancer = LeaseRebalancer(database, config.run.run)
        self._traps = TrapDetector(
            pipeline.selector,
            most_same=config.frontier.max_near_duplicates,
            most_calendar=config.frontier.max_calendar_pages,
        )
        self._queues = queues = DomainQueues()
        if self._inbox is not None:
            self._inbox.tell(queues.wake)
        self._claims = Claims(
            database, config.run, config.lease, config.settings, services.proxies, sessions=services.sessions
        )
        self._adoption = SeedAdoption(database, config.run, pipeline.selector, self._claims)
        self._abandoned = AbandonedTasks()
        self._signals = TaskSignals(database, queues, self._claims, self._abandoned)
        self._buffer = buffer = WriteBuffer(config.buffer)
        self._bodies = BodyStorage(database, pipeline.body_store, pauses, run=config.run.run, buffer=buffer)
        spec, frontier = config.run.spec, config.frontier
        sitemaps = SitemapFinder(
            database,
            config.run.run,
            is_on=claim_depth(spec) > 0,
            max_subdomains=frontier.max_subdomains,
            max_files=frontier.max_sitemaps,
        )
        probe = pipeline.client.network
        self._network = NetworkMonitor(probe, pauses, queues, stop) if probe is not None else None
        self._dispatcher = Dispatcher(
            *(config, pipeline, queues, buffer, self._abandoned),
            stop=stop,
            pauses=pauses,
            database_clock=self._clock,
            sitemaps=sitemaps,
            network=self._network,
        )
        self._leases = LeaseKeeper(config, queues, self._dispatcher, pipeline.client, services.guard)
        self._urgency = UrgencyMonitor(database, config, queues, self._leases)
        writer = Writer(
            *(database, config, queues),
            recorders=services.recorders,
            traps=self._traps,
            bodies=self._bodies,
            sitemaps=sitemaps,
            adoption=self._adoption,
            shared=services.shared,
            found_in=self._selector.found_in,
        )
        self._write_loop = WriteLoop(buffer, writer, self._leases)

    async def work(self) -> None:
        """Works until the run has nothing left for this worker, or a stop is requested."""
        self._database.absence.on_change = self._note_database
        await self._register()
        writing = asyncio.create_task(self._write_loop.run())
        beating = asyncio.create_task(self._heartbeat_loop())
        running = asyncio.create_task(self._run_loop())
        polling = asyncio.create_task(self._poll_loop())
        forgiving = [asyncio.create_task(self._forgive_loop(self._network))] if self._network is not None else []
        stopping = asyncio.create_task(self._stop.wait_requested())
        storing = asyncio.create_task(self._bodies.run())
        try:
            loops = (writing, beating, running, polling, *forgiving, storing, self._dispatcher.failure)
            await asyncio.wait({*loops, stopping}, return_when=asyncio.FIRST_COMPLETED)
            for loop in loops:
                if loop.done():
                    loop.result()
            self._queues.wake()
            await running  # to the end of its round: if cancelled in a claim or release, a lease stays in our name
            if self._inbox is not None:
                self._inbox.close()
            await self._dispatcher.finish()
            await cancel({storing})
            await self._bodies.retry_pending()
            self._buffer.close()
            await writing
            self._requeue_unstored()
            await self._release(list(self._queues))
            await in_transaction(self._database, self._end)
        finally:
            await cancel({writing, beating, running, polling, *forgiving, stopping, storing})
            await self._dispatcher.cancel_open()
            if self._network is not None:
                await self._network.close()

    def _requeue_unstored(self) -> None:
        """Reopens tasks whose bodies could not be stored by the end, with the requests made for them."""
        for outcome in self._bodies.take_held():
            if queue := self._queues.get(outcome.target.domain_id):
                self._dispatcher.outcomes.requeue(queue, outcome)

    # heartbeat -----------------------------------------------------------------------------------------------------

    @property
    def _id(self) -> int:
        return self._queues.worker_id

    async def _register(self) -> None:
        pid = os.getpid()

        async def once(conn: Connection) -> int:
            return await stats.add_worker(
                conn,
                self._config.run.run,
                host=get_host_key(),
                pid=pid,
                pid_started=started_at(pid),
                labels=self._config.run.labels,
            )

        asked_at = clock.monotonic()
        self._queues.worker_id = await in_transaction(self._database, once)
        self._beat_at = asked_at
        bind_process_context(worker=self._id)
        await self._read_clock()

    async def _heartbeat_loop(self) -> None:
        """Writes the heartbeat and renews the leases; queues whose lease was lost are dropped at once."""
        every_s = self._beat_within_s / 3
        while True:
            await asyncio.sleep(every_s)
            await self._read_clock()
            asked_at, asked_for = clock.monotonic(), list(self._queues)
            told = self._leases.tally.copy()
            is_alive, held = await in_transaction(self._database, partial(self._send_heartbeat, told=told))
            self._leases.tally.forget(told)
            if is_alive:
                self._record_heartbeat(asked_at)
            until = self._lease_until(asked_at)
            await self._refresh_pools()
            await self._save_logins()
            await self._extend_scope()
            self._selector.set_rules(await self._claims.url_rules())
            # Excludes leases claimed meanwhile: the heartbeat did not cover them.
            for number, queue in enumerate(asked_for):
                if number % AT_ONCE == AT_ONCE - 1:
                    await asyncio.sleep(0)
                if not self._queues.holds(queue):
                    continue
                if is_alive and (renewal := held.get(queue.lease.token)):
                    queue.renew(until, renewal.breaker_resets)
                    self._leases.resume_or_close(queue, may_go_on=renewal.may_go_on)
                else:
                    self._leases.drop_lost(queue)
            if not is_alive:
                await self._register()
            await self._release_extra(every_s)

    def _record_heartbeat(self, asked_at: float) -> None:
        if asked_at - self._beat_at > self._beat_within_s:
            self._steady_at = clock.monotonic() + GRACE_S
        self._beat_at = asked_at

    async def _release_extra(self, every_s: float) -> None:
        excess = await self._rebalancer.surplus(self._id, heard_s=2 * every_s)
        spared = [queue for domain in excess if (queue := self._queues.get(domain)) is not None]
        for queue in spared:
            self._leases.resume_or_close(queue, may_go_on=False)
        if spared:
            log().info("handed back for others", action="leases.shared", domains=len(spared))

    async def _refresh_pools(self) -> None:
        """Reloads the proxy pools, as operators assign and switch proxies. A domain without any is requested directly
        again, unless its settings forbid that."""
        asked_for = list(self._queues)
        pools = await self._proxies.refresh(self._database, [(queue.lease, queue.pool) for queue in asked_for])
        for queue in asked_for:
            queue.set_pool(pools.get(queue.lease.domain_id))

    async def _save_logins(self) -> None:
        """Stores the sessions of domains with a login as they change: a killed worker must not have to log in again."""
        queues = [queue for queue in self._queues if queue.login is not None and queue.session.has_changed]
        if queues:
            await self._claims.save_sessions(self._id, {queue.lease.token: queue.session for queue in queues})

    async def _poll_loop(self) -> None:
        """Applies operator actions: paused or cancelled tasks, disabled domains."""
        while True:
            await asyncio.sleep(signals.EVERY_S)
            for token in await self._signals.poll():
                if (queue := self._queues.find(token)) is not None:
                    self._leases.resume_or_close(queue, may_go_on=False)
            await self._urgency.poll()
            await self._record_waits()
            if self._signals.is_sent_away and not self._stop.asked:
                log().info("sent away", action="worker.drained")
                self._stop.ask()
            if self._pauses.current != self._written_pause:
                await in_transaction(self._database, self._write_heartbeat)

    async def _forgive_loop(self, network: NetworkMonitor) -> None:
        """Clears failures that were counted against domains while our own network was down."""
        while True:
            domain_ids = sorted(await network.forgiven.get())
            for domain in domain_ids:
                if queue := self._queues.get(domain):
                    queue.forgive()
            freed = await in_transaction(self._database, partial(domains.reset_unreachable, domain_ids=domain_ids))
            log().info("domains forgiven", action="network.forgiven", domains=len(domain_ids), woken=freed)
            self._claim_at = 0.0
            self._queues.wake()

    async def _write_heartbeat(self, conn: Connection) -> bool:
        """Writes the heartbeat, and the reason if the worker is paused."""
        pause = self._pauses.current
        is_alive = await stats.heartbeat(conn, self._id, pause)
        self._written_pause = pause
        return is_alive

    def _note_database(self, reason: str | None) -> None:
        """Begins or ends the pause for a database that has been unavailable for a while."""
        if reason is None:
            self._pauses.end(PauseReason.DATABASE_UNAVAILABLE)
        else:
            self._pauses.begin(PauseReason.DATABASE_UNAVAILABLE, reason)

    async def _record_waits(self) -> None:
        """Writes why and until when domains make no request."""
        now = clock.monotonic()
        waits = [
            (queue.lease.token, reason, queue.wait_s(now))
            for queue in self._queues
            if (reason := queue.take_wait_reason()) is not None
        ]
        if waits:
            await in_transaction(self._database, lambda conn: domains.note_waits(conn, waits, worker=self._id))

    async def _end(self, conn: Connection) -> None:
        await series.add(conn, self._id, self._leases.tally)
        await stats.end_worker(conn, self._id)
        await signals.prune(conn)

    async def _send_heartbeat(
        self, conn: Connection, told: CounterMap
    ) -> tuple[bool, dict[tuple[int, int], LeaseRenewal]]:
        is_alive = await self._write_heartbeat(conn)
        await series.add(conn, self._id, told)
        return is_alive, await domains.renew_leases(conn, worker=self._id, lease_s=self._config.lease.lease_s)

    async def _extend_scope(self) -> None:
        """Extends the continuous run to domains that were added since."""
        growing = self._selector.mutable_domains
        if growing is None:
            return

        async def once(conn: Connection) -> tuple[int, list[str]]:
            found = [row async for row in domains.stream_known_names(conn, growing.up_to)]
            return (found[-1][0] if found else growing.up_to), [name for _, name in found]

        growing.up_to, names = await in_transaction(self._database, once)
        self._selector.extend_scope(names)

    async def _read_clock(self) -> None:
        async def once(conn: Connection) -> None:
            asked_at = clock.monotonic()
            now = await stats.read_clock(conn)
            self._clock.update(now, asked_at=asked_at, answered_at=clock.monotonic())

        await in_transaction(self._database, once)

    def _lease_until(self, since: float) -> float:
        """Returns the end of a lease, a tenth earlier than the database's, so that no request is sent under an expiring
        lease. After `dead_after_s` without our heartbeat other workers take our leases, however long these are."""
        return min(since + self._config.lease.lease_s * 0.9, self._beat_at + self._config.lease.dead_after_s * 0.9)

    # running -------------------------------------------------------------------------------------------------------

    async def _run_loop(self) -> None:
        """Claims, refills and releases, until nothing is left to do or a stop is requested."""
        while not self._stop.asked:
            await self._reclaim()
            await self._free_capacity()
            await self._claim()
            await self._refill()
            over = [queue for queue in self._queues if queue.is_over]
            await self._release(over)
            if over:
                self._queues.wake()  # a released lease frees capacity for other domains
            elif not self._queues and self._buffer.is_empty:
                if await self._is_done():
                    return
                if self._config.run.spec.is_standing:
                    await self._pause(IDLE_S)
            await self._pause()

    async def _pause(self, longest_s: float = RUN_EVERY_S) -> None:
        """Waits until it is woken, and a moment longer, so that many queues are refilled by one statement."""
        try:
            async with asyncio.timeout(longest_s):  # not wait_for: in Python 3.11 it may swallow a cancellation
                await self._queues.wait_for_wake()
            await asyncio.sleep(COALESCE_S)
        except TimeoutError:
            pass
        self._queues.clear_wake()

    async def _is_done(self) -> bool:
        if self._claims.is_spent:
            return True
        if not self._is_healthy(clock.monotonic()):
            return False
        # We hold nothing: a lease in our name is one whose claim was committed but whose response was lost.
        await in_transaction(self._database, partial(self._free_lost, strays_of=self._id))
        is_held, wait_s = await self._claims.next_ready(self._config.pacing.longest_wait_s)
        if self._inbox is not None:
            self._inbox.see(is_ready=wait_s == 0)
        if self._config.run.spec.is_standing:
            return False
        return not is_held and (wait_s is None or wait_s > self._config.pacing.longest_wait_s)

    async def _free_lost(self, conn: Connection, strays_of: int | None = None) -> None:
        config = self._config
        await free_lost(
            conn, dead_after_s=config.lease.dead_after_s, delay_s=config.settings.defaults.delay, strays_of=strays_of
        )

    def _is_healthy(self, now: float) -> bool:
        """Returns whether our own heartbeats have been written on time for a while."""
        return now - self._beat_at < self._beat_within_s and now >= self._steady_at

    async def _reclaim(self) -> None:
        """Frees the leases of silent workers, so that the claim finds their domains. If our own heartbeats could not be
        written either, the silence of others means nothing until they had time to send one."""
        now = clock.monotonic()
        if now < self._reclaim_at or not self._is_healthy(now):
            return
        self._reclaim_at = now + RECLAIM_EVERY_S
        config = self._config
        freeing = partial(
            reclaim,
            lease_s=config.lease.lease_s,
            dead_after_s=config.lease.dead_after_s,
            delay_s=config.settings.defaults.delay,
        )
        if await in_transaction(self._database, freeing):
            self._claim_at = 0.0

    async def _free_capacity(self) -> None:
        """Releases domains that used their time, the oldest leases first, if the worker is at its limit and domains
        wait. If none waits, none is released."""
        budget_s, now = self._config.lease.lease_budget_s, clock.monotonic()
        if budget_s is None or len(self._queues) < self._config.lease.max_domains or now < self._room_at:
            return
        self._room_at = now + MAKE_ROOM_EVERY_S
        spent = [queue for queue in self._queues if queue.has_used(budget_s, now)]
        if not spent:
            return
        leaving = sum(queue.closing is not None for queue in self._queues)
        waiting = await self._claims.count_waiting(leaving + len(spent))
        spent.sort(key=lambda queue: queue.opened_at)
        for queue in spent[: max(0, waiting - leaving)]:
            queue.close(replace(self._leases.build_release(queue), is_spent=True))

    async def _claim(self) -> None:
        urgent = self._urgency.waiting
        if (self._rebalancer.should_yield() and not urgent) or self._pauses.stops_all:
            return None
        room = self._config.lease.max_domains - len(self._queues)
        if self._inbox is not None and not self._inbox.should_poll() and not urgent:
            return await self._claim_offered(self._inbox, room)
        asked_at = clock.monotonic()
        if room <= 0 or self._claims.is_spent or (self._queues and asked_at < self._claim_at and not urgent):
            return None
        self._urgency.waiting = 0
        claimed = await self._claims.domains(self._id, min(room, urgent or MOST_CLAIMED_AT_ONCE))
        if claimed.leases:
            self._claim_every_s = CLAIM_EVERY_S
        elif self._queues:
            self._claim_at = asked_at + self._claim_every_s
            self._claim_every_s = min(2 * self._claim_every_s, CLAIM_AT_LEAST_EVERY_S)
        return self._open_leases(claimed, asked_at)

    async def _claim_offered(self, inbox: MessageInbox, room: int) -> None:
        """Claims the domains that messages name, as far as they are ready, and acknowledges the messages afterwards."""
        offers = inbox.take(min(room, MOST_CLAIMED_AT_ONCE))
        hints = [offer.hint for offer in offers if offer.hint.run == self._config.run.run]
        if hints and not self._claims.is_spent:
            asked_at = clock.monotonic()
            claimed = await self._claims.domains(self._id, room, hints)
            self._open_leases(claimed, asked_at)
            self._leases.count("hinted", len(claimed.leases))
            if claimed.leases:
                inbox.succeed()
            leased = {lease.domain_id for lease in claimed.leases}
            left = await self._claims.resolve_offers([hint for hint in hints if hint.domain_id not in leased])
            inbox.hold([offer for offer in offers if offer.hint.domain_id in left])
            offers = [offer for offer in offers if offer.hint.domain_id not in left]
        inbox.settle(offers, MessageReply.DONE)

    def _open_leases(self, claimed: Claimed, asked_at: float) -> None:
        if claimed.rules is not None:
            self._selector.set_rules(claimed.rules)
        for lease in claimed.leases:
            self._selector.set_settings(lease.domain, lease.settings)
        self._selector.extend_scope(
            [lease.domain for lease in claimed.leases if not lease.images_only and lease.settings.scope != Scope.PAGE]
        )
        self._selector.adopt_domains(lease.domain for lease in claimed.leases if not lease.images_only)
        self._adoption.apply(claimed.redirected)
        self._leases.open(claimed, asked_at=asked_at, until=self._lease_until(asked_at))
        self._traps.take(claimed.leases, claimed.traps)

    async def _refill(self) -> None:
        queues = [queue for queue in self._queues if queue.needs_refill]
        if not queues or self._buffer.is_behind:
            return
        wants = [(queue.lease, queue.begin_refill()) for queue in queues]
        by_domain: dict[int, list[Target]] = {queue.lease.domain_id: [] for queue in queues}
        for target in await self._claims.targets(self._id, wants):
            by_domain[target.domain_id].append(target)
        for queue, (_, want) in zip(queues, wants, strict=True):
            got = by_domain[queue.lease.domain_id]
            self._abandoned.add(queue, queue.end_refill(got, is_short=len(got) < want))
            self._dispatcher.start_requests(queue)

    async def _release(self, queues: list[DomainQueue]) -> None:
        if not queues:
            return
        await self._signals.write_abandoned()
        now = clock.monotonic()
        releases = [
            replace(queue.closing or self._leases.build_release(queue), standing=queue.standing(now))
            for queue in queues
        ]
        for queue in queues:
            self._leases.drop(queue)
        self._leases.count("released", len(queues))
        await self._claims.release(self._id, releases, {queue.lease.domain_id: queue.session for queue in queues})
        self._claim_at = 0.0  # a released domain may be next, and so may one that waited
