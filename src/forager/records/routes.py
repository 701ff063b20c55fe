"""Records, extractors and items of structured data."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from forager.api import paging
from forager.api.access import Admin, User
from forager.api.database import exclusive_request, get_forager, look
from forager.api.errors import responses
from forager.api.paging import Listed, Paged
from forager.api.reply import listed, reply
from forager.api.types import After, Limit, Moment, Name, PathId, PathName, Text, Url
from forager.records import items as item_queries
from forager.records import queries, service
from forager.records import schemas as models
from forager.records.conditions import parse_conditions

router = APIRouter(tags=["records"])
DomainFilter = Annotated[Name | None, Query()]
Word = Annotated[Text | None, Query(max_length=255)]
Where = Annotated[
    list[Text],
    Query(
        max_length=20,
        description="Conditions on fields: `brand=Acme`, `price>100`, `title~cake`.",
        examples=[["minutes<30"]],
    ),
]
BY_ITEM = paging.Order(("page_id", "position"), ("int", "int"))


@router.get("/api/records", response_model=Paged[models.RecordRow], responses=responses(404))
async def list_records(
    request: Request,
    _who: User,
    *,
    domain: DomainFilter = None,
    kind: Word = None,
    extractor: Word = None,
    page: Annotated[int | None, Query(ge=1, le=2**53 - 1, description="The id of a page.")] = None,
    since: Annotated[Moment | None, Query(description="Added, changed or lost since.")] = None,
    is_present: Annotated[bool | None, Query(description="False: only those that are gone.")] = None,
    is_complete: Annotated[bool | None, Query(description="False: only those with a problem.")] = None,
    where: Where = [],  # noqa: B006 (FastAPI copies it)
    limit: Limit = 20,
    after: After = None,
) -> Response:
    """What extractors found on pages, those found last first."""
    wanted = queries.RecordFilter(
        domain, kind, extractor, page, since, is_present, is_complete, parse_conditions(where)
    )
    async with look(request) as conn:
        rows = await queries.list_records(conn, wanted, paging.read(request, after, paging.BY_ID), limit=limit + 1)
    return paging.page(request, rows, limit)


@router.get("/api/records/{record:int}", response_model=models.RecordHistory, responses=responses(404))
async def show_record(
    request: Request, _who: User, record: PathId, limit: Limit = 100, after: After = None
) -> Response:
    """One record, where each field was found, and its history."""
    async with look(request) as conn:
        found = await queries.find_record(conn, record)
        key = paging.read(request, after, paging.BY_ID)
        changes = await queries.list_history(conn, record, key, limit=limit + 1)
    following = paging.write(request, changes[limit - 1], paging.BY_ID) if len(changes) > limit else None
    return reply({"record": found, "changes": changes[:limit], "next": following})


@router.get("/api/extractors", response_model=models.Extractors, responses=responses())
async def list_extractors(request: Request, _who: User) -> Response:
    """The extractors with their numbers, and files that cannot be used."""
    async with look(request) as conn:
        rows, bad = await service.list_extractors(conn, get_forager(request).settings)
    return reply({"items": rows, "bad_files": bad})


@router.get("/api/extractors/coverage", response_model=Listed[models.FieldCoverage], responses=responses(404))
async def list_coverage(
    request: Request,
    _who: User,
    *,
    domain: DomainFilter = None,
    extractor: Word = None,
    days: Annotated[int, Query(ge=1, le=queries.MOST_DAYS)] = queries.DAYS,
    limit: Limit = 1000,
) -> Response:
    """How often each field was found, by domain and day, newest day first."""
    async with look(request) as conn:
        return listed(await queries.list_coverage(conn, domain=domain, extractor=extractor, days=days, limit=limit))


@router.get("/api/extractors/dropped", response_model=Listed[models.DroppedField], responses=responses(404))
async def list_dropped_fields(request: Request, _who: User, domain: DomainFilter = None, limit: Limit = 20) -> Response:
    """Fields found less often yesterday and today than in the week before, the largest drop first."""
    async with look(request) as conn:
        return listed(await queries.list_dropped_fields(conn, domain=domain, limit=limit))


@router.get("/api/extractors/sample", response_model=models.SamplePage, responses=responses(404))
async def show_sample_page(
    request: Request,
    _who: User,
    page: Annotated[int | None, Query(ge=1, le=2**53 - 1, description="The id of a page.")] = None,
    domain: DomainFilter = None,
) -> Response:
    """The HTML of a stored page, or of the newest one: to choose elements in for an extractor."""
    return reply(await service.load_html(get_forager(request), page=page, domain=domain))


@router.get("/api/extractors/{name}/definition", response_model=models.ExtractorFile, responses=responses(404))
async def show_definition(request: Request, _who: User, name: PathName) -> Response:
    """The text of an extractor's file."""
    text = await service.read_definition(get_forager(request).settings.home, name)
    return reply({"name": name, "definition": text})


@router.post("/api/extract", response_model=models.ExtractResult, responses=responses(404, 409))
async def try_extractor(request: Request, _who: Admin, body: models.ExtractRequest) -> Response:
    """Tries an extractor on HTML, on a stored page, or on the newest stored pages. Nothing is stored."""
    order = service.TryOrder(**body.model_dump())
    async with exclusive_request(request):
        return reply(await service.try_extractor(get_forager(request), order))


@router.get("/api/items", response_model=Paged[models.ItemRow], responses=responses(404))
async def list_items(
    request: Request,
    _who: User,
    *,
    type: Annotated[Text | None, Query(max_length=255, examples=["Recipe"])] = None,  # noqa: A002 (its name in the API)
    domain: DomainFilter = None,
    url: Annotated[Url | None, Query(description="Of one page.")] = None,
    syntax: Annotated[Text | None, Query(max_length=20, examples=["json-ld"])] = None,
    property: Where = [],  # noqa: A002, B006
    limit: Limit = 20,
    after: After = None,
) -> Response:
    """Items of structured data, in page order. Filters that no index serves (`syntax`, `property`) may end a page
    before `limit`; it is the last only if `next` is null."""
    wanted = item_queries.ItemFilter(type, domain, url, syntax, parse_conditions(property))
    key = paging.read(request, after, BY_ITEM)
    start = item_queries.ItemKey() if key[0] is None else item_queries.ItemKey(*key)
    async with look(request) as conn:
        found = await item_queries.list_items(conn, wanted, start, limit=limit + 1)
    return paging.page(request, found.rows, limit, BY_ITEM, found.resume_at)
