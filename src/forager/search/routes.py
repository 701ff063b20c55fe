"""Full text search, links between pages, and duplicate pages."""

from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from forager.api import paging
from forager.api.access import User
from forager.api.database import get_forager, look, url_error_as_not_found
from forager.api.errors import responses
from forager.api.paging import Listed, Paged
from forager.api.reply import listed, reply
from forager.api.types import LARGEST_ID, After, Limit, Moment, Name, Text, Url
from forager.pages import links
from forager.pages import schemas as models
from forager.search import duplicates
from forager.search import service as control
from forager.search.models import Query as Asked
from forager.storage.factory import open_readonly_store

router = APIRouter(tags=["search"])
QUERY = (
    'All of these; "in this order"; -without; this OR that; site:shop.example, language:de, title:word, url:part, '
    "date:2026-11-01..2026-11-07, since:7d, until:2026-11."
)
Words = Annotated[
    Text,
    Query(min_length=1, max_length=1000, description=QUERY),
]
Language = Annotated[str | None, Query(pattern="^[A-Za-z0-9-]{1,35}$", examples=["en"])]
PageUrl = Annotated[Url, Query(description="A page in any spelling.", examples=["https://shop.example/lamp"])]
DomainFilter = Annotated[Name | None, Query()]
Distance = Annotated[int, Query(ge=0, le=3, description="Bits of 64; 0 is the same text.")]
BY_PLACE = paging.Order(("position", "page_id"), ("int", "int"))
BY_SIZE = paging.Order(("pages", "id"), ("int", "int"))


@router.get("/api/search", response_model=models.Hits, responses=responses(404, 409))
async def search(
    request: Request,
    _who: User,
    *,
    q: Words,
    language: Language = None,
    domain: DomainFilter = None,
    since: Annotated[Moment | None, Query(description="New or changed since.")] = None,
    limit: Limit = 10,
    after: After = None,
) -> Response:
    """Pages by what they say."""
    return await search_response(request, Asked(q, language, domain, since, limit, after))


async def search_response(request: Request, query: Asked) -> Response:
    forager = get_forager(request)
    bodies = open_readonly_store(forager.settings)
    found = await control.search(forager.pool, query, bodies=bodies, elsewhere=request.app.state.searching)
    page = found.page
    return reply(
        {
            "query": found.suggestion if found.is_corrected else query.words,
            "total": page.total,
            "is_estimate": page.is_estimate,
            "looked_at": page.looked_at,
            "hits": [asdict(hit) for hit in page.hits],
            "facets": page.facets,
            "next": page.next_after,
            "suggestion": found.suggestion,
            "is_corrected": found.is_corrected,
            "not_indexed_yet": found.waiting,
            "cut_pages": found.cut,
            "noindex_pages": found.noindex,
            "note": found.note,
        }
    )


@router.get("/api/links", response_model=models.Links, response_model_by_alias=True, responses=responses(404))
async def list_links(
    request: Request,
    _who: User,
    url: PageUrl,
    direction: Annotated[Literal["both", "out", "in"], Query()] = "both",
    limit: Limit = 100,
    after: After = None,
) -> Response:
    """The links of a page in its order, and who links to it, those known longest first: `limit` of each on a page."""
    outgoing, incoming = direction != "in", direction != "out"
    position, page = paging.read(request, after, BY_PLACE)
    async with look(request) as conn:
        with url_error_as_not_found():
            found = await links.links_of(
                conn, url, outgoing=outgoing, incoming=incoming, after=(position, page), limit=limit + 1
            )
    lists = [found[side]["links"] if side in found else [] for side in ("out", "in")]
    return reply(
        {**found, "next": paging.truncate_lists(request, lists, limit, BY_PLACE, ends=(LARGEST_ID, LARGEST_ID))}
    )


@router.get("/api/links/top", response_model=Listed[models.Linked], responses=responses(404))
async def top_links(request: Request, _who: User, domain: DomainFilter = None, limit: Limit = 20) -> Response:
    """The pages that most pages link to."""
    async with look(request) as conn:
        return listed(await links.most_linked(conn, domain=domain, limit=limit))


@router.get("/api/duplicates", response_model=Paged[models.Cluster], responses=responses(404))
async def list_duplicates(
    request: Request,
    _who: User,
    *,
    domain: DomainFilter = None,
    distance: Distance = 3,
    members: Annotated[int, Query(ge=0, le=100)] = 5,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
    after: After = None,
) -> Response:
    """Pages that say nearly the same, the largest cluster first."""
    pages, cluster = paging.read(request, after, BY_SIZE)
    async with look(request) as conn:
        rows, last = await duplicates.page_of_clusters(
            conn, (pages, cluster), domain=domain, near=(distance, members), limit=limit
        )
    following = paging.write(request, dict(zip(BY_SIZE.columns, last, strict=True)), BY_SIZE) if last else None
    return reply({"items": rows, "next": following})


@router.get("/api/duplicates/of", response_model=models.SimilarPages, responses=responses(404))
async def duplicates_of(
    request: Request, _who: User, url: PageUrl, distance: Distance = 3, limit: Limit = 100
) -> Response:
    """Pages that say nearly what this one says."""
    async with look(request) as conn:
        with url_error_as_not_found():
            return reply(await duplicates.of_page(conn, url, distance_bits=distance, limit=limit))
