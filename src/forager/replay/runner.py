"""Replays stored bodies: the same parsing, selecting and recording as for a visit, and no request at all.

Works in batches, in page order. The results of a batch and the record that it is done are written in one transaction,
so a replay that was killed resumes after the last batch it finished. Closed tasks are never changed.
"""

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from forager.db.types import Connection
from forager.domains import images as domain_images
from forager.domains.traps import traps_of
from forager.engine.crash_marker import FOLDER, CrashMarker, open_crash_marker, pop_crash_marker
from forager.engine.domain_queues import DomainQueues
from forager.engine.parser_pool import ParserPool, open_pool, read_isolated
from forager.engine.stop import StopRequest
from forager.engine.subdomain_limit import without_links
from forager.engine.transaction_retry import in_transaction
from forager.engine.writer import Writer
from forager.errors import DecodeError, ParserCrashError, StoreError, UsageError
from forager.fetch.models import Fetched
from forager.frontier import replay as reread
from forager.frontier import store
from forager.frontier.details import record_details
from forager.frontier.models import Outcome, OutcomeKind, Target
from forager.images import store as images
from forager.images.models import ImagePolicy
from forager.images.recorder import ImageRecorder, record_page_images
from forager.images.service import queue_wanted
from forager.images.store import PageImages
from forager.links.models import Selection
from forager.links.select import Selector
from forager.logs import log
from forager.parsing import page as page_parser
from forager.parsing.extractors.definition import Extractor
from forager.parsing.extractors.load import FOLDER as EXTRACTORS_FOLDER
from forager.parsing.extractors.load import load_folder
from forager.parsing.keywords import CONFIGS, keywords_of
from forager.parsing.language import LanguageMemory
from forager.parsing.models import ParseOptions, Reading
from forager.plugins import store as plugin_store
from forager.plugins.config import use_plugins
from forager.plugins.models import PluginError
from forager.products import backfill
from forager.products import store as products
from forager.products.backfill import Offer, PastVisit
from forager.records import store as records
from forager.replay import service as control
from forager.replay.diff import Fields, ReplayProgress, known_fields, read_fields, record_fields
from forager.replay.service import Into, Matches, PastVersion, Replay, ReplayOrder, Stored
from forager.runs.models import RunSpec
from forager.runs.scope import read_reach
from forager.runtime.worker import build_worker_config, parser_config_of
from forager.search import index
from forager.stats import store as stats
from forager.stats.processes import started_at
from forager.storage.body_store import BodyStore
from forager.storage.factory import open_body_store

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.instance import Forager

PORTION = 100
PAST = "past"
"""An older version that was asked for: it is read for the history only."""
PRICES_ONLY = {"extractors": "[]", "items": "false", "search_words": None}
"""Of an older version nothing else is kept."""
MOST_IMAGES = 10_000
"""Images that each run's recorder remembers."""
MOST_STARTS = 3
"""Failed starts of a parser process after which the replay ends with the reason; the same config resumes it later."""
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Replayed:
    """How a replay ended, or where it stopped."""

    id: int
    is_resumed: bool
    is_finished: bool
    stored: Stored
    tally: ReplayProgress


class _Run(NamedTuple):
    """The components that parse and record pages of one run."""

    selector: Selector
    writer: Writer
    images: ImageRecorder


class _Ids(NamedTuple):
    """Ids of everything that a batch's pages link to and show, by key."""

    pages: dict[bytes, int]
    images: dict[bytes, int]


class _ReplayedPage(NamedTuple):
    """One page that was parsed again."""

    row: Row
    outcome: Outcome
    old: Fields
    new: Fields


async def look(forager: "Forager", order: ReplayOrder) -> Stored:
    """Returns what a replay would parse. Parses nothing."""
    validate_parser(order.parser)
    find_extractor(forager.settings, order.extractor)

    async def count(conn: Connection) -> Stored:
        matches = await control.resolve(conn, order)
        return await control.count_stored(conn, order, matches, default_policy=forager.settings.storage.content_policy)

    return await in_transaction(forager.database, count)


async def replay(
    forager: "Forager",
    order: ReplayOrder,
    *,
    by: str,
    stop: StopRequest,
    on_progress: Callable[[ReplayProgress, Stored], None] = lambda _tally, _stored: None,
) -> Replayed:
    """Replays until the end, or until asked to stop; the same config resumes it then. With a queue, a worker runs
    it."""
    stored = await look(forager, order)
    if forager.settings.dispatch.mode == "celery":
        from forager.replay.queue import by_a_worker

        done = await by_a_worker(forager, order, by=by, stop=stop, on_progress=partial(_show, on_progress, stored))
        if done is not None:
            return Replayed(done.id, False, done.is_finished, stored, done.tally)
    async with forager.pool.acquire() as holder:
        matches = await control.resolve(holder, order)
        pid = os.getpid()
        taken = await control.take(holder, order, by=by, pid=pid, pid_started=started_at(pid))
        await _record_crash(forager, taken)
        plugins = use_plugins(forager.settings)
        processes = int(plugins.may_call("extract_records", "find_product"))
        config = parser_config_of(forager.settings)
        async with AsyncExitStack() as stack:
            pool = await stack.enter_async_context(open_pool(config, processes, stop=stop, most_starts=MOST_STARTS))
            body_store = stack.enter_context(open_body_store(forager.settings))
            box = stack.enter_context(open_crash_marker(forager.settings.home / FOLDER))
            page_parser.preload()
            desk = _ReplayRun(forager, order, taken, matches=matches, body_store=body_store, box=box, pool=pool)
            while not stop.asked and await desk.run_batch():
                on_progress(desk.tally, stored)
        if desk.is_done:
            await in_transaction(forager.database, lambda conn: control.end(conn, taken.id, desk.tally))
    if order.into is Into.LIVE:
        await queue_wanted(forager, stop=stop)
    return Replayed(taken.id, taken.is_resumed, desk.is_done, stored, desk.tally)


def _show(on_progress: Callable[[ReplayProgress, Stored], None], stored: Stored, tally: ReplayProgress) -> None:
    on_progress(tally, stored)


def validate_parser(name: str | None) -> None:
    from forager.parsing.sites import AUTO, parsers

    known = [AUTO, *parsers()]
    if name is not None and name not in known:
        raise UsageError(f"There is no parser {name!r}; there are {', '.join(known)}.")


def find_extractor(settings: "Settings", name: str | None) -> Extractor | None:
    """Returns the extractor of the data folder with this name; raises UsageError if there is none."""
    if name is None:
        return None
    loaded = load_folder(settings.home / EXTRACTORS_FOLDER)
    found = next((each for each in loaded.extractors if each.name == name), None)
    if any(each.name == name for each in loaded.by_model):
        raise UsageError(
            f"The extractor {name!r} asks a model: raise its version, and the job model_extraction reads all again."
        )
    if found is None:
        known = ", ".join(each.name for each in loaded.extractors) or "none"
        broken = "".join(f" {bad.problem}" for bad in loaded.bad)
        raise UsageError(f"There is no extractor {name!r}; there are: {known}.{broken}")
    return found


async def _record_crash(forager: "Forager", taken: Replay) -> None:
    """Records the page that killed the previous process, so that it is parsed in isolation."""
    page = pop_crash_marker(forager.settings.home / FOLDER, *taken.died_reading) if taken.died_reading else None
    if page is not None:
        await in_transaction(forager.database, lambda conn: store.note_crashes(conn, [page]))


class _ReplayRun:
    """One replay under way."""

    def __init__(
        self,
        forager: "Forager",
        order: ReplayOrder,
        taken: Replay,
        *,
        matches: Matches,
        body_store: BodyStore,
        box: CrashMarker | None,
        pool: ParserPool | None = None,
    ) -> None:
        self._forager = forager
        self._order = order
        self._id = taken.id
        self._matches = matches
        self._body_store = body_store
        self._box = box
        self._pool = pool
        """Parses pages where plug-ins read them: one may hang or crash."""
        self._plugin_errors: list[PluginError] = []
        self._after = taken.after_page
        self.tally = taken.tally
        self.is_done = False
        self._runs: dict[int, _Run | None] = {}
        self._heeded: set[tuple[int, int]] = set()
        self._memory = LanguageMemory()
        self._extractor = find_extractor(forager.settings, order.extractor)

    async def run_batch(self) -> bool:
        """Replays the next batch. Returns False after the last page."""
        rows, last = await self._in_transaction(
            lambda conn: control.next_stored(conn, self._matches, after=self._after, limit=PORTION)
        )
        if last is None:
            self.is_done = True
            return False
        pages = [row["page_id"] for row in rows]
        sold = await self._in_transaction(lambda conn: control.known_products(conn, pages))
        shown = await self._in_transaction(lambda conn: control.known_images(conn, pages))
        known = {page: (sold.get(page), shown.get(page)) for page in pages}
        stored = await self._in_transaction(lambda conn: control.known_records(conn, pages))
        read = [
            self._with_records(again, stored.get(row["page_id"], []))
            for row in rows
            if (again := await self._read(row, *known[row["page_id"]])) is not None
        ]
        past = await self._read_past(rows, last)
        self.tally.pages += len(rows)
        if errors := self._plugin_errors:
            self._plugin_errors = []
            await self._in_transaction(lambda conn: plugin_store.add_errors(conn, errors))
        if self._order.into is Into.SHADOW:
            await self._in_transaction(lambda conn: self._write_shadow(conn, read, last))
        else:
            await self._write_live(read, past, last)
        self._after = last
        return True

    async def _in_transaction(self, work: Callable[[Any], Any]) -> Any:
        return await in_transaction(self._forager.database, work)

    # reading -------------------------------------------------------------------------------------------------------

    async def _read(self, row: Row, product: Row | None, images: Row | None) -> _ReplayedPage | None:
        """Returns None, with the reason counted, if a page cannot be parsed again."""
        if reason := self._skip_reason(row):
            if reason != PAST:
                self.tally.leave(reason)
            return None
        found = await self._selector_of(row)
        if found is None:
            self.tally.leave("no_run")
            return None
        try:
            fetched = await asyncio.to_thread(self._body_store.load, row["body_ref"], row["url"])
            reading = await self._parse_page(row, fetched)
        except (StoreError, DecodeError, ParserCrashError) as error:
            log().warning("body not read", action="replay.left", url=row["url"], error=str(error))
            self.tally.leave(error.reason if isinstance(error, StoreError) else error.code)
            return None
        target = Target(
            row["task_id"], row["page_id"], row["domain_id"], 0, row["url"], row["depth"], row["redirects"], 0
        )
        outcome = Outcome(
            target,
            OutcomeKind.SUCCESS,
            fetched.status_code,
            content_type=row["content_type"],
            etag=row["etag"],
            last_modified=row["last_modified"],
            reading=reading,
            selection=self._select(row, reading, target, found.selector),
        )
        old, new = known_fields(row, product, images), read_fields(reading, outcome.selection, row["url"])
        return _ReplayedPage(row, outcome, old, new)

    def _with_records(self, again: _ReplayedPage, stored: list[Row]) -> _ReplayedPage:
        """Adds the fields of records to the comparison; with one extractor, nothing else is compared."""
        reading = again.outcome.reading
        assert reading is not None
        old = record_fields((row["extractor"], row["key"], json.loads(row["fields"])) for row in stored)
        new = record_fields((each.extractor, each.key, each.fields) for each in reading.records)
        tried = set(reading.extractors)
        old = {name: value for name, value in old.items() if name.partition(".")[0] in tried}
        new = dict.fromkeys(old) | new
        if self._extractor is not None:
            return again._replace(old=old, new=new)
        return again._replace(old=again.old | old, new=again.new | new)

    def _select(self, row: Row, reading: Reading, target: Target, selector: Selector) -> Selection:
        """Selects as a visit does, except that image files are enqueued afterwards, if they are wanted."""
        selection = selector.select(reading, target)
        if (row["images_policy"] or self._forager.settings.images.policy) == ImagePolicy.NONE:
            return selection
        return replace(selection, images=selector.see(reading, target))

    def _skip_reason(self, row: Row) -> str | None:
        if row["is_deleted"]:
            return "deleted"
        is_shadow_of_then = self._order.at is not None and self._order.into is Into.SHADOW
        if not row["is_newest"] and not is_shadow_of_then:
            return PAST if self._order.at is not None else "newer_visit"
        only = self._extractor
        is_other = only is not None and not (only.is_for_domain(row["domain"]) and only.is_for_url(row["url"]))
        return "other_page" if is_other else None

    async def _read_past(self, rows: Sequence[Row], last: int) -> list[PastVisit]:
        """Returns what older versions say of prices: all of them, or those of the moment that was named. A body that
        several visits confirmed is parsed once."""
        if self._order.into is Into.SHADOW or self._extractor is not None:
            return []
        versions: list[PastVersion] = []
        if self._order.is_all_versions:
            versions = await self._in_transaction(
                lambda conn: control.older_versions(conn, self._matches, after=self._after, last=last)
            )
        older = [row for row in rows if self._order.at is not None and not row["is_newest"]]
        versions += [PastVersion(*(row[name] for name in PastVersion._fields)) for row in older]
        found: list[PastVisit] = []
        offers: dict[tuple[int, str], Offer | None] = {}
        for version in versions:
            key = version.page_id, version.body_ref
            if key not in offers:
                offers[key] = await self._read_offer(version)
            if (offer := offers[key]) is not None:
                found.append(PastVisit(version.page_id, version.task_id, version.completed_at, offer))
        return found

    async def _read_offer(self, version: PastVersion) -> Offer | None:
        """Returns what a version says of its product; None if it has none, or cannot be read."""
        if version.is_deleted:
            self.tally.leave("deleted")
            return None
        try:
            fetched = await asyncio.to_thread(self._body_store.load, version.body_ref, version.url)
            reading = await self._parse_page(version._asdict() | PRICES_ONLY, fetched)
        except (StoreError, DecodeError, ParserCrashError) as error:
            log().warning("body not read", action="replay.left", url=version.url, error=str(error))
            self.tally.leave(error.reason if isinstance(error, StoreError) else error.code)
            return None
        self.tally.versions += 1
        product = reading.product
        if product is None or product.name is None:
            return None
        return Offer(product.price, product.currency, product.availability)

    async def _parse_page(self, row: Row, fetched: Fetched) -> Reading:
        settings, parser = self._forager.settings, self._order.parser or row["parser_name"]
        chosen = (
            (self._order.extractor,) if self._order.extractor else tuple(json.loads(row["extractors"] or '["auto"]'))
        )
        keeps_items = row["items"] != "false"
        words = int(row["search_words"] or settings.search.words_per_page)
        options = ParseOptions(words, parser, extractors=chosen, items=keeps_items)
        config = parser_config_of(settings)
        if self._pool is not None:
            reading = await self._pool.read(fetched, options, is_suspect=row["crashes"] > 0)
            assert reading is not None, "stored bodies are plain"
            self._plugin_errors += reading.plugin_errors
            return reading
        if row["crashes"]:
            reading = await read_isolated(fetched, config, options, most_starts=MOST_STARTS)
            assert reading is not None, "stored bodies are plain"
            return reading
        with self._box.reading(row["page_id"]) if self._box else ExitStack():
            return page_parser.read(fetched, **config.read_arguments, memory=self._memory, **options._asdict())

    async def _selector_of(self, row: Row) -> "_Run | None":
        """Returns the selector of the run that visited the page, which scores its links; known traps are respected."""
        run = row["run_id"]
        if run not in self._runs:
            self._runs[run] = await self._open_run(run) if run is not None else None
        found = self._runs[run]
        if found is not None and (run, row["domain_id"]) not in self._heeded:
            self._heeded.add((run, row["domain_id"]))
            found.selector.set_traps(
                row["domain"], await self._in_transaction(lambda conn: traps_of(conn, [row["domain_id"]]))
            )
        return found

    async def _open_run(self, run: int) -> "_Run | None":
        settings, database = self._forager.settings, self._forager.database
        spec: RunSpec | None = await self._in_transaction(lambda conn: stats.find_run(conn, run))
        if spec is None:
            return None
        selector = Selector(await read_reach(database, run, spec), max_links_per_page=settings.crawl.max_links_per_page)
        order = build_worker_config(settings, run, spec, workers=1)
        writer = Writer(database, order, DomainQueues())
        desk = ImageRecorder(database, run=run, max_subdomains=order.frontier.max_subdomains, remembered=MOST_IMAGES)
        return _Run(selector, writer, desk)

    # writing -------------------------------------------------------------------------------------------------------

    async def _write_shadow(self, conn: Connection, read: list[_ReplayedPage], last: int) -> None:
        tally = ReplayProgress(**self.tally.document())
        noted = [(again, tally.note(again.row["url"], again.old, again.new)) for again in read]
        shadows = [
            (again.row["page_id"], again.row["task_id"], names, again.old, again.new) for again, names in noted if names
        ]
        await control.add_shadows(conn, self._id, shadows)
        await control.note_progress(conn, self._id, after=last, tally=tally)
        self.tally = tally

    async def _write_live(self, read: list[_ReplayedPage], past: list[PastVisit], last: int) -> None:
        """Enqueues first, then records, as a visit does. What older versions say comes after what the newest one says,
        in a transaction of its own: both lock products."""
        learned, shown = dict[bytes, int](), dict[bytes, int]()
        if self._extractor is not None:
            await self._in_transaction(lambda conn: self._record(conn, read, _Ids(learned, shown), last))
            return
        kept: list[_ReplayedPage] = []
        for run, group in _by_run(read).items():
            found = self._runs[run]
            assert found is not None
            known = await found.writer.learn([link for again in group for link in again.outcome.selection.links])
            learned |= known.page_ids
            shown |= await found.images.learn([again.outcome for again in group])
            kept += [again._replace(outcome=without_links(again.outcome, known.refused)) for again in group]
        done = None if past else last
        await self._in_transaction(lambda conn: self._record(conn, kept, _Ids(learned, shown), done))
        if past:
            await self._in_transaction(lambda conn: self._record_past(conn, past, last))

    async def _record_past(self, conn: Connection, past: list[PastVisit], last: int) -> None:
        added = await backfill.add_past(conn, past)
        tally = replace(self.tally, prices=self.tally.prices + added)
        await control.note_progress(conn, self._id, after=last, tally=tally)
        self.tally = tally

    async def _record(self, conn: Connection, read: list[_ReplayedPage], ids: "_Ids", last: int | None) -> None:
        """Locks domains before their pages, as workers do."""
        tally = ReplayProgress(**self.tally.document())
        await domain_images.hold_showing(conn, sorted({again.row["domain_id"] for again in read}))
        held = await control.hold_pages(conn, {again.row["page_id"]: again.row["fetched_at"] for again in read})
        ours = [again for again in read if again.row["page_id"] in held]
        if len(ours) < len(read):
            tally.leave("newer_visit", len(read) - len(ours))
        for again in ours:
            tally.note(again.row["url"], again.old, again.new)
        tally.written += len(ours)
        if ours and self._extractor is None:
            await self._record_pages(conn, ours, ids.pages)
            await _record_images(conn, ours, ids.images)
        await records.store(conn, [_record_visit(again) for again in ours])
        if last is not None:
            await control.note_progress(conn, self._id, after=last, tally=tally)
        self.tally = tally

    async def _record_pages(self, conn: Connection, ours: list[_ReplayedPage], page_ids: dict[bytes, int]) -> None:
        outcomes = [again.outcome for again in ours]
        readings = {o.target.page_id: o.reading for o in outcomes if o.reading is not None}
        await reread.renew_languages(conn, {page: reading.language for page, reading in readings.items()})
        keywords = [keywords_of(reading) for reading in readings.values()]
        await store.save_signals(conn, list(zip(outcomes, keywords, strict=True)), CONFIGS)
        await record_details(conn, outcomes)
        await reread.finish_replayed(
            conn, [(again.row["page_id"], again.row["fetched_at"], again.row["status"]) for again in ours]
        )
        await store.replace_links(conn, outcomes, page_ids)
        await products.store(conn, [sight for again in ours for sight in _list_products(again, page_ids)])
        await index.index_named(conn, list(readings), CONFIGS)


async def _record_images(conn: Connection, ours: list[_ReplayedPage], ids: Mapping[bytes, int]) -> None:
    """Records images as if they had been parsed at the visit. The files of new ones were not requested."""
    pages = [again for again in ours if again.outcome.selection.images is not None]
    shown = [PageImages(a.row["domain_id"], a.row["page_id"], a.outcome.selection.images or ()) for a in pages]
    found = await record_page_images(conn, shown, shown, ids)
    visited = [(a.row["domain_id"], a.row["page_id"], a.row["completed_at"]) for a in pages]
    await images.date_sightings(conn, visited)
    await domain_images.count_found(conn, found)
    await domain_images.mark_image_backfill(conn, sorted(found))


def _record_visit(again: _ReplayedPage) -> records.RecordVisit:
    """Returns the records of a page as if they had been seen at its visit."""
    row, reading = again.row, again.outcome.reading
    assert reading is not None
    return records.RecordVisit(
        row["domain_id"],
        row["page_id"],
        row["task_id"],
        reading.records,
        reading.extractors,
        reading.extractor_problems,
        seen_at=row["completed_at"],
        is_revisit=True,
    )


def _by_run(read: list[_ReplayedPage]) -> dict[int, list[_ReplayedPage]]:
    groups: dict[int, list[_ReplayedPage]] = {}
    for again in read:
        groups.setdefault(again.row["run_id"], []).append(again)
    return groups


def _list_products(again: _ReplayedPage, page_ids: Mapping[bytes, int]) -> list[products.ProductVisit]:
    """Records the page's own product and those it lists, as if they had been seen at its visit."""
    row, reading = again.row, again.outcome.reading
    if reading is None:
        return []
    seen_at = row["completed_at"]
    own = products.ProductVisit(
        row["domain_id"], row["page_id"], row["task_id"], row["url"], reading.product, seen_at=seen_at
    )
    return [own, *(replace(each, seen_at=seen_at) for each in products.listed_of([again.outcome], page_ids))]


async def restart_parsing(forager: "Forager", task: int, *, by: str) -> Replayed:
    """Replays the page of one task from its stored body. Raises NotStoredError if the policy kept none."""
    policy = forager.settings.storage.content_policy
    order = await in_transaction(forager.database, partial(control.of_task, task=task, default_policy=policy))
    return await replay(forager, order, by=by, stop=StopRequest())


async def refetch(forager: "Forager", order: ReplayOrder, *, by: str, dry: bool) -> int:
    """Schedules revisits of the pages with priority; returns how many, or in a dry run how many there would be."""

    async def once(conn: Connection) -> int:
        matches = await control.resolve(conn, order)
        if dry:
            return await reread.count_to_requeue(conn, **matches.of_pages())
        settings = forager.settings
        rest_s = settings.refresh.interval if settings.refresh.enabled else None
        return await control.requeue(conn, matches, by=by, refresh_every_s=rest_s)

    return await in_transaction(forager.database, once)
