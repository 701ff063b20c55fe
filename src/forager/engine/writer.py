"""Writes batches of outcomes: first enqueue, then record, in separate transactions. Bodies are stored before: no task
refers to a missing one. Features write with a batch as `batch.py` describes.

There are two transactions because rows that any worker may write and rows under our own lease deadlock when mixed. In
this order a crash between them re-crawls a page but never loses a link. Results of a lost lease are rejected here, by
its version.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from types import MappingProxyType

from forager import clock
from forager.db.database import Database
from forager.db.types import Connection
from forager.domains import images as domain_images
from forager.domains import store as domains
from forager.domains.denied import DENIED, find_denied
from forager.domains.settings import inherit_settings
from forager.domains.store import RobotsCopy, Visits
from forager.domains.url_rules import find_site_origins, set_site_origins
from forager.engine import lastmods
from forager.engine.adoption import SeedAdoption
from forager.engine.batch import BatchRecorder, Draft, Recorded
from forager.engine.body_storage import BodyStorage
from forager.engine.config import WorkerConfig
from forager.engine.domain_queues import DomainQueues
from forager.engine.failure_streak import build_streak
from forager.engine.new_url_limit import NewUrlLimit
from forager.engine.retry_policy import keeps_state, page_status, revisit_in_s
from forager.engine.site_origins import SiteOrigins
from forager.engine.sitemap_finder import SitemapFinder
from forager.engine.subdomain_limit import SubdomainLimit, without_links
from forager.engine.transaction_retry import in_transaction
from forager.engine.trap_detector import TrapDetector
from forager.errors import ErrorSource
from forager.frontier import cache_namespace as eras
from forager.frontier import store, tasks
from forager.frontier.cache_warm_up import CacheWarmup
from forager.frontier.details import record_details
from forager.frontier.duplicates import mark_duplicates, revisit_freed
from forager.frontier.enqueue import (
    EnqueueResult,
    enqueue,
    merge_cached,
    resolve_twins,
    sort_known,
    take_twins,
    under_site_origins,
)
from forager.frontier.images import make_pages, record_images
from forager.frontier.lexemes import Lexemes
from forager.frontier.models import Lease, Outcome, OutcomeKind
from forager.frontier.sitemaps import count_new_urls, record_sitemaps
from forager.frontier.url_cache import UNSHARED, SharedPages, UrlCache, pack
from forager.links.models import Discovery
from forager.links.scope import claim_depth
from forager.links.select import add_up
from forager.logs import log
from forager.parsing.keywords import CONFIGS, keywords_of
from forager.stats import series
from forager.stats import store as stats
from forager.stats.counters import CounterMap, count_batch

MOST_DOMAIN_IDS = 100_000
NOT_MODIFIED = 304
LISTED_AT_ONCE = 2000
"""Links of a sitemap that are enqueued in one transaction: about a tenth of a second."""
PURGED = "purged"
"""Reason for dropping a link whose page an operator deleted while the linking page was visited."""


class Writer:
    """The only writer of a worker."""

    def __init__(
        self,
        database: Database,
        config: WorkerConfig,
        queues: DomainQueues,
        *,
        recorders: Sequence[BatchRecorder] = (),
        traps: TrapDetector | None = None,
        bodies: BodyStorage | None = None,
        sitemaps: SitemapFinder | None = None,
        adoption: SeedAdoption | None = None,
        shared: SharedPages = UNSHARED,
        found_in: dict[str, str] | None = None,
    ) -> None:
        self._database = database
        self._run = config.run.run
        self._max_depth = claim_depth(config.run.spec)
        """Deeper pages are known but not visited: a claim that looks for them would read all that are left."""
        self._queues = queues
        self._recorders = recorders
        """Features that write something with every batch, in lock order."""
        self._traps = traps
        self._bodies = bodies
        """Holds back outcomes whose bodies cannot be stored."""
        self._sitemaps = sitemaps
        self._sitemap_interval_s = config.frontier.sitemap_interval_s
        self._adoption = adoption
        """Makes where seeds lead seeds of the run."""
        self._found_in = {} if found_in is None else found_in
        """Domain → the domain that links to it; new domains get the crawl settings of that one."""
        self._subdomains = SubdomainLimit(config.frontier.max_subdomains)
        self._new_urls = NewUrlLimit(queues, config.settings.defaults.max_new_urls_per_second)
        self._lease_s = config.lease.lease_s
        self._shared = shared
        self._known = UrlCache(config.frontier.known_urls)
        self._catching_up = CacheWarmup()
        self._domain_ids: dict[str, int] = {}
        self._site_origins: dict[str, str] = {}
        """Domain → origin of its site, of those in `_domain_ids` where it is known."""
        self._evidence = SiteOrigins()
        self._decided: list[tuple[Lease, str]] = []
        """Origins of sites that the current transaction stores."""
        self._era: str | None = None
        """The cache namespace of `_known` and all other caches here."""
        self._newest_era: str | None = None
        """The cache namespace that the last transaction read."""
        self._lexemes = Lexemes()
        self._depths: dict[int, int] = {}
        """Depths of the pages recorded last, as they are in the database."""
        self._tally = CounterMap()
        """Counters of events other than visits, written with the next batch."""
        self._told = CounterMap()
        """The part of `_tally` that the current transaction writes."""

    async def write(self, outcomes: Sequence[Outcome], robots: Sequence[RobotsCopy] = ()) -> Recorded:
        return await self.record(await self.prepare(outcomes), robots)

    async def prepare(self, outcomes: Sequence[Outcome]) -> Draft:
        """Does everything that precedes the record, in separate transactions."""
        outcomes = self._traps.filter_links(outcomes) if self._traps is not None else outcomes
        outcomes = await self._bodies.keep(outcomes) if self._bodies is not None else outcomes
        began_at = clock.monotonic()
        if self._sitemaps is not None:
            await self._sitemaps.add_named()
            outcomes = await self._sitemaps.add_found(outcomes)
        learned = await self._learn_all(outcomes)
        self._tally.time("learn", clock.monotonic() - began_at)
        if learned.refused:
            outcomes = [without_links(outcome, learned.denied, reason=DENIED) for outcome in outcomes]
            outcomes = [without_links(outcome, learned.refused - learned.denied) for outcome in outcomes]
        if learned.added:
            self._new_urls.apply(outcomes, learned.added)
        if self._adoption is not None:
            await self._adoption.adopt(outcomes, learned.page_ids)
        self._clear_stale()
        parts = [await recorder.prepare(outcomes) for recorder in self._recorders]
        suspicions = self._traps.look(outcomes) if self._traps is not None else []
        new = [domain for domain, depth in learned.nearest.items() if depth <= self._deepest(domain)]
        if suspicions:  # enqueued URLs may be in a trap, which is closed when the batch is recorded
            new = []
        return Draft(outcomes, learned, parts, suspicions, new)

    def _deepest(self, domain: int) -> int:
        """Returns the depth limit of a domain: that of its settings if we hold it, unless the run takes seeds only."""
        queue = self._queues.get(domain)
        return self._max_depth if queue is None or not self._max_depth else queue.lease.settings.max_depth

    async def record(self, draft: Draft, robots: Sequence[RobotsCopy]) -> Recorded:
        """Records a batch, and writes what follows from it in separate transactions."""
        outcomes, learned = draft.outcomes, draft.learned
        began_at = clock.monotonic()
        held = await in_transaction(self._database, lambda conn: self.record_batch(conn, draft, robots))
        self._tally.forget(self._told)
        self._evidence.store(self._decided)
        self._site_origins |= {lease.domain: origin for lease, origin in self._decided}
        self._tally.time("record", clock.monotonic() - began_at)
        for part in draft.parts:
            part.commit()
        if nearer := propagate_depths(outcomes, self._depths, learned.page_ids):
            await in_transaction(self._database, lambda conn: self._update_depths(conn, nearer))
        if claims := await lastmods.collect_lastmods(outcomes, self._queues, learned.page_ids):
            await lastmods.apply_lastmods(self._database, claims, worker=self._queues.worker_id)
        if self._traps is not None:
            await self._traps.write(self._database, outcomes, draft.suspicions, worker=self._queues.worker_id)
        return Recorded(Counter(outcome.target.token for outcome in outcomes), held)

    # learn ---------------------------------------------------------------------------------------------------------

    def _clear_stale(self) -> None:
        """Clears the caches of pages, images and domains after pages were deleted."""
        if self._era == self._newest_era:
            return
        self._era = self._newest_era
        for memory in (self._known, self._shared, self._domain_ids, self._catching_up):
            memory.clear()
        if self._sitemaps is not None:
            self._sitemaps.clear()
        for recorder in self._recorders:
            recorder.clear()

    async def _learn_all(self, outcomes: Sequence[Outcome]) -> EnqueueResult:
        """Enqueues the links of a batch: those of pages together, those of each sitemap or feed in chunks, so that no
        transaction is long and each counts what it added."""
        pages = [outcome for outcome in outcomes if not _is_listing(outcome)]
        learned = await self.learn([link for outcome in pages for link in outcome.selection.links])
        for outcome in outcomes:
            if _is_listing(outcome):
                links = outcome.selection.links
                for start in range(0, len(links), LISTED_AT_ONCE):
                    part = await self.learn(links[start : start + LISTED_AT_ONCE], listed_by=outcome.target.page_id)
                    learned.merge(part)
        return learned

    async def learn(self, links: Sequence[Discovery], *, listed_by: int | None = None) -> EnqueueResult:
        """Enqueues links. `listed_by` is the sitemap or feed that lists them."""
        self._clear_stale()
        era = self._era
        learned, unknown = sort_known(links, self._known)
        if unknown:
            merge_cached(learned, unknown, await self._shared.recall(unknown))
        unknown, twins = take_twins(learned, unknown, self._site_origins, self._known)
        remembered = len(learned.fresh)
        if unknown:
            nearer = dict(learned.nearer)

            async def once(conn: Connection) -> EnqueueResult:
                attempt = EnqueueResult(dict(learned.page_ids), nearer=dict(nearer), fresh=list(learned.fresh))
                await self._share_pages(conn)
                await self._load_domains(conn, {link.domain for link in unknown.values()})
                links, more_twins = under_site_origins(unknown, self._site_origins)
                await enqueue(conn, attempt, links, self._find_or_add_domains)
                await domains.count_discovered(conn, attempt.new, run=self._run)
                if listed_by is not None:
                    await count_new_urls(conn, listed_by, sum(attempt.new.values()))
                if attempt.refused:
                    attempt.denied = await _denied_links(conn, links, attempt.refused)
                    await self._subdomains.note(conn, [links[key] for key in attempt.refused - attempt.denied])
                resolve_twins(attempt, more_twins)
                return attempt

            learned = await in_transaction(self._database, once)
            self._found_in.clear()
        resolve_twins(learned, twins)
        if learned.images:
            await in_transaction(self._database, lambda conn: self._make_pages(conn, sorted(learned.images)))
        if learned.nearer:
            await in_transaction(self._database, lambda conn: self._update_depths(conn, learned.nearer))
        self._known.add_all(learned.fresh)
        await self._catch_up(learned.found)
        await self._shared.tell((key, pack(page, depth)) for key, page, depth in learned.fresh[remembered:])
        learned.era = era
        return learned

    async def _share_pages(self, conn: Connection) -> str | None:
        """Returns the cache namespace. From here to the end of the transaction no page and no domain is deleted; domain
        ids are looked up again if some may have been deleted before."""
        era = await eras.share(conn)
        if era != self._newest_era:
            self._newest_era = era
            self._domain_ids.clear()
            self._site_origins.clear()
        return era

    async def _catch_up(self, found: Mapping[int, int]) -> None:
        portions = self._catching_up.note(found)
        if not portions:
            return
        came = await in_transaction(self._database, lambda conn: store.next_pages(conn, portions))
        for portion, entries in zip(portions, came, strict=True):
            self._catching_up.add_loaded(portion, entries)
            self._known.add_entries(entries)
            await asyncio.sleep(0)  # many batches take a while, above all without compiled code

    async def _make_pages(self, conn: Connection, page_ids: Sequence[int]) -> None:
        """Creates pages for link targets that were known as images only."""
        await domain_images.count_converted(conn, await make_pages(conn, page_ids))

    async def _update_depths(self, conn: Connection, nearer: dict[int, int]) -> None:
        woken = await store.update_depths(conn, nearer)
        if woken:
            await domains.wake(conn, sorted(woken))

    async def _load_domains(self, conn: Connection, names: Iterable[str]) -> None:
        """Caches domains that other transactions committed, and the origins of their sites."""
        missing = [name for name in names if name not in self._domain_ids]
        if missing:
            self._domain_ids |= await domains.find_domains(conn, missing)
            self._site_origins |= await find_site_origins(conn, missing)

    async def _find_or_add_domains(self, conn: Connection, bases: Mapping[str, str]) -> Mapping[str, int]:
        """Returns ids by name. Caches only what another transaction committed: ours may still be rolled back."""
        missing = [name for name in bases if name not in self._domain_ids]
        if not missing:
            return self._domain_ids
        if len(self._domain_ids) > MOST_DOMAIN_IDS:
            self._domain_ids.clear()
            self._site_origins.clear()
            missing = list(bases)
        self._domain_ids |= await domains.find_domains(conn, missing)
        strangers = {name: bases[name] for name in missing if name not in self._domain_ids}
        strangers = await self._subdomains.admit(conn, strangers)
        if not strangers:
            return self._domain_ids
        await domains.add_domains(conn, strangers, source="link", run=self._run)
        if sources := {name: self._found_in[name] for name in strangers if name in self._found_in}:
            await inherit_settings(conn, sources)
        return self._domain_ids | await domains.find_domains(conn, strangers)

    # record --------------------------------------------------------------------------------------------------------

    async def record_batch(
        self, conn: Connection, draft: Draft, robots: Sequence[RobotsCopy] = ()
    ) -> dict[tuple[int, int], bool]:
        """Closes tasks with all dependent rows; returns the leases that are still ours, and whether crawling of their
        domains may continue."""
        self._told, self._depths, self._decided = CounterMap(), {}, []
        outcomes, learned = draft.outcomes, draft.learned
        if await self._share_pages(conn) != learned.era:
            outcomes = await without_deleted(conn, draft)
        tokens = {outcome.target.token for outcome in outcomes}
        held = await domains.hold_leases(conn, tokens, worker=self._queues.worker_id)
        if robots:
            await domains.store_robots(conn, robots)
        ours = [outcome for outcome in outcomes if outcome.target.token in held]
        if len(ours) < len(outcomes):
            log().warning("late results refused", action="record.refused", pages=len(outcomes) - len(ours))
        closed = await store.close_tasks(conn, ours) if ours else set()
        if len(closed) < len(ours):
            closed |= await self._close_paused(conn, [o for o in ours if o.target.task_id not in closed])
        done = [outcome for outcome in ours if outcome.target.task_id in closed]
        if done:
            again = self._revisits(done)
            images = Counter[int]()
            for part in draft.parts:
                images.update(await part.record_before_pages(conn, done))
            await self._record_pages(conn, done, draft, again)
            await self._count(conn, done, learned, again, images)
        for part in draft.parts:
            await part.record_last(conn, done)
        return held

    async def _close_paused(self, conn: Connection, finished: Sequence[Outcome]) -> set[int]:
        """Records visits that were finished when an operator paused them; cancelled ones stay cancelled."""
        up = await tasks.resume_finished(conn, self._queues.worker_id, [outcome.target.task_id for outcome in finished])
        ours = [outcome for outcome in finished if outcome.target.task_id in up]
        return await store.close_tasks(conn, ours) if ours else set()

    def _revisits(self, done: Sequence[Outcome]) -> dict[int, float]:
        """Returns task → seconds until its page is visited again, for recurring pages."""
        again = {}
        for outcome in done:
            queue = self._queues.get(outcome.target.domain_id)
            wait_s = revisit_in_s(outcome, queue.lease, self._sitemap_interval_s) if queue else None
            if wait_s is not None:
                again[outcome.target.task_id] = wait_s
        return again

    async def _record_pages(
        self, conn: Connection, done: Sequence[Outcome], draft: Draft, again: Mapping[int, float]
    ) -> None:
        page_ids = draft.learned.page_ids
        read = [outcome for outcome in done if outcome.reading is not None]
        keywords = [keywords_of(outcome.reading) for outcome in read if outcome.reading]
        depths = await store.save_signals(conn, list(zip(read, keywords, strict=True)), CONFIGS, self._lexemes)
        await record_details(conn, read)
        states = [(o, _page_status(o, again)) for o in done if o.reading is None and not keeps_state(o)]
        depths |= await store.record_states(conn, [state for state in states if not state[0].target.is_image])
        self._depths = depths
        duplicates = await self._mark_duplicates(conn, done)
        await record_images(conn, [state for state in states if state[0].target.is_image])
        with_links = [
            o for o in done if o.kind is OutcomeKind.SUCCESS and o.status_code != NOT_MODIFIED and not o.target.is_image
        ]
        if with_links:
            await self._record_links(conn, with_links, page_ids)
        await record_sitemaps(conn, done)
        for part in draft.parts:
            await part.record_after_pages(conn, done, page_ids)
        await store.add_retries(conn, [outcome for outcome in done if outcome.retry_in_s is not None])
        await store.add_revisits(conn, without_duplicates(again, done, duplicates))
        await store.add_errors(conn, done)

    async def _mark_duplicates(self, conn: Connection, done: Sequence[Outcome]) -> set[int]:
        """Returns the pages of a batch that are duplicates. Pages that are none any more are revisited again."""
        queues = [queue for domain in {o.target.domain_id for o in done} if (queue := self._queues.get(domain))]
        used = {queue.lease.token: queue.robots.origins for queue in queues}
        self._evidence.note(done)
        leases = [queue.lease for queue in queues]
        self._site_origins |= {lease.domain: lease.site_origin for lease in leases if lease.site_origin is not None}
        found = await mark_duplicates(conn, done, self._evidence.list_twins(done, leases, used))
        self._evidence.note_pairs(found, leases)
        self._decided = self._evidence.decide(leases)
        await set_site_origins(conn, {lease.domain_id: origin for lease, origin in self._decided})
        recurring = {lease.domain_id for lease in leases if lease.revisit_every_s is not None}
        visited = {outcome.target.page_id for outcome in done}
        freed = {pair.page_id for pair in found if pair.is_freed and pair.domain_id in recurring}
        await revisit_freed(conn, freed - visited)
        return {pair.page_id for pair in found if pair.duplicate_of is not None}

    async def _record_links(self, conn: Connection, outcomes: Sequence[Outcome], page_ids: dict[bytes, int]) -> None:
        """Records links. The lease's setting saves work; the database decides, as an operator may have changed the
        setting since."""
        silent = {o.target.domain_id for o in outcomes if not self._stores_links(o.target.domain_id)}
        if silent:
            silent = await domains.without_links(conn, silent)
            await store.delete_links(conn, [o.target.page_id for o in outcomes if o.target.domain_id in silent])
        stored = [outcome for outcome in outcomes if outcome.target.domain_id not in silent]
        if stored:
            await store.replace_links(conn, stored, page_ids)
        await store.replace_external_links(conn, outcomes)

    def _stores_links(self, domain_id: int) -> bool:
        queue = self._queues.get(domain_id)
        return queue is None or queue.lease.settings.store_links

    async def _count(
        self,
        conn: Connection,
        done: Sequence[Outcome],
        learned: EnqueueResult,
        again: Mapping[int, float],
        found: Mapping[int, int],
    ) -> None:
        visits = count_visits(done, again, found)
        now = clock.monotonic()
        standings = {domain: queue.standing(now) for domain in visits if (queue := self._queues.get(domain))}
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
        await series.add(conn, self._queues.worker_id, counted)


def _is_listing(outcome: Outcome) -> bool:
    return outcome.reading is not None and outcome.reading.listing is not None


async def _denied_links(conn: Connection, unknown: Mapping[bytes, Discovery], refused: Set[bytes]) -> set[bytes]:
    """Returns those of the refused links that lead to domains of the deny list."""
    names = await find_denied(conn, {unknown[key].domain for key in refused})
    return {key for key in refused if unknown[key].domain in names}


async def without_deleted(conn: Connection, draft: Draft) -> Sequence[Outcome]:
    """Returns the outcomes without links to pages that were deleted since they were enqueued, which count as dropped,
    and without what features found deleted. The result is the same as if they had been recorded before the deletion."""
    page_ids = draft.learned.page_ids
    present = await eras.present(conn, set(page_ids.values()))
    gone = {key for key, page in page_ids.items() if page not in present}
    outcomes: Sequence[Outcome] = [without_links(o, gone, reason=PURGED) for o in draft.outcomes]
    for part in draft.parts:
        outcomes = await part.drop_deleted(conn, outcomes)
    return outcomes


def without_duplicates(again: Mapping[int, float], done: Sequence[Outcome], duplicates: Set[int]) -> dict[int, float]:
    """Returns the revisits without those of duplicates: the page that they are a duplicate of is revisited. A page that
    an operator gave a frequency of its own keeps it."""
    spared = {o.target.task_id for o in done if o.target.page_id in duplicates and o.target.revisit_every_s is None}
    return {task: wait_s for task, wait_s in again.items() if task not in spared}


def propagate_depths(
    outcomes: Iterable[Outcome], depths: Mapping[int, int], page_ids: Mapping[bytes, int]
) -> dict[int, int]:
    """Returns page → depth, for links found on pages to which a shorter path was found while they were visited."""
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
    """Returns the counters of a batch per domain, in order of domain id. Only faults of the site and the network are
    errors of a domain. Images and sitemaps leave the frontier as pages do, but do not count as pages."""
    by_domain: dict[int, list[Outcome]] = {}
    for outcome in done:
        by_domain.setdefault(outcome.target.domain_id, []).append(outcome)
    return {domain: _visits(by_domain[domain], again, found.get(domain, 0)) for domain in sorted(by_domain)}


def _visits(outcomes: Sequence[Outcome], again: Mapping[int, float], images: int) -> Visits:
    streak = build_streak(outcomes)
    pages = [outcome for outcome in outcomes if outcome.target.is_page]
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
    """Returns whether the page stays in the frontier: a page that was read has left it, also when it is to be
    revisited."""
    if outcome.kind is OutcomeKind.SUCCESS or keeps_state(outcome):
        return False
    return outcome.retry_in_s is not None or outcome.target.task_id in again


def _page_status(outcome: Outcome, again: Mapping[int, float]) -> str:
    return page_status(outcome.kind, outcome.status_code, has_retry=_stays_queued(outcome, again))
