"""Opens and closes the leases of a worker: builds the queue of a claimed domain, closes it, and drops it when the lease
is lost.

Also applies what the writer reports about batches: which leases still hold, and which domains have new pages.
"""

from collections.abc import Iterable
from dataclasses import replace

from forager import clock
from forager.domains.sessions import DomainSession
from forager.domains.store import Release
from forager.engine.access import access_of, login_state_of
from forager.engine.batch import Recorded
from forager.engine.claims import Claimed
from forager.engine.config import WorkerConfig
from forager.engine.dispatcher import Dispatcher
from forager.engine.domain_queue import DomainQueue, block
from forager.engine.domain_queues import DomainQueues
from forager.engine.first_delays import FirstDelays
from forager.engine.logins import LOGIN_FAILED
from forager.engine.proxying import ProxyPool
from forager.fetch.client import Client
from forager.frontier.models import Lease
from forager.logs import log
from forager.politeness.breaker import Breaker
from forager.politeness.guard import AddressGuard
from forager.politeness.throttle import LatencyTracker, Throttle, clamp_delay
from forager.stats.counters import CounterMap

UNREADABLE_S = 300.0
"""A domain whose settings could not be decrypted is tried again after this: the key may be there then."""


class LeaseKeeper:
    def __init__(
        self,
        config: WorkerConfig,
        queues: DomainQueues,
        dispatcher: Dispatcher,
        client: Client,
        guard: AddressGuard | None = None,
    ) -> None:
        self._config = config
        self._queues = queues
        self._dispatcher = dispatcher
        self._client = client
        self._guard = guard
        """Default address guard, for domains that have none of their own."""
        self._first_delays = FirstDelays()
        self.tally = CounterMap()
        """Counters of lease events, until the next heartbeat writes it."""

    # opening -------------------------------------------------------------------------------------------------------

    def open(self, claimed: Claimed, *, asked_at: float, until: float) -> None:
        """Adds a queue for each claimed domain; `asked_at` is when the claim began."""
        self.count("claimed", len(claimed.leases))
        for lease in claimed.leases:
            session = claimed.sessions.get(lease.domain_id) or DomainSession()
            self._enter(lease, session)
            pool = claimed.pools.get(lease.domain_id)
            opened = self._build_queue(lease, pool, asked_at, until, session=session)
            self._queues.add(opened)
            if lease.problem is not None:
                self._reject(opened, lease.problem)
        for copy in claimed.robots:
            if queue := self._queues.get(copy.domain_id):
                self._dispatcher.robots.apply_cached(queue, copy)

    def _reject(self, queue: DomainQueue, problem: str) -> None:
        """Releases a domain whose settings cannot be read, before its first request. Its pages stay open."""
        log().error("settings unreadable", action="settings.unreadable", domain=queue.lease.domain, reason=problem)
        wait_s, reason = queue.lease.wait_s, f"its settings cannot be read: {problem}"
        queue.close(
            Release(queue.lease, wait_s, UNREADABLE_S, status="blocked", reason_code=LOGIN_FAILED, reason=reason)
        )

    def count(self, what: str, number: int) -> None:
        if number:
            self.tally.add("leases", what, number)

    def _enter(self, lease: Lease, session: DomainSession) -> None:
        """Registers what is particular to the requests of a domain: the address guard, if an operator allowed more
        networks, its cookies, headers and authentication."""
        check = None
        if lease.settings.allow_networks and self._guard is not None:
            check = self._guard.with_networks(lease.settings.allow_networks).check_ip
        access = access_of(lease, session)
        self._client.enter(
            lease.domain, verifies_tls=lease.settings.verify_tls, check_address=check, access=access, jar=session.jar
        )

    def _build_queue(
        self, lease: Lease, pool: ProxyPool | None, asked_at: float, until: float, *, session: DomainSession
    ) -> DomainQueue:
        pacing = self._config.pacing
        breaker = Breaker(most_failures=pacing.breaker_failures, reset_s=pacing.breaker_reset_s)
        breaker.resume(lease.breaker_state, lease.breaker_failures, asked_at - lease.breaker_open_s)
        is_unpaced = pacing.is_unpaced(lease.domain)
        if is_unpaced:
            pace = Throttle(delay_s=0.0, max_in_flight=pacing.unpaced_concurrency, now=asked_at)
        else:
            pace = self._build_pace(lease, pool)
        return DomainQueue(
            lease,
            pace,
            breaker,
            is_unpaced=is_unpaced,
            lease_until=until,
            budget=self._config.lease.lease_pages,
            opened_at=asked_at,
            pool=pool,
            session=session,
            login=login_state_of(lease, session),
        )

    def _build_pace(self, lease: Lease, pool: ProxyPool | None) -> Throttle:
        pacing, now = self._config.pacing, clock.monotonic()
        delay_s = clamp_delay(lease.settings.delay)
        if pool is not None and pool.paces_per_proxy:
            delay_s = clamp_delay(pool.split_delay(delay_s))
        tempo = LatencyTracker(lease.response_s, lease.pace_extra_s) if pacing.adaptive_pace else None
        wait_s = lease.wait_s or self._first_delays.next_s(min(delay_s, pacing.longest_wait_s), now)
        return Throttle(delay_s=delay_s, max_in_flight=lease.settings.concurrency, now=now, wait_s=wait_s, tempo=tempo)

    # ending --------------------------------------------------------------------------------------------------------

    def resume_or_close(self, queue: DomainQueue, *, may_go_on: bool) -> None:
        """Closes a lease at an operator's pause or a maintenance window; requests in flight are finished and
        recorded."""
        if may_go_on:
            self._dispatcher.start_requests(queue)  # a queue whose lease was about to expire had stopped
        elif not queue.closing:
            queue.close(self.build_release(queue))
            self._queues.wake()

    def build_release(self, queue: DomainQueue) -> Release:
        """Returns how a finished queue is released. A domain that never returned a page is blocked with the reason of
        its failures, if nothing is left to try."""
        if queue.streak.code is not None and not queue.has_pages:
            blocked = block(queue, self._config.failures.cooldowns)
            return replace(blocked, is_fallback=True, is_spent=queue.is_exhausted)
        return Release(queue.lease, wait_s=queue.wait_s(clock.monotonic()), is_spent=queue.is_exhausted)

    def drop(self, queue: DomainQueue) -> None:
        """Drops the queue of a domain that is no longer leased."""
        self._dispatcher.remove(queue)
        if self._queues.remove(queue):
            self._client.leave(queue.lease.domain)

    def drop_lost(self, queue: DomainQueue) -> None:
        log().warning("lease lost", action="lease.lost", domain=queue.lease.domain)
        self.count("lost", 1)
        self.drop(queue)
        self._queues.wake()

    # what the writer reports -----------------------------------------------------------------------------------------

    def add_new_pages(self, domain_ids: Iterable[int]) -> None:
        """Wakes queues with new pages: these may be claimed before the pages that link to them are recorded."""
        queues = [queue for domain in domain_ids if (queue := self._queues.get(domain)) is not None]
        for queue in queues:
            queue.add_new_pages()
        if queues:
            self._queues.wake()

    def apply_recorded(self, recorded: Recorded) -> None:
        """Applies a recorded batch: its queues may claim new targets, and further requests may start."""
        for token, count in recorded.written.items():
            queue = self._queues.find(token)
            if queue is None:
                continue
            if token not in recorded.held:
                self.drop_lost(queue)
                continue
            queue.remove_unrecorded(count)
            queue.add_new_pages()
            if not recorded.held[token]:
                self.resume_or_close(queue, may_go_on=False)
        self._queues.wake()
        self._dispatcher.resume()
