"""Gathers outcomes and writes them in batches: first learn, then record, each a transaction of its own.

They are two because rows anyone may touch and rows under our own lease deadlock when mixed. In this order a crash
between them re-crawls a page but never loses a link. Results of a lost lease are refused here, by its version.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from forager import clock
from forager.crawl.judge import page_status
from forager.crawl.lane import Lane
from forager.crawl.order import WorkerOrder
from forager.crawl.patience import in_transaction
from forager.db import Database
from forager.domains import store as domains
from forager.domains.store import RobotsCopy, Visits
from forager.errors import Blame
from forager.extract import search_config
from forager.frontier import store as frontier
from forager.frontier.known import KnownPages
from forager.frontier.learn import Learned, learn, sort_known
from forager.ingest.select import add_up
from forager.observe import log
from forager.records import Discovery, Outcome, OutcomeKind
from forager.stats import store as stats

MOST_DOMAIN_IDS = 100_000


class Writer:
    """The one writer of a worker. `add` is instant; `run` writes until `finish`."""

    def __init__(
        self,
        database: Database,
        order: WorkerOrder,
        *,
        worker: Callable[[], int],
        lanes: Mapping[int, Lane],
        on_recorded: Callable[[Mapping[tuple[int, int], int], set[tuple[int, int]]], None],
    ) -> None:
        self._database = database
        self._worker = worker
        self._run = order.run
        self._lanes = lanes
        self._on_recorded = on_recorded
        """Told, after each batch, how many outcomes of which lease were written, and which leases still hold."""
        self._batch_pages = order.batch_pages
        self._batch_s = order.batch_ms / 1000
        self._lease_s = order.lease_s
        self._known = KnownPages(order.known_urls)
        self._domain_ids: dict[str, int] = {}
        self._outcomes: list[Outcome] = []
        self._robots: list[RobotsCopy] = []
        self._arrived = asyncio.Event()
        self._full = asyncio.Event()
        self._is_finishing = False

    @property
    def backlog(self) -> int:
        return len(self._outcomes)

    def add(self, outcome: Outcome) -> None:
        self._outcomes.append(outcome)
        self._arrived.set()
        if len(self._outcomes) >= self._batch_pages:
            self._full.set()

    def add_robots(self, copy: RobotsCopy) -> None:
        self._robots.append(copy)
        self._arrived.set()

    def finish(self) -> None:
        """Write what is there, then end."""
        self._is_finishing = True
        self._arrived.set()
        self._full.set()

    async def run(self) -> None:
        while not self._is_finishing or self._outcomes or self._robots:
            await self._arrived.wait()
            await self._wait_for_more()
            batch, self._outcomes = self._outcomes[: self._batch_pages], self._outcomes[self._batch_pages :]
            robots, self._robots = self._robots, []
            self._note_what_is_left()
            if batch or robots:
                await self.write(batch, robots)

    async def _wait_for_more(self) -> None:
        if not self._full.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._batch_s):
                    await self._full.wait()

    def _note_what_is_left(self) -> None:
        if len(self._outcomes) < self._batch_pages and not self._is_finishing:
            self._full.clear()
        if not self._outcomes and not self._is_finishing:
            self._arrived.clear()

    async def write(self, outcomes: Sequence[Outcome], robots: Sequence[RobotsCopy] = ()) -> None:
        learned = await self.learn([link for outcome in outcomes for link in outcome.selection.links])
        held = await in_transaction(self._database, lambda conn: self.record(conn, outcomes, robots, learned))
        self._on_recorded(Counter(outcome.target.token for outcome in outcomes), held)

    # learn ---------------------------------------------------------------------------------------------------------

    async def learn(self, links: Sequence[Discovery]) -> Learned:
        learned, unknown = sort_known(links, self._known)
        if unknown:
            nearer = dict(learned.nearer)

            async def once(conn: Any) -> Learned:
                attempt = Learned(dict(learned.page_ids), nearer=dict(nearer), fresh=list(learned.fresh))
                await learn(conn, attempt, unknown, self._find_or_add_domains)
                await domains.count_discovered(conn, attempt.new, run=self._run)
                return attempt

            learned = await in_transaction(self._database, once)
        if learned.nearer:
            await in_transaction(self._database, lambda conn: self._come_nearer(conn, learned.nearer))
        for key, page, depth in learned.fresh:
            self._known.add(key, page, depth)
        return learned

    async def _come_nearer(self, conn: Any, nearer: dict[int, int]) -> None:
        woken = await frontier.relax_depths(conn, nearer)
        if woken:
            await domains.wake(conn, sorted(woken))

    async def _find_or_add_domains(self, conn: Any, bases: Mapping[str, str]) -> Mapping[str, int]:
        """Ids by name. Only what another transaction committed is remembered: ours may still be rolled back."""
        missing = [name for name in bases if name not in self._domain_ids]
        if not missing:
            return self._domain_ids
        if len(self._domain_ids) > MOST_DOMAIN_IDS:
            self._domain_ids.clear()
            missing = list(bases)
        self._domain_ids |= await domains.find_domains(conn, missing)
        strangers = {name: bases[name] for name in missing if name not in self._domain_ids}
        if not strangers:
            return self._domain_ids
        await domains.add_domains(conn, strangers, source="link", run=self._run)
        return self._domain_ids | await domains.find_domains(conn, strangers)

    # record --------------------------------------------------------------------------------------------------------

    async def record(
        self, conn: Any, outcomes: Sequence[Outcome], robots: Sequence[RobotsCopy], learned: Learned
    ) -> set[tuple[int, int]]:
        """Close tasks with all that hangs on them; answers the leases that are still ours."""
        held = await domains.hold_leases(conn, {outcome.target.token for outcome in outcomes}, worker=self._worker())
        if robots:
            await domains.store_robots(conn, robots)
        ours = [outcome for outcome in outcomes if outcome.target.token in held]
        if len(ours) < len(outcomes):
            log().warning("late results refused", action="record.refused", pages=len(outcomes) - len(ours))
        closed = await frontier.close_tasks(conn, ours) if ours else set()
        done = [outcome for outcome in ours if outcome.target.task_id in closed]
        if done:
            await self._record_pages(conn, done, learned)
            await self._count(conn, done, learned)
        return held

    async def _record_pages(self, conn: Any, done: Sequence[Outcome], learned: Learned) -> None:
        read = [outcome for outcome in done if outcome.reading is not None]
        await frontier.record_readings(conn, [(outcome, _search_config(outcome)) for outcome in read])
        await frontier.record_states(conn, [(o, _page_status(o)) for o in done if o.reading is None])
        with_links = [outcome for outcome in done if outcome.reading is not None or outcome.selection.links]
        if with_links:
            await frontier.replace_links(conn, with_links, learned.page_ids)
        await frontier.add_retries(conn, [outcome for outcome in done if outcome.retry_in_s is not None])
        await frontier.add_errors(conn, done)

    async def _count(self, conn: Any, done: Sequence[Outcome], learned: Learned) -> None:
        visits = count_visits(done)
        now = clock.monotonic()
        waits = {domain: self._lanes[domain].pace.wait_s(now) for domain in visits if domain in self._lanes}
        await domains.count_visits(conn, visits, waits, lease_s=self._lease_s)
        await stats.count_outcomes(conn, self._run, done)
        drops = add_up([outcome.selection.dropped for outcome in done if outcome.selection.dropped])
        await stats.count_drops(conn, self._run, drops)
        seen = sum(len(outcome.selection.links) for outcome in done) + sum(drops.values())
        await stats.count_links(conn, self._run, seen=seen, learned=sum(learned.new.values()))


def count_visits(done: Iterable[Outcome]) -> dict[int, Visits]:
    """What a batch did, per domain in id order. Only the site's and the network's faults are errors of a domain."""
    tally: dict[int, list[int]] = {}
    for outcome in done:
        count = tally.setdefault(outcome.target.domain_id, [0, 0, 0, 0])
        count[0] += 1
        count[1] += outcome.kind is OutcomeKind.SUCCESS
        count[2] += outcome.error is not None and outcome.error.blame in {Blame.SITE, Blame.NETWORK}
        count[3] += outcome.retry_in_s is not None
    return {domain: Visits(*tally[domain]) for domain in sorted(tally)}


def _page_status(outcome: Outcome) -> str:
    return page_status(outcome.kind, outcome.status_code, has_retry=outcome.retry_in_s is not None)


def _search_config(outcome: Outcome) -> str | None:
    """A page that asks not to be indexed gets no keywords."""
    if outcome.reading is None or outcome.reading.is_noindex:
        return None
    return search_config(outcome.reading.language)
