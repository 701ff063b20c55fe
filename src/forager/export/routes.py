"""Everything out again as JSON lines or CSV, row by row: memory stays the same for ten rows or ten million."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Query, Request
from starlette.responses import StreamingResponse

from forager.api.access import User, too_many
from forager.api.database import FREE_WITHIN_S, get_forager
from forager.api.errors import TooManyError, responses
from forager.api.reply import Stream, as_json
from forager.api.types import LARGEST_ID, Moment, Name
from forager.db.pool import CONNECTION_LOST
from forager.errors import PluginFailedError, UsageError
from forager.export import csv_rows as cells
from forager.export import rows as export
from forager.export.formats import NAME, Format, PluginFormat, find_format
from forager.export.plugin_writer import stream_with_plugin
from forager.export.prefetch import ReadBuffer
from forager.export.texts import add_texts
from forager.plugins import registry
from forager.plugins import store as plugin_store
from forager.storage.factory import open_readonly_store

router = APIRouter(tags=["exports"])
T = TypeVar("T")
MOST_AT_ONCE = 2
"""Each keeps a connection and a snapshot until all its rows are read, one of each account."""
MOST_OPEN, MOST_OF_ONE = 10, 3
"""On their way to clients, in all and of one account."""
WAIT_S = 10.0
SNAPSHOT_S = 900.0
"""For reading all rows: a snapshot keeps vacuum from what was deleted since."""
WITHIN_S = 3600.0
"""For sending them."""
ROWS_AT_ONCE = 200
STATUSES: dict[str, frozenset[str]] = {
    "pages": frozenset({"discovered", "queued", "fetched", "failed", "blocked", "gone"}),
    "images": frozenset(
        {"found", "stored", "moved", "gone", "blocked", "failed", "broken", "too_big", "not_an_image", "dropped"}
    ),
    "tasks": frozenset({"pending", "crawling", "completed", "failed", "paused", "cancelled"}),
}
MEDIA_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8; header=present"}
LINES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The rows", "content": {"application/x-ndjson": {}, "text/csv": {}}}
}


@router.get("/api/exports/{kind}", response_class=StreamingResponse, responses={**LINES, **responses(404, 409)})
async def export_rows(
    request: Request,
    who: User,
    *,
    kind: export.Kind,
    format: Annotated[  # noqa: A002 (as the command line calls it)
        str, Query(pattern=f"^{NAME.pattern}$", description="jsonl, csv, or a format of a plug-in.")
    ] = "jsonl",
    domain: Annotated[Name | None, Query()] = None,
    status: Annotated[str | None, Query(pattern="^[a-z_]{1,20}$")] = None,
    run: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None,
    since: Annotated[Moment | None, Query()] = None,
    add: Annotated[
        Literal["text"] | None, Query(alias="with", description="Of pages: the main text as Markdown.")
    ] = None,
) -> Stream:
    """All rows of one kind that pass the filters, as they are at this moment. What takes longer than an hour to send,
    or a quarter of an hour to read, is broken off: narrow the filters, or read faster."""
    if status is not None and status not in STATUSES.get(kind, ()):
        known = ", ".join(sorted(STATUSES.get(kind, ()))) or "no status"
        raise UsageError(f"{kind.capitalize()} have {known}.", field="status")
    if add is not None and kind != "pages":
        raise UsageError("Only pages have a text.", field="with")
    chosen = await asyncio.to_thread(find_format, format)
    if chosen is Format.PARQUET:
        raise UsageError("Parquet files are written by `forager export`.", field="format")
    desk: Exports = request.app.state.exports
    sending, reading = contextlib.AsyncExitStack(), contextlib.AsyncExitStack()
    try:
        sending.enter_context(desk.open_one(who.user_id))
        await reading.enter_async_context(desk.reading(who.user_id))
        rows, types = await _open(request, reading, kind, export.Filters(domain, status, run, since), add)
        if isinstance(chosen, PluginFormat):
            pieces = await _begin(_write_with_plugin(request, rows, types, chosen))
        else:
            pieces = _write(rows, (*export.COLUMNS[kind], *([add] if add else [])), format)
        ahead = _start_read_buffer(request, pieces, reading.aclose)
    except BaseException:
        with contextlib.suppress(*CONNECTION_LOST):  # its connection is gone, which was said already
            await reading.aclose()
        await sending.aclose()
        raise
    sending.push_async_callback(ahead.close)
    media_type, extension = MEDIA_TYPES.get(format, ""), format
    if isinstance(chosen, PluginFormat):
        media_type, extension = chosen.exporter.media_type, chosen.exporter.extension
    headers = {"Content-Disposition": f'attachment; filename="{kind}.{extension}"'}
    return Stream(ahead.pieces(), media_type, headers, sending.aclose, WITHIN_S)


def _start_read_buffer(
    request: Request, pieces: AsyncIterator[bytes], on_read: Callable[[], Awaitable[None]]
) -> ReadBuffer:
    try:
        return ReadBuffer(pieces, get_forager(request).settings.home, on_read, within_s=SNAPSHOT_S)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise TooManyError(f"The export cannot be buffered in the data folder: {reason}.") from None


class Exports:
    """Who may export now. Reading takes a connection; sending only a file."""

    def __init__(self) -> None:
        self._seats = asyncio.Semaphore(MOST_AT_ONCE)
        self._turns: dict[int | None, asyncio.Lock] = {}
        self._open: Counter[int | None] = Counter()

    @contextlib.contextmanager
    def open_one(self, account: int | None) -> Iterator[None]:
        if self._open[account] >= MOST_OF_ONE:
            raise too_many(5, f"{MOST_OF_ONE} exports of this account are under way; ask again when one is done.")
        if self._open.total() >= MOST_OPEN:
            raise TooManyError(f"{MOST_OPEN} exports are under way; ask again when one of them is done.")
        self._open[account] += 1
        try:
            yield
        finally:
            self._open[account] -= 1
            if not self._open[account]:
                del self._open[account]
                self._turns.pop(account, None)

    @contextlib.asynccontextmanager
    async def reading(self, account: int | None) -> AsyncIterator[None]:
        """Exports of one account are read one after the other, so that they never take both seats."""
        turn = self._turns.setdefault(account, asyncio.Lock())
        try:
            async with asyncio.timeout(WAIT_S):
                await turn.acquire()
        except TimeoutError:
            raise too_many(5, "Another export of this account is being read; ask again when it is done.") from None
        try:
            try:
                async with asyncio.timeout(WAIT_S):
                    await self._seats.acquire()
            except TimeoutError:
                raise TooManyError(f"{MOST_AT_ONCE} exports are being read; ask again when one is done.") from None
            try:
                yield
            finally:
                self._seats.release()
        finally:
            turn.release()


async def _open(
    request: Request, stack: contextlib.AsyncExitStack, kind: export.Kind, filters: export.Filters, add: str | None
) -> tuple[AsyncIterator[dict[str, Any]], Mapping[str, str]]:
    """The first row is asked for before the answer begins, so that a bad filter is an error and no broken file."""
    pool = get_forager(request).pool
    conn = await pool.acquire(timeout=FREE_WITHIN_S)
    stack.push_async_callback(pool.release, conn, timeout=FREE_WITHIN_S)
    await stack.enter_async_context(conn.transaction(isolation="repeatable_read", readonly=True))
    types = await export.column_types(conn, kind)
    rows = export.stream(conn, kind, filters)
    if add is not None:
        rows = add_texts(conn, rows, open_readonly_store(get_forager(request).settings))
        types = {**types, add: "text"}
    return await _begin(rows), types


async def _begin(source: AsyncIterator[T]) -> AsyncIterator[T]:
    """Returns the same, after its first item has come, or its first error."""
    nothing: Any = object()
    first = await anext(source, nothing)

    async def iter_all() -> AsyncIterator[T]:
        if first is not nothing:
            yield first
        async for each in source:
            yield each

    return iter_all()


async def _write_with_plugin(
    request: Request, rows: AsyncIterator[dict[str, Any]], types: Mapping[str, str], chosen: PluginFormat
) -> AsyncIterator[bytes]:
    """Yields what a plug-in writes; what it does wrong is recorded, for `forager plugins`."""
    try:
        async with contextlib.aclosing(stream_with_plugin(rows, types, chosen)) as pieces:
            async for piece in pieces:
                yield piece
    except PluginFailedError:
        async with get_forager(request).pool.acquire() as conn, conn.transaction():
            await plugin_store.add_errors(conn, registry.current().take_errors())
        raise


async def _write(rows: AsyncIterator[dict[str, Any]], columns: Sequence[str], form: str) -> AsyncIterator[bytes]:
    lines = [cells.line(columns).encode()] if form == "csv" else []
    async for row in rows:
        lines.append(as_json(row) if form == "jsonl" else cells.line([row[name] for name in columns]).encode())
        if len(lines) >= ROWS_AT_ONCE:
            yield b"\n".join(lines) + b"\n"
            lines.clear()
    yield b"\n".join([*lines, b""])
