"""Records the images of every batch, in three steps, as for a page's links.

    learn     images and, where they are to be fetched, frontier rows: rows that any worker may write
    settle    results of image requests: the images' rows, and the counters of domains that showed them first
    record    which page shows which image: rows under our own lease, in the transaction that closes the tasks

Each step may be repeated after a crash: known rows stay, a file is counted when it is stored for the first time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from forager.db.database import Database
from forager.db.types import Connection
from forager.domains import images as domains
from forager.domains.store import find_domains
from forager.engine.batch import BatchPart
from forager.engine.retry_policy import image_status
from forager.engine.subdomain_limit import SubdomainLimit
from forager.engine.transaction_retry import in_transaction
from forager.frontier.enqueue import EnqueueResult, enqueue
from forager.frontier.models import Outcome
from forager.frontier.url_cache import UrlCache, page_id
from forager.images import purge
from forager.images import store as images
from forager.images.models import ImageStatus
from forager.images.store import ImageResult, PageImages
from forager.links.models import Discovery
from forager.urls.normalize import url_key


class ImageRecorder:
    def __init__(self, database: Database, *, run: int | None, max_subdomains: int, remembered: int) -> None:
        self._database = database
        self._run = run
        self._subdomains = SubdomainLimit(max_subdomains)
        self._known = UrlCache(remembered)
        """Ids of images, by key."""
        self._waiting = UrlCache(remembered)
        """Images that are in the frontier, by key."""

    def clear(self) -> None:
        """Clears the cache: cached rows may have been deleted."""
        self._known.clear()
        self._waiting.clear()

    async def prepare(self, outcomes: Sequence[Outcome]) -> BatchPart:
        ids = await self.learn(outcomes)
        await self.settle(outcomes, ids)
        return _ImagePart(ids)

    # learn ---------------------------------------------------------------------------------------------------------

    async def learn(self, outcomes: Sequence[Outcome]) -> dict[bytes, int]:
        """Returns the ids of all images in the batch."""
        seen = [outcome for outcome in outcomes if outcome.selection.images]
        if not seen:
            return {}
        ids: dict[bytes, int] = {}
        strangers: dict[bytes, tuple[int, str]] = {}
        for outcome in seen:
            for sighting in outcome.selection.images or ():
                packed = self._known.get(sighting.key)
                if packed is not None:
                    ids[sighting.key] = page_id(packed)
                elif sighting.key not in strangers:
                    strangers[sighting.key] = outcome.target.domain_id, sighting.url
        if strangers:
            moved = {
                each.key: url_key(o.target.url) for o in seen if o.target.is_image for each in o.selection.images or ()
            }
            ids |= await in_transaction(self._database, lambda conn: self._add(conn, dict(strangers), moved))
            for key in strangers:
                self._known.add(key, ids[key], 0)
        await self._queue(seen)
        return ids

    async def _add(
        self, conn: Connection, strangers: dict[bytes, tuple[int, str]], moved: Mapping[bytes, bytes]
    ) -> dict[bytes, int]:
        """Assigns the target of a redirect to the domain that showed the original image."""
        before = {key: old for key, old in moved.items() if key in strangers}
        if before:
            sources = await images.sources_of(conn, list(before.values()))
            for key, old in before.items():
                strangers[key] = sources.get(old, strangers[key][0]), strangers[key][1]
        return await images.add_images(conn, strangers)

    async def _queue(self, seen: Sequence[Outcome]) -> None:
        """Enqueues images that are to be fetched in the frontier of their host."""
        wanted: dict[bytes, Discovery] = {}
        for outcome in seen:
            if not outcome.selection.wants_files:
                continue
            depth, hop = outcome.target.depth, outcome.target.redirects + 1 if outcome.target.is_image else 0
            for each in outcome.selection.images or ():
                if self._waiting.get(each.key) is None:
                    wanted.setdefault(each.key, Discovery(each.url, each.key, each.domain, depth, hop, "", "image"))
        if not wanted:
            return
        learned = await in_transaction(self._database, lambda conn: self.enqueue_images(conn, wanted))
        for key, page in learned.page_ids.items():
            self._waiting.add(key, page, 0)

    async def enqueue_images(self, conn: Connection, wanted: Mapping[bytes, Discovery]) -> EnqueueResult:
        """Enqueues each in the frontier of its host, unless it is or was there already."""
        learned = EnqueueResult()
        await enqueue(conn, learned, wanted, self._hosts, are_images=True)
        await domains.count_waiting(conn, learned.new, run=self._run)
        return learned

    async def _hosts(self, conn: Connection, bases: Mapping[str, str]) -> Mapping[str, int]:
        ids = await find_domains(conn, bases)
        strangers = await self._subdomains.admit(conn, {name: bases[name] for name in bases if name not in ids})
        if not strangers:
            return ids
        await domains.add_image_hosts(conn, strangers, run=self._run)
        return ids | await find_domains(conn, strangers)

    # settle --------------------------------------------------------------------------------------------------------

    async def settle(self, outcomes: Sequence[Outcome], ids: Mapping[bytes, int]) -> None:
        """Updates image rows from this batch. Safe without a lease check: image results are idempotent."""
        settled = {
            url_key(outcome.target.url): _settled(outcome, ids) for outcome in outcomes if outcome.target.is_image
        }
        if settled:

            async def once(conn: Connection) -> None:
                await domains.count_stored(conn, await images.save_results(conn, list(settled.values())))

            await in_transaction(self._database, once)


class _ImagePart(BatchPart):
    """The images of one batch, with their ids by key."""

    def __init__(self, ids: Mapping[bytes, int]) -> None:
        self._ids = ids

    async def drop_deleted(self, conn: Connection, outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
        present = await purge.present(conn, set(self._ids.values())) if self._ids else set()
        self._ids = {key: image for key, image in self._ids.items() if image in present}
        return [_without_images(outcome, self._ids) for outcome in outcomes]

    async def record_before_pages(self, conn: Connection, done: Sequence[Outcome]) -> Mapping[int, int]:
        looked_at = {o.target.page_id: o for o in done if o.selection.images is not None and not o.target.is_image}
        if not looked_at:
            return {}
        shown = [PageImages(o.target.domain_id, o.target.page_id, o.selection.images or ()) for o in looked_at.values()]
        again = [page for page in shown if looked_at[page.page_id].target.past is not None]
        found = await record_page_images(conn, shown, again, self._ids)
        unasked = {o.target.domain_id for o in looked_at.values() if not o.selection.wants_files}
        await domains.mark_image_backfill(conn, sorted(unasked & found.keys()))
        return found


async def record_page_images(
    conn: Connection, shown: Sequence[PageImages], again: Sequence[PageImages], ids: Mapping[bytes, int]
) -> dict[int, int]:
    """Returns domain → how many images were never seen on their page before. `again` are those of pages that were read
    before; sightings that they no longer have are ended."""
    changed = await images.changed_pages(conn, again, ids)
    await images.end_sightings(conn, [page for page in again if page.page_id in changed], ids)
    same = {page.page_id for page in again} - changed
    return await images.record_sightings(conn, [page for page in shown if page.page_id not in same], ids)


def _without_images(outcome: Outcome, ids: Mapping[bytes, int]) -> Outcome:
    seen = outcome.selection.images
    if not seen or all(sighting.key in ids for sighting in seen):
        return outcome
    kept = [sighting for sighting in seen if sighting.key in ids]
    return replace(outcome, selection=replace(outcome.selection, images=kept))


def _settled(outcome: Outcome, ids: Mapping[bytes, int]) -> ImageResult:
    key, status = url_key(outcome.target.url), image_status(outcome)
    reason = outcome.image.reason if outcome.image else str(outcome.error) if outcome.error else None
    moved_to = None
    if status is ImageStatus.MOVED and outcome.selection.images:
        moved_to = ids[outcome.selection.images[0].key]
    return ImageResult(key, status.value if status else None, outcome.image, reason[:500] if reason else None, moved_to)
