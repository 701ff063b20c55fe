"""Everything out again as JSON lines or CSV, row by row: memory stays the same for ten rows or ten million."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import StreamingResponse

from forager.api.access import User
from forager.api.problems import TooManyError, responses
from forager.api.reads import asking_again, replica_for
from forager.api.reply import Stream, as_json
from forager.api.words import LARGEST_ID, Moment, Name
from forager.api.work import FREE_WITHIN_S, forager_of
from forager.control import cells, export
from forager.db import CONNECTION_LOST
from forager.errors import UsageError

router = APIRouter(tags=["exports"])
MOST_AT_ONCE = 2
"""Each keeps a connection and a snapshot for as long as its client takes."""
WITHIN_S = 3600.0
"""For all of it: a snapshot keeps vacuum from what was deleted since, and who stalls would hold it for ever."""
ROWS_AT_ONCE = 200
STATUSES: dict[str, frozenset[str]] = {
    "pages": frozenset({"discovered", "queued", "fetched", "failed", "blocked", "gone"}),
    "images": frozenset(
        {"found", "stored", "moved", "gone", "blocked", "failed", "broken", "too_big", "not_an_image", "dropped"}
    ),
    "tasks": frozenset(
        {"pending", "queued", "crawling", "downloaded", "queued_parse", "parsing"}
        | {"completed", "failed", "paused", "cancelled"}
    ),
}
LINES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The rows", "content": {"application/x-ndjson": {}, "text/csv": {}}}
}


@router.get("/api/exports/{kind}", response_class=StreamingResponse, responses={**LINES, **responses(404)})
async def export_rows(
    request: Request,
    _who: User,
    *,
    kind: export.Kind,
    format: Annotated[Literal["jsonl", "csv"], Query()] = "jsonl",  # noqa: A002 (as the command line calls it)
    domain: Annotated[Name | None, Query()] = None,
    status: Annotated[str | None, Query(pattern="^[a-z_]{1,20}$")] = None,
    run: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None,
    since: Annotated[Moment | None, Query()] = None,
) -> Stream:
    """All rows of one kind that pass the filters, as they are at this moment. What takes longer than an hour is broken
    off: narrow the filters, or read faster."""
    if status is not None and status not in STATUSES.get(kind, ()):
        raise UsageError(f"query.status: {kind} have {', '.join(sorted(STATUSES.get(kind, ()))) or 'no status'}.")
    stack = contextlib.AsyncExitStack()
    try:
        rows = await _open(request, stack, kind, export.Filters(domain, status, run, since))
    except BaseException:
        with contextlib.suppress(*CONNECTION_LOST):  # its connection is gone, which was said already
            await stack.aclose()
        raise
    media_type = "application/x-ndjson" if format == "jsonl" else "text/csv; charset=utf-8; header=present"
    headers = {"Content-Disposition": f'attachment; filename="{kind}.{format}"'}
    return Stream(_write(rows, kind, format), media_type, headers, stack.aclose, WITHIN_S)


async def _open(
    request: Request, stack: contextlib.AsyncExitStack, kind: export.Kind, filters: export.Filters
) -> AsyncIterator[dict[str, Any]]:
    """The first row is asked for before the answer begins, so that a bad filter is an error and no broken file."""
    desk: asyncio.Semaphore = request.app.state.exports
    if desk.locked():
        raise TooManyError(f"{MOST_AT_ONCE} exports are under way; ask again when one of them is done.")
    await stack.enter_async_context(desk)
    replica, limit_s = replica_for(request), forager_of(request).settings.api_statement_s
    if replica is not None and not replica.keeps_rows:
        replica = None  # vacuum would break it off, and rows that are sent cannot be asked for again
    pool = forager_of(request).pool if replica is None else replica.pool
    with asking_again(replica, limit_s):
        conn = await pool.acquire(timeout=FREE_WITHIN_S)
        stack.push_async_callback(pool.release, conn, timeout=FREE_WITHIN_S)
        await stack.enter_async_context(conn.transaction(isolation="repeatable_read", readonly=True))
        rows = export.stream(conn, kind, filters)
        first = await anext(rows, None)

    async def all_of_them() -> AsyncIterator[dict[str, Any]]:
        if first is not None:
            yield first
        async for row in rows:
            yield row

    return all_of_them()


async def _write(rows: AsyncIterator[dict[str, Any]], kind: export.Kind, form: str) -> AsyncIterator[bytes]:
    columns = export.COLUMNS[kind]
    lines = [cells.line(columns).encode()] if form == "csv" else []
    async for row in rows:
        lines.append(as_json(row) if form == "jsonl" else cells.line([row[name] for name in columns]).encode())
        if len(lines) >= ROWS_AT_ONCE:
            yield b"\n".join(lines) + b"\n"
            lines.clear()
    yield b"\n".join([*lines, b""])
