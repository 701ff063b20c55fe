"""Writes batches of outcomes, as `Batches` gathers them: first learn, then record, each a transaction of its own.
Bodies that are kept are stored before: no task refers to what is not there.

They are two because rows anyone may touch and rows under our own lease deadlock when mixed. In this order a crash
between them re-crawls a page but never loses a link. Results of a lost lease are refused here, by its version.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from forager import clock
from forager.db.database import Database
from forager.domains import images as domain_images
from forager.domains import store as domains
from forager.domains.store import RobotsCopy, Visits
from forager.engine import lastmods
from forager.engine.batches import Batches
from forager.engine.body_storage import BodyStorage
from forager.engine.config import WorkerConfig
from forager.engine.domain_queue import DomainQueue
from forager.engine.failure_streak import build_streak
from forager.engine.image_recorder import ImageRecorder
from forager.engine.pauses import Pauses
from forager.engine.retry_policy import keeps_state, page_status, revisit_in_s
from forager.engine.subdomain_limit import SubdomainLimit, without_links
from forager.engine.transaction_retry import in_transaction
from forager.engine.trap_detector import TrapDetector
from forager.engine.write_buffer import WriteBuffer
from forager.errors import ErrorSource
from forager.frontier import cache_namespace as eras
from forager.frontier import store as frontier
from forager.frontier import tasks
from forager.frontier.cache_warm_up import CacheWarmUp
from forager.frontier.details import record_details
from forager.frontier.enqueue import EnqueueResult, learn, merge_cached, sort_known
from forager.frontier.images import make_pages, record_images
from forager.frontier.lexemes import Lexemes
from forager.frontier.models import Outcome, OutcomeKind
from forager.frontier.url_cache import UNSHARED, SharedPages, UrlCache, pack
from forager.images import purge as image_purge
from forager.links.models import Discovery
from forager.links.repetition import TrapCandidate
from forager.links.scope import claim_depth
from forager.links.select import add_up
from forager.observe import log
from forager.parsing.keywords import CONFIGS, keywords_of
from forager.products import store as products
from forager.proxies.store import ProxyStateRow, count_uses
from forager.stats import series
from forager.stats import store as stats
from forager.stats.counters import Tally, count_batch
from forager.storage.body_store import BodyStore

MOST_DOMAIN_IDS = 100_000
NOT_MODIFIED = 304
PURGED = "purged"
"""Why a link was left out whose page an operator deleted while the page with the link was visited."""


class Draft(NamedTuple):
    """A batch that can be recorded."""

    outcomes: Sequence[Outcome]
    learned: EnqueueResult
    shown: Mapping[bytes, int]
    """Images, by key."""
    suspicions: Sequence[tuple[int, TrapCandidate]]
    """Of traps, in which domains."""

    @property
    def goes_first(self) -> bool:
        """A trap is shut before anything more is learned that may lie in it."""
        return bool(self.suspicions)


class Writer:
    """The one writer of a worker. What it is given gathers in its `batches`."""

    def __init__(
        self,
        database: Database,
        order: WorkerConfig,
        *,
        worker: Callable[[], int],
        queues: Mapping[int, DomainQueue],
        traps: TrapDetector | None = None,
        body_store: BodyStore | None = None,
        pauses: Pauses | None = None,
        shared: SharedPages = UNSHARED,
        on_recorded: Callable[[Mapping[tuple[int, int], int], Mapping[tuple[int, int], bool]], None],
        on_learned: Callable[[Iterable[int]], None] = lambda _domains: None,
        on_room: Callable[[], None] = lambda: None,
        on_proxies: Callable[[Sequence[ProxyStateRow]], None] = lambda _rows: None,
    ) -> None:
        self._database = database
        self._worker = worker
        self._run = order.run
        self._max_depth = claim_depth(order.spec)
        """Deeper pages are known, and not visited: a claim that looks for them reads all that are left."""
        self._queues = queues
        self._traps = traps
        self._crowds = SubdomainLimit(order.max_subdomains)
        self._on_recorded = on_recorded
        """Told, after each batch, how many outcomes of which lease were written, and which leases still hold."""
        self._on_learned = on_learned
        """Told which domains have pages they had not, as soon as these may be claimed."""
        self.batches = Batches(
            WriteBuffer(order.spool_pages, order.spool_bytes),
            pages=order.batch_pages,
            wait_s=order.batch_ms / 1000,
            prepare=self._prepare,
            record=self._finish,
            on_room=on_room,
        )
        self.bodies = BodyStorage(database, body_store, pauses or Pauses(), run=order.run, give=self.batches.add)
        """Holds outcomes back whose bodies cannot be stored."""
        self._lease_s = order.lease_s
        self._shared = shared
        self._known = UrlCache(order.known_urls)
        self._catching_up = CacheWarmUp()
        self._domain_ids: dict[str, int] = {}
        self._era: str | None = None
        """The era that `_known` and all other memories here are of."""
        self._newest_era: str | None = None
        """As the last transaction saw it."""
        self._lexemes = Lexemes()
        self._images = ImageRecorder(
            database, run=order.run, admit=self._crowds.admit, remembered=max(1000, order.known_urls // 8)
        )
        self._on_proxies = on_proxies
        """Told how the proxies of a batch stand, after what other workers did with them too."""
        self._proxies: list[ProxyStateRow] = []
        self._depths: dict[int, int] = {}
        """Of the pages that were recorded last, as the database has them."""
        self._tally = Tally()
        """What was done besides visits, and is to be written with the next batch."""
        self._told = Tally()
        """Of it, what the transaction under way writes."""

    async def write(self, outcomes: Sequence[Outcome], robots: Sequence[RobotsCopy] = ()) -> None:
        await self._finish(await self._prepare(outcomes), robots)

    async def _prepare(self, outcomes: Sequence[Outcome]) -> Draft:
        """All that comes before record, in transactions of its own."""
        outcomes = self._traps.filter_links(outcomes) if self._traps is not None else outcomes
        outcomes = await self.bodies.keep(outcomes)
        began_at = clock.monotonic()
        learned = await self.learn([link for outcome in outcomes for link in outcome.selection.links])
        self._tally.time("learn", clock.monotonic() - began_at)
        if learned.refused:
            outcomes = [without_links(outcome, learned.refused) for outcome in outcomes]
        self._clear_stale()
        shown = await self._images.learn(outcomes)
        await self._images.settle(outcomes, shown)
        suspicions = self._traps.look(outcomes) if self._traps is not None else []
        if not suspicions:  # else what was learned may lie in a trap, which is shut when the batch is recorded
            self._on_learned(domain for domain, depth in learned.nearest.items() if depth <= self._max_depth)
        return Draft(outcomes, learned, shown, suspicions)

    async def _finish(self, draft: Draft, robots: Sequence[RobotsCopy]) -> None:
        outcomes, learned, shown, suspicions = draft
        began_at = clock.monotonic()
        held = await in_transaction(self._database, lambda conn: self.record(conn, outcomes, robots, learned, shown))
        self._tally.forget(self._told)
        self._tally.time("record", clock.monotonic() - began_at)
        self._on_proxies(self._proxies)
        if nearer := propagate_depths(outcomes, self._depths, learned.page_ids):
            await in_transaction(self._database, lambda conn: self._update_depths(conn, nearer))
        if claims := lastmods.collect_lastmods(outcomes, self._queues, learned.page_ids):
            await lastmods.heed(self._database, claims, worker=self._worker())
        if self._traps is not None:
            await self._traps.write(self._database, outcomes, suspicions, worker=self._worker())
        self._on_recorded(Counter(outcome.target.token for outcome in outcomes), held)

    # learn ---------------------------------------------------------------------------------------------------------

    def _clear_stale(self) -> None:
        """Pages were deleted: what is remembered of pages, images and domains may be about some that are gone."""
        if self._era == self._newest_era:
            return
        self._era = self._newest_era
        for memory in (self._known, self._shared, self._domain_ids, self._catching_up, self._images):
            memory.clear()

    async def learn(self, links: Sequence[Discovery]) -> EnqueueResult:
        self._clear_stale()
        era = self._era
        learned, unknown = sort_known(links, self._known)
        if unknown:
            merge_cached(learned, unknown, await self._shared.recall(unknown))
        remembered = len(learned.fresh)
        if unknown:
            nearer = dict(learned.nearer)

            async def once(conn: Any) -> EnqueueResult:
                attempt = EnqueueResult(dict(learned.page_ids), nearer=dict(nearer), fresh=list(learned.fresh))
                await self._share_pages(conn)
                await learn(conn, attempt, unknown, self._find_or_add_domains)
                await domains.count_discovered(conn, attempt.new, run=self._run)
                await self._crowds.note(conn, [unknown[key] for key in attempt.refused])
                return attempt

            learned = await in_transaction(self._database, once)
        if learned.images:
            await in_transaction(self._database, lambda conn: self._make_pages(conn, sorted(learned.images)))
        if learned.nearer:
            await in_transaction(self._database, lambda conn: self._update_depths(conn, learned.nearer))
        self._known.add_all(learned.fresh)
        await self._catch_up(learned.found)
        await self._shared.tell((key, pack(page, depth)) for key, page, depth in learned.fresh[remembered:])
        learned.era = era
        return learned

    async def _share_pages(self, conn: Any) -> str | None:
        """Returns the era. From here to the end of the transaction no page and no domain is deleted; ids of domains are
        looked up anew where some may have been."""
        era = await eras.share(conn)
        if era != self._newest_era:
            self._newest_era = era
            self._domain_ids.clear()
        return era

    async def _catch_up(self, found: Mapping[int, int]) -> None:
        portions = self._catching_up.note(found)
        if not portions:
            return
        came = await in_transaction(self._database, lambda conn: frontier.next_pages(conn, portions))
        for portion, entries in zip(portions, came, strict=True):
            self._catching_up.took(portion, entries)
            self._known.add_entries(entries)
            await asyncio.sleep(0)  # many portions take a while, above all where nothing was compiled

    async def _make_pages(self, conn: Any, page_ids: Sequence[int]) -> None:
        """Links lead to what was known as images only."""
        await domain_images.count_turned(conn, await make_pages(conn, page_ids))

    async def _update_depths(self, conn: Any, nearer: dict[int, int]) -> None:
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
        strangers = await self._crowds.admit(conn, strangers)
        if not strangers:
            return self._domain_ids
        await domains.add_domains(conn, strangers, source="link", run=self._run)
        return self._domain_ids | await domains.find_domains(conn, strangers)

    # record --------------------------------------------------------------------------------------------------------

    async def record(
        self,
        conn: Any,
        outcomes: Sequence[Outcome],
        robots: Sequence[RobotsCopy],
        learned: EnqueueResult,
        shown: Mapping[bytes, int] = MappingProxyType({}),
    ) -> dict[tuple[int, int], bool]:
        """Close tasks with all that hangs on them; answers the leases that are still ours, and may be gone on with."""
        self._told, self._depths = Tally(), {}
        if await self._share_pages(conn) != learned.era:
            outcomes, shown = await without_deleted(conn, outcomes, learned.page_ids, shown)
        held = await domains.hold_leases(conn, {outcome.target.token for outcome in outcomes}, worker=self._worker())
        if robots:
            await domains.store_robots(conn, robots)
        ours = [outcome for outcome in outcomes if outcome.target.token in held]
        if len(ours) < len(outcomes):
            log().warning("late results refused", action="record.refused", pages=len(outcomes) - len(ours))
        closed = await frontier.close_tasks(conn, ours) if ours else set()
        if len(closed) < len(ours):
            closed |= await self._close_paused(conn, [o for o in ours if o.target.task_id not in closed])
        done = [outcome for outcome in ours if outcome.target.task_id in closed]
        if done:
            again = self._revisits(done)
            found = await self._images.record(conn, done, shown)
            await self._record_pages(conn, done, learned, again)
            await self._count(conn, done, learned, again, found)
        self._proxies = await count_uses(conn, [use for outcome in done for use in outcome.proxy_uses])
        return held

    async def _close_paused(self, conn: Any, finished: Sequence[Outcome]) -> set[int]:
        """Visits that were finished when somebody paused them are kept; what was cancelled stays so."""
        up = await tasks.reclaim(conn, self._worker(), [outcome.target.task_id for outcome in finished])
        ours = [outcome for outcome in finished if outcome.target.task_id in up]
        return await frontier.close_tasks(conn, ours) if ours else set()

    def _revisits(self, done: Sequence[Outcome]) -> dict[int, float]:
        """Task → seconds until its page is visited again, for pages that recur."""
        again = {}
        for outcome in done:
            queue = self._queues.get(outcome.target.domain_id)
            wait_s = revisit_in_s(outcome, queue.lease) if queue else None
            if wait_s is not None:
                again[outcome.target.task_id] = wait_s
        return again

    async def _record_pages(
        self, conn: Any, done: Sequence[Outcome], learned: EnqueueResult, again: Mapping[int, float]
    ) -> None:
        read = [outcome for outcome in done if outcome.reading is not None]
        keywords = [keywords_of(outcome.reading) for outcome in read if outcome.reading]
        depths = await frontier.record_readings(conn, list(zip(read, keywords, strict=True)), CONFIGS, self._lexemes)
        await record_details(conn, read)
        states = [(o, _page_status(o, again)) for o in done if o.reading is None and not keeps_state(o)]
        depths |= await frontier.record_states(conn, [state for state in states if not state[0].target.is_image])
        self._depths = depths
        await record_images(conn, [state for state in states if state[0].target.is_image])
        with_links = [
            o for o in done if o.kind is OutcomeKind.SUCCESS and o.status_code != NOT_MODIFIED and not o.target.is_image
        ]
        if with_links:
            await self._record_links(conn, with_links, learned.page_ids)
        await products.store(conn, [*products.get_product_visits(done), *products.listed_of(done, learned.page_ids)])
        await frontier.add_retries(conn, [outcome for outcome in done if outcome.retry_in_s is not None])
        await frontier.add_revisits(conn, again)
        await frontier.add_errors(conn, done)

    async def _record_links(self, conn: Any, outcomes: Sequence[Outcome], page_ids: dict[bytes, int]) -> None:
        """What a lease says spares the work; the database has the last word, as an operator may have spoken since."""
        silent = {o.target.domain_id for o in outcomes if not self._stores_links(o.target.domain_id)}
        if silent:
            silent = await domains.without_links(conn, silent)
            await frontier.forget_links(conn, [o.target.page_id for o in outcomes if o.target.domain_id in silent])
        stored = [outcome for outcome in outcomes if outcome.target.domain_id not in silent]
        if stored:
            await frontier.replace_links(conn, stored, page_ids)

    def _stores_links(self, domain_id: int) -> bool:
        queue = self._queues.get(domain_id)
        return queue is None or queue.lease.stores_links

    async def _count(
        self,
        conn: Any,
        done: Sequence[Outcome],
        learned: EnqueueResult,
        again: Mapping[int, float],
        found: Mapping[int, int],
    ) -> None:
        visits = count_visits(done, again, found)
        now = clock.monotonic()
        standings = {domain: self._queues[domain].standing(now) for domain in visits if domain in self._queues}
        await domains.count_visits(conn, visits, standings, lease_s=self._lease_s)
        if tested := lastmods.tested(done):
            await domains.count_lastmods(conn, tested)
        await stats.count_outcomes(conn, self._run, done)
        drops = add_up([outcome.selection.dropped for outcome in done if outcome.selection.dropped])
        await stats.count_drops(conn, self._run, drops)
        seen = sum(len(outcome.selection.links) for outcome in done) + sum(drops.values())
        await stats.count_links(conn, self._run, seen=seen, learned=sum(learned.new.values()))
        self._told = self._tally.copy()
        counted = count_batch(done, drops=drops, seen=seen, learned=sum(learned.new.values()))
        counted.join(self._told)
        await series.add(conn, self._worker(), counted)


async def without_deleted(
    conn: Any, outcomes: Sequence[Outcome], page_ids: Mapping[bytes, int], shown: Mapping[bytes, int]
) -> tuple[list[Outcome], dict[bytes, int]]:
    """Pages were deleted since these outcomes were enqueued: returns the outcomes without links to pages that are gone,
    which count as dropped, and without images that are. So it would be had they been recorded before."""
    pages = await eras.present(conn, set(page_ids.values()))
    images = await image_purge.present(conn, set(shown.values())) if shown else set()
    gone = {key for key, page in page_ids.items() if page not in pages}
    left = {key: image for key, image in shown.items() if image in images}
    return [_without_images(without_links(o, gone, reason=PURGED), left) for o in outcomes], left


def _without_images(outcome: Outcome, shown: Mapping[bytes, int]) -> Outcome:
    seen = outcome.selection.images
    if not seen or all(sighting.key in shown for sighting in seen):
        return outcome
    kept = [sighting for sighting in seen if sighting.key in shown]
    return replace(outcome, selection=replace(outcome.selection, images=kept))


def propagate_depths(
    outcomes: Iterable[Outcome], depths: Mapping[int, int], page_ids: Mapping[bytes, int]
) -> dict[int, int]:
    """Page → depth, for what was found on pages to which somebody found a shorter way while they were visited."""
    nearer: dict[int, int] = {}
    for outcome in outcomes:
        target = outcome.target
        closer = target.depth - depths.get(target.page_id, target.depth)
        if closer <= 0:
            continue
        for link in outcome.selection.links:
            page = page_ids.get(link.key)
            if page is not None:
                nearer[page] = min(link.depth - closer, nearer.get(page, link.depth))
    return nearer


def count_visits(
    done: Iterable[Outcome], again: Mapping[int, float], found: Mapping[int, int] = MappingProxyType({})
) -> dict[int, Visits]:
    """What a batch did, per domain in id order. Only the site's and the network's faults are errors of a domain.
    Images leave the frontier as pages do, and are no pages."""
    by_domain: dict[int, list[Outcome]] = {}
    for outcome in done:
        by_domain.setdefault(outcome.target.domain_id, []).append(outcome)
    return {domain: _visits(by_domain[domain], again, found.get(domain, 0)) for domain in sorted(by_domain)}


def _visits(outcomes: Sequence[Outcome], again: Mapping[int, float], images: int) -> Visits:
    streak = build_streak(outcomes)
    pages = [outcome for outcome in outcomes if not outcome.target.is_image]
    good = [outcome for outcome in pages if outcome.kind is OutcomeKind.SUCCESS]
    return Visits(
        closed=sum(outcome.target.past is None for outcome in outcomes),
        ok=len(good),
        errors=sum(o.error is not None and o.error.blame in {ErrorSource.SITE, ErrorSource.NETWORK} for o in pages),
        retries=sum(_stays_queued(outcome, again) for outcome in outcomes),
        depth=max((outcome.target.depth for outcome in good), default=0),
        streak=streak.count,
        streak_code=streak.code,
        is_new_streak=streak.is_new,
        images=images,
    )


def _stays_queued(outcome: Outcome, again: Mapping[int, float]) -> bool:
    """Whether the page stays in the frontier: a page that was read has left it, also when it is to be read again."""
    if outcome.kind is OutcomeKind.SUCCESS or keeps_state(outcome):
        return False
    return outcome.retry_in_s is not None or outcome.target.task_id in again


def _page_status(outcome: Outcome, again: Mapping[int, float]) -> str:
    return page_status(outcome.kind, outcome.status_code, has_retry=_stays_queued(outcome, again))
