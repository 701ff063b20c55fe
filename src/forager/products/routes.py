"""Products: facts, evidence, price history, changes, and parser success rates."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from forager.api import paging
from forager.api.access import User
from forager.api.database import look
from forager.api.errors import responses
from forager.api.paging import Listed, Paged
from forager.api.reply import listed, reply
from forager.api.types import After, Limit, Moment, Name, PathId, Text
from forager.pages import schemas as hit_models
from forager.products import queries as control
from forager.products import queries as product_queries
from forager.products import schemas as models
from forager.search.models import ProductQuery
from forager.search.routes import Language, Words, search_response

router = APIRouter(tags=["products"])
BY_CREATED = paging.Order(("created_at", "id"), ("time", "int"))
DomainFilter = Annotated[Name | None, Query()]
Word = Annotated[Text | None, Query(max_length=255)]
Currency = Annotated[str | None, Query(pattern="^[A-Z]{3}$", examples=["EUR"])]
Amount = Annotated[float | None, Query(ge=0, lt=1e15, allow_inf_nan=False)]


@router.get("/api/products", response_model=Paged[models.ProductRow], responses=responses(404))
async def list_products(
    request: Request,
    _who: User,
    *,
    domain: DomainFilter = None,
    availability: Word = None,
    brand: Word = None,
    category: Word = None,
    currency: Currency = None,
    min_price: Amount = None,
    max_price: Amount = None,
    is_valid: Annotated[bool | None, Query(description="False: only those with a serious problem.")] = None,
    limit: Limit = 20,
    after: After = None,
) -> Response:
    """Products, those found last first."""
    async with look(request) as conn:
        rows = await product_queries.list_products(
            conn,
            paging.read(request, after, BY_CREATED),
            domain=domain,
            availability=availability,
            brand=brand,
            category=category,
            currency=currency,
            lowest=min_price,
            highest=max_price,
            is_valid=is_valid,
            limit=limit + 1,
        )
    return paging.page(request, rows, limit, BY_CREATED)


@router.get("/api/products/search", response_model=hit_models.Hits, responses=responses(404, 409))
async def search_products(
    request: Request,
    _who: User,
    *,
    q: Words,
    language: Language = None,
    domain: DomainFilter = None,
    brand: Word = None,
    category: Word = None,
    availability: Word = None,
    currency: Currency = None,
    min_price: Amount = None,
    max_price: Amount = None,
    limit: Limit = 20,
    after: After = None,
) -> Response:
    """Products by what they say."""
    query = ProductQuery(
        q,
        language=language,
        domain=domain,
        limit=limit,
        after=after,
        brand=brand,
        category=category,
        availability=availability,
        currency=currency,
        lowest_price=min_price,
        highest_price=max_price,
    )
    return await search_response(request, query)


@router.get("/api/products/changes", response_model=Paged[models.PriceChange], responses=responses(404))
async def list_changes(
    request: Request,
    _who: User,
    *,
    domain: DomainFilter = None,
    of: Annotated[Literal["price", "availability"] | None, Query()] = None,
    since: Annotated[Moment | None, Query()] = None,
    limit: Limit = 100,
    after: After = None,
) -> Response:
    """What changed in shops, newest first."""
    async with look(request) as conn:
        rows = await product_queries.list_changes(
            conn, paging.read(request, after, paging.BY_ID), domain=domain, of=of, since=since, limit=limit + 1
        )
    return paging.page(request, rows, limit)


@router.get("/api/products/parsers", response_model=Listed[models.ParserRate], responses=responses(404))
async def list_parsers(request: Request, _who: User, domain: DomainFilter = None, limit: Limit = 100) -> Response:
    """How well parsers do, the largest drop first."""
    async with look(request) as conn:
        return listed(await control.list_parsers(conn, domain=domain, limit=limit))


@router.get("/api/products/parsers/dropped", response_model=Listed[models.ParserRate], responses=responses(404))
async def list_dropped_parsers(
    request: Request, _who: User, domain: DomainFilter = None, limit: Limit = 20
) -> Response:
    """Parsers that read less yesterday and today than in the week before, the largest drop first."""
    async with look(request) as conn:
        return listed(await control.list_dropped(conn, domain=domain, limit=limit))


@router.get("/api/products/{product:int}", response_model=models.Product, responses=responses(404))
async def show_product(request: Request, _who: User, product: PathId) -> Response:
    """One product, with what its page said and where."""
    async with look(request) as conn:
        return reply(await control.find_product(conn, str(product)))


@router.get("/api/products/{product:int}/prices", response_model=models.Prices, responses=responses(404))
async def list_prices(request: Request, _who: User, product: PathId) -> Response:
    """Its prices from the oldest on."""
    async with look(request) as conn:
        found, prices = await control.list_prices(conn, str(product))
    return reply({"product": found, "prices": prices})
