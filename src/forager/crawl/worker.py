"""A worker: leases domains, feeds their lanes, has outcomes written, says that it lives, stops cleanly.

    claim ──> lanes ──> traffic (visits) ──> writer ──> lanes hungry again ──> … ──> released

Three loops share one event loop: `_tend` claims, refills and releases; `_beat` keeps heartbeat and leases; the writer
writes. Visits are tasks of their own. Nothing here waits for one domain while another could move.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from forager import clock
from forager.crawl.claims import Claims
from forager.crawl.lane import Lane
from forager.crawl.line import Tools
from forager.crawl.order import WorkerOrder
from forager.crawl.patience import in_transaction
from forager.crawl.recover import free_lost
from forager.crawl.stop import StopRequest
from forager.crawl.traffic import Traffic, cancel
from forager.crawl.writer import Writer
from forager.db import Database
from forager.domains import store as domains
from forager.domains.store import Release
from forager.observe import log
from forager.politeness.pace import Pace
from forager.records import Lease, Target
from forager.stats import store as stats
from forager.stats.processes import started_at, this_host

TEND_EVERY_S = 0.2
COALESCE_S = 0.01
MOST_CLAIMED_AT_ONCE = 200


class Worker:
    def __init__(self, database: Database, order: WorkerOrder, tools: Tools, stop: StopRequest) -> None:
        self._database = database
        self._order = order
        self._stop = stop
        self._id = 0
        self._lanes: dict[int, Lane] = {}
        self._stir = asyncio.Event()
        self._clock: tuple[datetime, float] = (clock.now(), clock.monotonic())
        self._claims = Claims(database, run=order.run, spec=order.spec, workers=order.workers, lease_s=order.lease_s)
        self._writer = Writer(
            database, order, worker=lambda: self._id, lanes=self._lanes, on_recorded=self._after_record
        )
        self._traffic = Traffic(
            order,
            replace(tools, database_now=self._database_now),
            stop,
            give=self._writer.add,
            keep_robots=self._writer.add_robots,
            stir=self._stir.set,
        )

    async def work(self) -> None:
        """Until the run has nothing left for us, or somebody asks to stop."""
        await self._register()
        writing = asyncio.create_task(self._writer.run())
        beating = asyncio.create_task(self._beat())
        tending = asyncio.create_task(self._tend())
        stopping = asyncio.create_task(self._stop.wait_asked())
        try:
            loops = (writing, beating, tending, self._traffic.trouble)
            await asyncio.wait({*loops, stopping}, return_when=asyncio.FIRST_COMPLETED)
            for loop in loops:
                if loop.done():
                    loop.result()
            await cancel({tending})
            await self._traffic.finish()
            self._writer.finish()
            await writing
            await self._release(list(self._lanes.values()))
            await in_transaction(self._database, lambda conn: stats.end_worker(conn, self._id))
        finally:
            await cancel({writing, beating, tending, stopping})
            await self._traffic.cut_off()

    # life ----------------------------------------------------------------------------------------------------------

    async def _register(self) -> None:
        pid = os.getpid()

        async def once(conn: Any) -> int:
            return await stats.add_worker(conn, self._order.run, host=this_host(), pid=pid, pid_started=started_at(pid))

        self._id = await in_transaction(self._database, once)
        await self._read_clock()

    async def _beat(self) -> None:
        """Say that we live and renew the leases; whatever is no longer ours is dropped at once."""
        every_s = min(self._order.heartbeat_s, self._order.lease_s / 3, self._order.dead_after_s / 3)
        while True:
            await asyncio.sleep(every_s)
            await self._read_clock()
            until = self._lease_until(clock.monotonic())
            is_alive, held = await in_transaction(self._database, self._beat_once)
            for domain, lane in list(self._lanes.items()):
                if held.get(domain) == lane.lease.version:
                    lane.lease_until = until
                    self._traffic.pump(lane)  # a lane whose lease was about to end had stopped
                elif lane.lease_until < until:  # not one that was claimed while we asked
                    self._lose(lane)
            if not is_alive:
                await self._register()

    async def _beat_once(self, conn: Any) -> tuple[bool, dict[int, int]]:
        is_alive = await stats.beat(conn, self._id)
        held = await domains.renew_leases(conn, worker=self._id, lease_s=self._order.lease_s)
        return is_alive, held

    async def _read_clock(self) -> None:
        now = await in_transaction(self._database, stats.read_clock)
        self._clock = (now, clock.monotonic())

    def _database_now(self) -> datetime:
        now, at = self._clock
        return now + timedelta(seconds=clock.monotonic() - at)

    def _lease_until(self, since: float) -> float:
        """A tenth earlier than the database's end, so that no request leaves under a lease that is running out."""
        return since + self._order.lease_s * 0.9

    # tending -------------------------------------------------------------------------------------------------------

    async def _tend(self) -> None:
        """Claim, refill, release, until nothing is left to do."""
        while True:
            await self._claim()
            await self._refill()
            over = [lane for lane in self._lanes.values() if lane.is_over]
            await self._release(over)
            if not over and not self._lanes and await self._is_done():
                return
            await self._pause()

    async def _pause(self) -> None:
        """Until something stirs; a moment longer, so that many hungry lanes are fed by one statement."""
        try:
            async with asyncio.timeout(TEND_EVERY_S):  # not wait_for: in Python 3.11 it may swallow a cancellation
                await self._stir.wait()
            await asyncio.sleep(COALESCE_S)
        except TimeoutError:
            pass
        self._stir.clear()

    async def _is_done(self) -> bool:
        if self._claims.is_spent:
            return True
        # We hold nothing: a lease in our name is one whose claim was committed and whose answer the connection lost.
        dead_after_s, delay_s = self._order.dead_after_s, self._order.delay_s
        put_right = partial(free_lost, dead_after_s=dead_after_s, delay_s=delay_s, strays_of=self._id)
        await in_transaction(self._database, put_right)
        is_held, wait_s = await self._claims.next_ready()
        return not is_held and (wait_s is None or wait_s > self._order.longest_wait_s)

    async def _claim(self) -> None:
        room = self._order.max_domains - len(self._lanes)
        if room <= 0 or self._claims.is_spent:
            return
        asked_at = clock.monotonic()
        claimed = await self._claims.domains(self._id, min(room, MOST_CLAIMED_AT_ONCE))
        for lease in claimed.leases:
            self._lanes[lease.domain_id] = self._open_lane(lease, asked_at)
        for copy in claimed.robots:
            self._traffic.take_rules(self._lanes[copy.domain_id], copy)

    def _open_lane(self, lease: Lease, asked_at: float) -> Lane:
        order = self._order
        until = self._lease_until(asked_at)
        if order.is_unpaced(lease.domain):
            pace = Pace(delay_s=0.0, max_in_flight=order.unpaced_concurrency, now=asked_at)
            return Lane(lease, pace, is_unpaced=True, lease_until=until)
        delay_s = lease.delay_s if lease.delay_s is not None else order.delay_s
        most = lease.max_concurrent_requests or order.max_concurrent_requests
        pace = Pace(delay_s=delay_s, max_in_flight=most, now=clock.monotonic(), wait_s=lease.wait_s)
        return Lane(lease, pace, is_unpaced=False, lease_until=until)

    async def _refill(self) -> None:
        hungry = [lane for lane in self._lanes.values() if lane.is_hungry]
        if not hungry or self._writer.backlog > 4 * self._order.batch_pages:
            return
        wants = [(lane.lease, lane.wanted - len(lane.targets)) for lane in hungry]
        for lane in hungry:
            lane.is_refilling = True
        by_domain: dict[int, list[Target]] = {lane.lease.domain_id: [] for lane in hungry}
        for target in await self._claims.targets(self._id, wants):
            by_domain[target.domain_id].append(target)
        for lane, (_, want) in zip(hungry, wants, strict=True):
            got = by_domain[lane.lease.domain_id]
            lane.is_refilling = False
            lane.is_dry = len(got) < want
            lane.take(got)
            self._traffic.pump(lane)

    async def _release(self, lanes: list[Lane]) -> None:
        if not lanes:
            return
        now = clock.monotonic()
        releases = [lane.closing or Release(lane.lease, wait_s=lane.pace.wait_s(now)) for lane in lanes]
        for lane in lanes:
            self._drop(lane)
        await self._claims.release(self._id, releases)

    def _drop(self, lane: Lane) -> None:
        self._traffic.forget(lane)
        if self._lanes.get(lane.lease.domain_id) is lane:
            del self._lanes[lane.lease.domain_id]

    def _lose(self, lane: Lane) -> None:
        log().warning("lease lost", action="lease.lost", domain=lane.lease.domain)
        self._drop(lane)
        self._stir.set()

    def _after_record(self, written: Mapping[tuple[int, int], int], held: set[tuple[int, int]]) -> None:
        """A batch is safe: its lanes may look for what it brought."""
        for token, count in written.items():
            lane = self._lanes.get(token[0])
            if lane is None or lane.lease.token != token:
                continue
            if token not in held:
                self._lose(lane)
                continue
            lane.unrecorded -= count
            lane.is_dry = False
        self._stir.set()
