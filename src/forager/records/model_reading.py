"""Has a model read the stored texts of pages, and stores the records. Beside the crawl: no worker ever waits for it.

A page goes through the queue `model_pages`. An answer is kept before anything is made of it, so nothing that was paid
for is lost, and the same text is never sent twice, also not for another page.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from forager import clock
from forager.db.types import Connection
from forager.engine.transaction_retry import in_transaction
from forager.errors import BadUrlError, DecodeError, StoreError
from forager.parsing.extractors.by_model import ModelExtractor
from forager.records import model_store, store
from forager.records.model_client import Model, ModelAwayError
from forager.records.model_prompt import PageSource, hash_of, read_records
from forager.records.model_store import SQL, WALK_PAGES, DuePage
from forager.records.models import FoundRecord
from forager.storage.text import Bodies, load_text
from forager.urls.domain import domain_of

if TYPE_CHECKING:
    from forager.instance import Forager

WALKED_AT_ONCE, MOST_WALKS = 2_000, 20
DUE_AT_ONCE = 50
MOST_ATTEMPTS = 3
FIRST_PAUSE_S, LONGEST_PAUSE_S = 30.0, 3600.0
PAUSE_AFTER = 5
"""Unusable replies in a row after which it is not the page but the model."""
LATER_S = 600.0
"""When a page is looked at again for which no call was left."""


async def find_pages(conn: Connection, extractors: Sequence[ModelExtractor]) -> int:
    """Queues pages with a text that their extractor has not read in its version; returns how many. Walks over all pages
    in rounds, some thousands each time."""
    after, queued = (await model_store.get_state(conn)).after_page, 0
    for _ in range(MOST_WALKS):
        pages = await WALK_PAGES.fetch(conn, after, WALKED_AT_ONCE)
        after = pages[-1].page_id if len(pages) == WALKED_AT_ONCE else 0
        matching = [
            (page.page_id, each.name, each.version, page.task_id)
            for page in pages
            if not page.is_skipped and (domain := _domain(page.url)) is not None
            for each in extractors
            if each.is_for(domain, page.url)
        ]
        async with conn.transaction():
            queued += await model_store.queue(conn, matching)
            await conn.execute(SQL["note_walk"], after)
        if not after:
            break
    return queued


def _domain(url: str) -> str | None:
    try:
        return domain_of(url)
    except BadUrlError:
        return None


class ModelReader:
    """One round over pages that are due. Counts what it did."""

    def __init__(
        self, forager: "Forager", model: Model, bodies: Bodies, extractors: Mapping[str, ModelExtractor]
    ) -> None:
        self._forager, self._model, self._bodies, self._extractors = forager, model, bodies, extractors
        self.read = self.calls = self.failed = self.put_off = 0

    async def run(self, conn: Connection, *, for_s: float) -> None:
        """Reads pages until none is due or the time is over."""
        ends_at = clock.monotonic() + for_s
        while clock.monotonic() < ends_at:
            due = await model_store.DUE_FOR_MODEL.fetch(conn, list(self._extractors), DUE_AT_ONCE)
            for page in due:
                await self._read(conn, page, self._extractors[page.extractor])
                if clock.monotonic() >= ends_at:
                    return
            if not due:
                return

    async def _read(self, conn: Connection, page: DuePage, extractor: ModelExtractor) -> None:
        try:
            text = await self._load(page)
        except (StoreError, DecodeError) as error:
            return await self._give_up(page, extractor, str(error))
        text_hash = hash_of(text)
        said = await model_store.use_answer(conn, extractor.name, extractor.version, text_hash)
        if said is None and text.strip():
            if not await model_store.take_call(conn, self._forager.settings.model.max_calls_per_day):
                return await self._put_off(conn, page, extractor)
            self.calls += 1
            try:
                answer = await self._model.ask(extractor, text)
            except ModelAwayError as error:
                await self._pause(conn, str(error), error.retry_after_s)
                return await self._put_off(conn, page, extractor)
            except DecodeError as error:
                return await self._try_again(conn, page, extractor, str(error))
            await in_transaction(
                self._forager.database,
                lambda own: model_store.add_answer(own, page, extractor.version, text_hash, answer),
            )
            said = answer.records
        source = PageSource(page.url, page.language, text)
        records = await asyncio.to_thread(read_records, extractor, said or [], source)
        await self._store(page, extractor, records)
        self.read += 1
        return None

    async def _load(self, page: DuePage) -> str:
        if page.body_ref is None or page.is_deleted:
            raise StoreError("its text was deleted before it was read", "deleted")
        text = await asyncio.to_thread(load_text, self._bodies, page.body_ref, page.url)
        return text[: self._forager.settings.model.max_characters]

    async def _store(
        self, page: DuePage, extractor: ModelExtractor, records: tuple[FoundRecord, ...], problem: str | None = None
    ) -> None:
        visit = store.RecordVisit(
            page.domain_id,
            page.page_id,
            page.task_id,
            records,
            () if problem else (extractor.name,),
            (f"{extractor.name}: {problem}",) if problem else (),
            seen_at=page.completed_at,
            is_revisit=True,
        )

        async def write(conn: Connection) -> None:
            await store.store(conn, [visit])
            status = "failed" if problem else "done"
            await model_store.note_page(conn, page, status, version=extractor.version, problem=problem)

        await in_transaction(self._forager.database, write)

    async def _give_up(self, page: DuePage, extractor: ModelExtractor, why: str) -> None:
        """The page's earlier records stay as they are."""
        await self._store(page, extractor, (), why)
        self.failed += 1

    async def _put_off(self, conn: Connection, page: DuePage, extractor: ModelExtractor) -> None:
        """No call is left, or the model is away: pages whose answer is known go on."""
        wait_s = (await model_store.get_state(conn)).pause_left_s
        wait_s = wait_s if wait_s > 0 else LATER_S
        await model_store.note_page(
            conn, page, "waiting", version=extractor.version, attempts=page.attempts, wait_s=wait_s
        )
        self.put_off += 1

    async def _try_again(self, conn: Connection, page: DuePage, extractor: ModelExtractor, why: str) -> None:
        """The reply is no use: this page is tried again later; after several in a row, the model is left alone."""
        failures = (await model_store.get_state(conn)).failures + 1
        pause_s = pause_after(failures - PAUSE_AFTER) if failures >= PAUSE_AFTER else 0.0
        await model_store.note_failure(conn, why, pause_s)
        attempts = page.attempts + 1
        if attempts >= MOST_ATTEMPTS:
            return await self._give_up(page, extractor, why)
        wait_s = max(pause_s, pause_after(attempts))
        await model_store.note_page(
            conn, page, "waiting", version=extractor.version, attempts=attempts, wait_s=wait_s, problem=why
        )
        self.put_off += 1
        return None

    async def _pause(self, conn: Connection, why: str, retry_after_s: float | None) -> None:
        failures = (await model_store.get_state(conn)).failures
        await model_store.note_failure(conn, why, max(retry_after_s or 0.0, pause_after(failures)))


def pause_after(failures: int) -> float:
    """Returns how long to wait after so many failures before this one: 30 s, 1 min, 2 min … an hour."""
    return float(min(FIRST_PAUSE_S * 2 ** min(failures, 20), LONGEST_PAUSE_S))
