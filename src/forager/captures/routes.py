"""Stored versions of pages: lists, bodies, differences, and the look-up of captures as CDX servers have it."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response

from forager.api import paging
from forager.api.access import User
from forager.api.database import get_forager, look
from forager.api.errors import responses
from forager.api.paging import Paged
from forager.api.reply import Stream, reply
from forager.api.types import LARGEST_ID, After, Limit, PathId, Url
from forager.captures import cdx, queries, service
from forager.captures import schemas as models
from forager.captures.models import Capture, MatchType
from forager.db import scans
from forager.errors import NotFoundError, UsageError
from forager.pages import queries as page_queries
from forager.storage.body_reader import BodyReader
from forager.storage.factory import get_location

router = APIRouter(tags=["captures"])
NEWEST = paging.Order(("task_id",), ("int",))
BY_PAGE = paging.Order(("domain_id", "page_id", "task_id"), ("int", "int", "int"))
WITHIN_S = 3600.0
"""For sending a body."""
INERT = {
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, no-store",
}
"""A stored page is somebody else's: no browser may run it under our name."""
MEDIA_TYPE = "application/octet-stream"
BODY: dict[int | str, dict[str, Any]] = {200: {"description": "The body", "content": {MEDIA_TYPE: {}}}}
CAPTURES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The captures", "content": {"application/json": {}, "text/plain": {}}}
}
NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")
LONGEST_NAME = 60
TaskId = Annotated[int, Query(ge=1, le=LARGEST_ID, description="A task that stored or confirmed a body.")]


@router.get("/api/pages/{page:int}/versions", response_model=Paged[models.PageVersion], responses=responses(404))
async def list_versions(
    request: Request, _who: User, page: PathId, limit: Annotated[int, Query(ge=1, le=100)] = 20, after: After = None
) -> Response:
    """The stored versions of a page, newest first, each compared with the one before; also those whose bodies were
    deleted since."""
    (before,) = paging.read(request, after, NEWEST)
    async with look(request) as conn:
        await page_queries.get_page(conn, page)
        found = await queries.list_versions(conn, page, before=before, limit=limit + 1)
    versions = await service.describe_versions(_reader(request), found, limit)
    rows = [{name: getattr(version, name) for name in models.PageVersion.model_fields} for version in versions]
    following = paging.write(request, rows[-1], NEWEST) if len(found) > limit else None
    return reply({"items": rows, "next": following})


@router.get("/api/tasks/{task:int}/body", response_class=Response, responses={**BODY, **responses(404, 409, 410)})
async def load_body(request: Request, _who: User, task: PathId) -> Stream:
    """The body that a visit stored or confirmed, as it was parsed. It is sent as bytes to be saved, whatever it is: the
    list of versions has its content type."""
    async with look(request) as conn:
        capture = await queries.find_body(conn, task)
    body = await service.open_body(_reader(request), capture)
    headers = INERT | {
        "Content-Disposition": f'attachment; filename="{file_name(capture)}"',
        "Content-Length": str(body.info.size_bytes),
    }

    async def end() -> None:
        """Nothing is open."""

    return Stream(_in_threads(body.chunks()), MEDIA_TYPE, headers, end, WITHIN_S)


@router.get("/api/pages/{page:int}/diff", response_model=models.PageDiff, responses=responses(404, 409, 410))
async def compare_versions(
    request: Request, _who: User, page: PathId, from_task: Annotated[TaskId, Query(alias="from")], to: TaskId
) -> Response:
    """What changed from one version of a page to another, line by line."""
    async with look(request) as conn:
        await page_queries.get_page(conn, page)
        old, new = [await queries.find_body(conn, task) for task in (from_task, to)]
    for capture in (old, new):
        if capture.page_id != page:
            raise NotFoundError(f"Task {capture.task_id} is a visit to another page.")
    found = await service.compare(_reader(request), old, new)
    return reply(
        {
            "from_task": old.task_id,
            "to_task": new.task_id,
            "from_at": old.fetched_at,
            "to_at": new.fetched_at,
            "added": found.diff.added,
            "removed": found.diff.removed,
            "diff": found.diff.text,
            "is_rough": found.diff.is_rough,
            "is_truncated": found.diff.is_truncated,
        }
    )


@router.get("/api/captures", response_model=Paged[models.CaptureRow], responses={**CAPTURES, **responses(404)})
async def list_captures(
    request: Request,
    _who: User,
    *,
    url: Annotated[Url, Query(description="`example.org/docs/*` is a prefix, `*.example.org` a domain.")],
    match: Annotated[MatchType, Query(alias="matchType")] = MatchType.EXACT,
    since: Annotated[str | None, Query(alias="from", max_length=40, description="`20260131`, or a moment.")] = None,
    until: Annotated[str | None, Query(alias="to", max_length=40, description="Up to and with it.")] = None,
    output: Annotated[
        Literal["rows", "json", "cdx"],
        Query(description="As other lists; as arrays with their names first; or as lines. `Link` has the next page."),
    ] = "rows",
    limit: Limit = 100,
    after: After = None,
) -> Response:
    """Captures whose bodies are stored, in the fields of the CDX server API: page by page, the oldest of each
    first."""
    wanted = queries.CaptureFilter(url, match, read_time(since, "from"), read_time(until, "to", is_end=True))
    key = paging.read(request, after, BY_PAGE)
    start = None if key[0] is None else queries.CaptureKey(*key)
    async with look(request) as conn:
        found = await queries.list_captures(conn, wanted, start, limit=limit, within_s=scans.LONGEST_S)
    described = await service.describe(_reader(request), found.rows)
    rows = [cdx.to_row(each) for each in described]
    following = paging.write(request, found.resume_at._asdict(), BY_PAGE) if found.resume_at else None
    if output == "rows":
        items = [dict(row.document()) | {"task_id": each.task_id} for row, each in zip(rows, found.rows, strict=True)]
        return reply({"items": items, "next": following})
    headers = {"Link": f'<{request.url.include_query_params(after=following)}>; rel="next"'} if following else {}
    if output == "json":
        return reply([list(cdx.FIELDS), *(row.cells() for row in rows)], headers=headers)
    return Response("".join(f"{row.line()}\n" for row in rows), 200, INERT | headers, "text/plain; charset=utf-8")


def read_time(text: str | None, field: str, *, is_end: bool = False) -> datetime | None:
    try:
        return cdx.parse_time(text, is_end=is_end) if text is not None else None
    except ValueError:
        raise UsageError(
            f"{field} {text!r} is no time; write it like 20260131 or 2026-01-31T12:00:00Z.", field=field
        ) from None


def _reader(request: Request) -> BodyReader:
    return BodyReader(get_location(get_forager(request).settings))


def file_name(capture: Capture) -> str:
    """Returns a name that no header and no shell misreads, such as `4711-lamp.html`."""
    last = capture.url.partition("?")[0].rstrip("/").rpartition("/")[2]
    return f"{capture.task_id}-{NOT_IN_A_NAME.sub('_', last)[-LONGEST_NAME:].lstrip('.') or 'body'}"


async def _in_threads(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    while (chunk := await asyncio.to_thread(next, chunks, None)) is not None:
        yield chunk
