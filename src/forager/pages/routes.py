"""Pages: look, one by one or many, and how often one is visited again."""

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from forager.api import paging
from forager.api.access import Admin, User
from forager.api.database import change, get_forager, look, url_error_as_not_found
from forager.api.errors import responses
from forager.api.filters import ParserFilter, SourceFilter, StatusCodeFilter, UrlPartFilter
from forager.api.paging import Paged
from forager.api.reply import listed, reply
from forager.api.types import LARGEST_ID, After, Body, Limit, Moment, Name, Number, PathId, Text, Url
from forager.db import scans
from forager.domains.settings import Configured
from forager.errors import NotFoundError
from forager.pages import queries as page_queries
from forager.pages import schemas as models
from forager.pages import service as page_service
from forager.pages import text as texts
from forager.pages.screenshots import find_screenshot
from forager.parsing.markdown_formats import TextFormat
from forager.storage.factory import get_location, open_readonly_store
from forager.tasks import queries as task_queries
from forager.tasks.schemas import NEWEST_TASKS, Outcome, TaskRow

router = APIRouter(tags=["pages"])
JPEG: dict[int | str, dict[str, Any]] = {
    200: {"description": "The picture", "content": {"image/*": {}, "application/octet-stream": {}}}
}
TEXTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The text",
        "content": {"text/markdown": {}, "text/plain": {}, "text/html": {}, "text/x-diff": {}},
    }
}
TEXT_TYPES = {TextFormat.MARKDOWN: "text/markdown", TextFormat.TEXT: "text/plain", TextFormat.HTML: "text/html"}
SANDBOX = {
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "Cache-Control": "private, max-age=60",
}
KINDS = {"fetched_at": "time", "changed_at": "time", "url_hash": "bytes"}
ORDERS = {
    sort: paging.Order(columns, tuple(KINDS.get(column, "int") for column in columns), hidden=("url_hash",))
    for sort, columns in page_queries.SORTS.items()
}
Sort = Annotated[
    Literal["found", "-found", "-fetched_at", "-changed_at", "depth", "priority"] | None,
    Query(
        description="As they were found (in a domain: no order that says anything), the last found, read or changed"
        " first, or by depth or priority in one domain. By default as found, or by the time that is filtered by."
    ),
]


class PageChanges(Body):
    revisit_every_s: Number | None = Field(
        ge=1, le=315_360_000, description="How often it is visited again; null: as its domain is.", examples=[21_600]
    )


@router.get("/api/pages", response_model=Paged[models.PageRow], responses=responses(404))
async def list_pages(
    request: Request,
    _who: User,
    *,
    domain: Annotated[Name | None, Query()] = None,
    status: Annotated[models.PageStatus | None, Query()] = None,
    language: Annotated[Text | None, Query(max_length=35, examples=["en"])] = None,
    is_seed: Annotated[bool | None, Query()] = None,
    outcome: Annotated[Outcome | None, Query(description="Of the latest visit.")] = None,
    status_code: StatusCodeFilter = None,
    error_code: Annotated[Text | None, Query(max_length=60, description="Of the latest visit.")] = None,
    run: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Of the latest visit.")] = None,
    q: UrlPartFilter = None,
    depth: Annotated[int | None, Query(ge=0, le=32_767)] = None,
    priority: Annotated[int | None, Query(ge=1, le=10)] = None,
    source: SourceFilter = None,
    parser: ParserFilter = None,
    discovered_since: Annotated[Moment | None, Query()] = None,
    discovered_until: Annotated[Moment | None, Query(description="Before this moment.")] = None,
    fetched_since: Annotated[Moment | None, Query()] = None,
    fetched_until: Annotated[Moment | None, Query(description="Before this moment.")] = None,
    changed_since: Annotated[Moment | None, Query()] = None,
    changed_until: Annotated[Moment | None, Query(description="Before this moment.")] = None,
    sort: Sort = None,
    limit: Limit = 100,
    after: After = None,
) -> Response:
    """All pages, page by page. Filters that no index serves (such as `q` and those of the latest visit) may end a page
    before `limit`; it is the last only if `next` is null."""
    wanted = page_queries.PageFilter(
        domain=domain,
        status=status,
        language=language,
        is_seed=is_seed,
        outcome=outcome,
        status_code=status_code,
        error_code=error_code,
        run=run,
        url_part=q,
        depth=depth,
        priority=priority,
        source=source,
        parser=parser,
        discovered_since=discovered_since,
        discovered_until=discovered_until,
        fetched_since=fetched_since,
        fetched_until=fetched_until,
        changed_since=changed_since,
        changed_until=changed_until,
    )
    by = sort or wanted.best_sort
    by = "hash" if by == "found" and domain is not None else by
    async with look(request) as conn:
        found = await page_queries.list_pages(
            conn,
            wanted,
            paging.read(request, after, ORDERS[by]),
            sort=by,
            limit=limit + 1,
            within_s=scans.LONGEST_S,
        )
    return paging.page(request, found.rows, limit, ORDERS[by], found.resume_at)


@router.get("/api/pages/find", response_model=models.Page, responses=responses(404))
async def find_page(
    request: Request, _who: User, url: Annotated[Url, Query(description="In any spelling.")]
) -> Response:
    """One page by its URL."""
    async with look(request) as conn:
        with url_error_as_not_found():
            found = await page_queries.find_page(conn, url)
        return reply(await page_queries.get_page(conn, found["id"]))


@router.get("/api/pages/{page:int}", response_model=models.Page, responses=responses(404))
async def show_page(request: Request, _who: User, page: PathId) -> Response:
    """All that is kept of one page."""
    async with look(request) as conn:
        return reply(await page_queries.get_page(conn, page))


@router.get("/api/pages/{page:int}/structured-data", response_model=models.StructuredData, responses=responses(404))
async def show_structured_data(request: Request, _who: User, page: PathId) -> Response:
    """All JSON-LD, microdata, RDFa and OpenGraph items that the last reading of a page found."""
    async with look(request) as conn:
        return listed(await page_queries.list_structured_data(conn, page))


@router.get("/api/pages/{page:int}/screenshot", response_class=Response, responses={**JPEG, **responses(404)})
async def show_screenshot(request: Request, _who: User, page: PathId) -> Response:
    """The screenshot of the last visit at which the browser took one, as JPEG; the crawl settings of a domain say
    whether it does."""
    async with look(request) as conn:
        await page_queries.get_page(conn, page)
        refs = await page_queries.list_snapshots(conn, page)
    place = get_location(get_forager(request).settings)
    picture = await asyncio.to_thread(find_screenshot, place, refs)
    if picture is None:
        raise NotFoundError(f"Page {page} has no screenshot.")
    return Response(picture, 200, SANDBOX, "image/jpeg")


@router.get("/api/pages/{page:int}/text", response_class=Response, responses={**TEXTS, **responses(404)})
async def show_text(
    request: Request,
    _who: User,
    page: PathId,
    task: Annotated[
        int | None, Query(ge=1, le=LARGEST_ID, description="As this visit found it; else the newest.")
    ] = None,
    against: Annotated[
        int | None, Query(ge=1, le=LARGEST_ID, description="A visit: what changed since, as a unified diff.")
    ] = None,
    form: Annotated[TextFormat, Query(alias="format")] = TextFormat.MARKDOWN,
) -> Response:
    """The main text of a page, as the newest visit found it whose text or body is stored. Markdown has links with
    absolute addresses and no HTML; `text` has only the words."""
    settings = get_forager(request).settings
    policy = settings.storage.content_policy
    async with look(request) as conn:
        visit = await texts.find_text(conn, page, task=task, default_policy=policy)
        before = None
        if against is not None:
            before = await texts.find_text(conn, page, task=against, default_policy=policy)
    store = open_readonly_store(settings)
    if before is not None:
        said, kind = await texts.compare(store, before, visit, form), "text/x-diff"
    else:
        said, kind = await texts.load_as(store, visit, form), TEXT_TYPES[form]
    headers = {**SANDBOX, "Forager-Task": str(visit.task_id)}
    return Response(said.encode(), 200, headers, f"{kind}; charset=utf-8")


@router.get("/api/pages/{page:int}/tasks", response_model=Paged[TaskRow], responses=responses(404))
async def list_visits(request: Request, _who: User, page: PathId, limit: Limit = 100, after: After = None) -> Response:
    """All visits of one page, newest first."""
    async with look(request) as conn:
        await page_queries.get_page(conn, page)
        found = await task_queries.list_tasks(
            conn, task_queries.TaskFilter(page=page), paging.read(request, after, NEWEST_TASKS), limit=limit + 1
        )
    return paging.page(request, found.rows, limit, NEWEST_TASKS)


@router.patch("/api/admin/pages/{page:int}", response_model=Configured, responses=responses(404, 409))
async def configure_page(request: Request, who: Admin, page: PathId, body: PageChanges) -> Response:
    """How often one page is visited again."""
    settings = get_forager(request).settings
    rest_s = settings.refresh.interval if settings.refresh.enabled else None
    async with change(request, who) as deed:
        url = (await page_queries.get_page(deed.conn, page))["url"]
        done = await page_service.set_page_frequency(
            deed.conn, url, body.revisit_every_s, by=deed.by, refresh_every_s=rest_s
        )
        await deed.note("page.configure", "page", page, url=url, revisit_every_s=body.revisit_every_s)
    return reply(done)
