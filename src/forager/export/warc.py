"""Exports stored bodies as one WARC file, however they are stored: for tools that read only WARC.

A repeated body is written once; later visits are revisit records. An archived response is written with its headers; a
snapshot, which kept a few of them, as a resource.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime

from forager import __version__, clock
from forager.db.types import Connection, Row
from forager.domains.lookup import known_name
from forager.errors import StoreError
from forager.export.rows import PREFETCH_ROWS, SQL, Filters
from forager.fetch.models import Fetched
from forager.logs import log
from forager.runs.queries import check_run_exists
from forager.storage import warc_record
from forager.storage.refs import WarcRef
from forager.storage.warc_record import Original

AT_ONCE = 50
"""Bodies in memory at once."""
MOST_ORIGINALS = 100_000
Load = Callable[[str, str], Fetched]
"""A ref and its URL → the response; blocks."""


@dataclass(slots=True)
class Count:
    records: int = 0
    missing: int = 0
    """Bodies that are recorded and cannot be loaded."""


async def stream_warc(conn: Connection, load: Load, name: str, filters: Filters, count: Count) -> AsyncIterator[bytes]:
    """Yields the file in chunks. Needs an open transaction, as every cursor does."""
    domain = await known_name(conn, filters.domain)
    await check_run_exists(conn, filters.run)
    arguments = (domain, filters.run, filters.since, *(filters.changed or (None, None)))
    press = _WarcBuilder(load, name, count)
    yield warc_record.info(name, clock.now(), software=f"Forager/{__version__}", user_agent="")
    rows: list[Row] = []
    async for row in conn.cursor(SQL["export_bodies"], *arguments, prefetch=PREFETCH_ROWS):
        rows.append(row)
        if len(rows) == AT_ONCE:
            yield await asyncio.to_thread(press.records, rows)
            rows = []
    yield await asyncio.to_thread(press.records, rows)


class _WarcBuilder:
    def __init__(self, load: Load, name: str, count: Count) -> None:
        self._load = load
        self._name = name
        self._count = count
        self._originals: dict[str, Original] = {}
        """Payload digest → the record in this file that has it."""

    def records(self, rows: list[Row]) -> bytes:
        return b"".join(self._record(row["body_ref"], row["url"], row["completed_at"]) for row in rows)

    def _record(self, ref: str, url: str, at: datetime) -> bytes:
        try:
            fetched = self._load(ref, url)
        except StoreError as error:
            log().warning("body not exported", action="export.missing", ref=ref, error=str(error))
            self._count.missing += 1
            return b""
        self._count.records += 1
        digest = warc_record.digest_of(fetched.body)
        original = self._originals.get(digest)
        if original is None:
            self._cache_original(Original(str(WarcRef(self._name, 0, 0)), digest, fetched.url, warc_record.date_of(at)))
            if ref.startswith("snapshot:"):
                return warc_record.resource(fetched, at)
        return warc_record.pack(fetched, at, original, digest=digest).blob

    def _cache_original(self, original: Original) -> None:
        self._originals[original.digest] = original
        if len(self._originals) > MOST_ORIGINALS:
            del self._originals[next(iter(self._originals))]
