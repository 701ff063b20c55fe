"""Pages: look, one by one or many, and how often one is visited again."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from forager.api import paging
from forager.api.access import Admin, User
from forager.api.database import change, get_forager, look, url_error_as_not_found
from forager.api.errors import responses
from forager.api.paging import Paged
from forager.api.reply import listed, reply
from forager.api.types import After, Body, Limit, Name, Number, PathId, Text, Url
from forager.domains.service import Configured
from forager.pages import queries as page_queries
from forager.pages import schemas as models
from forager.pages import service as page_service
from forager.tasks import queries as task_queries
from forager.tasks.schemas import NEWEST_TASKS, TaskRow

router = APIRouter(tags=["pages"])
BY_HASH = paging.Order(("url_hash",), ("bytes",), hidden=("url_hash",))
BY_READ = paging.Order(("fetched_at", "id"), ("time", "int"))
Sort = Annotated[
    Literal["found", "-fetched_at"],
    Query(description="As they were found (in a domain: no order that says anything), or the last read first."),
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
    sort: Sort = "found",
    limit: Limit = 100,
    after: After = None,
) -> Response:
    """All pages, page by page."""
    order = BY_READ if sort == "-fetched_at" else paging.BY_ID if domain is None else BY_HASH
    key = paging.read(request, after, order)
    async with look(request) as conn:
        if sort == "-fetched_at":
            rows = await page_queries.list_read_pages(
                conn, key, domain=domain, status=status, language=language, is_seed=is_seed, limit=limit + 1
            )
        elif domain is None:
            rows = await page_queries.list_pages(
                conn, key, status=status, language=language, is_seed=is_seed, limit=limit + 1
            )
        else:
            rows = await page_queries.list_domain_pages(
                conn, key, domain, status=status, language=language, is_seed=is_seed, limit=limit + 1
            )
    return paging.page(request, rows, limit, order)


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


@router.get("/api/pages/{page:int}/tasks", response_model=Paged[TaskRow], responses=responses(404))
async def list_visits(request: Request, _who: User, page: PathId, limit: Limit = 100, after: After = None) -> Response:
    """All visits of one page, newest first."""
    async with look(request) as conn:
        await page_queries.get_page(conn, page)
        rows = await task_queries.list_tasks(
            conn, paging.read(request, after, NEWEST_TASKS), page=page, limit=limit + 1
        )
    return paging.page(request, rows, limit, NEWEST_TASKS)


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
