"""Stores the products of a batch of visits. Opens no transactions: the caller does, under its leases.

Recording the same visit twice, or an older one later, changes no price: only a newer visit with another price does.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import islice

from forager.db import statements
from forager.db.query import BulkQuery
from forager.db.types import Connection
from forager.frontier.models import Outcome, OutcomeKind
from forager.products.models import Product, pack_evidence, pack_variant
from forager.products.rows import ProductColumns
from forager.urls.domain import domain_of
from forager.urls.normalize import url_key

SQL = statements.load("forager.products")
ADD_PRODUCTS = BulkQuery(SQL["add_products"], ProductColumns, int)
SEE_PRODUCTS = BulkQuery(SQL["see_products"], ProductColumns, int)
NOT_MODIFIED = 304
LONGEST_TEXT = 255
MOST_ATTRIBUTES = 100
HIGHEST = Decimal(10) ** 15
"""Prices from this value on are discarded."""


@dataclass(frozen=True, slots=True)
class ProductVisit:
    """The product that one visit saw on one page; None: no product."""

    domain_id: int
    page_id: int
    task_id: int
    url: str
    product: Product | None
    seen_at: datetime | None = None
    """When the page was visited; None: the time of this transaction, on the database's clock."""
    is_revisit: bool = False
    is_unchanged: bool = False
    """The server reported the page as not modified and sent no body."""
    is_listed: bool = False
    """The product comes from a listing, not from its own page; `task_id` is the visit to the listing."""


def get_product_visits(outcomes: Iterable[Outcome]) -> list[ProductVisit]:
    """Returns visits that saw a product, or might have missed one."""
    return [
        ProductVisit(
            outcome.target.domain_id,
            outcome.target.page_id,
            outcome.target.task_id,
            outcome.target.url,
            outcome.reading.product if outcome.reading else None,
            is_revisit=outcome.target.past is not None,
            is_unchanged=outcome.reading is None,
        )
        for outcome in outcomes
        if outcome.kind is OutcomeKind.SUCCESS
        and (outcome.target.past is not None or (outcome.reading is not None and outcome.reading.product is not None))
        and (outcome.reading is not None or outcome.status_code == NOT_MODIFIED)
    ]


def listed_of(outcomes: Iterable[Outcome], page_ids: Mapping[bytes, int]) -> list[ProductVisit]:
    """Returns listed products whose pages are known and belong to the same domain; `page_ids` is keyed by URL hash."""
    found: list[ProductVisit] = []
    for outcome in outcomes:
        if outcome.reading is None or not outcome.reading.listed:
            continue
        target = outcome.target
        domain = domain_of(target.url)
        ours = {link.key for link in outcome.selection.links if link.domain == domain}
        for listed in outcome.reading.listed:
            key = url_key(listed.url)
            page_id = page_ids.get(key) if key in ours else None
            if page_id is not None and page_id != target.page_id:
                found.append(
                    ProductVisit(target.domain_id, page_id, target.task_id, listed.url, listed.product, is_listed=True)
                )
    return found


async def store(conn: Connection, sights: Sequence[ProductVisit]) -> int:
    """Stores facts, prices and parser counters. Returns how many prices changed; costs nothing without products."""
    named = sorted((sight for sight in sights if sight.product and sight.product.name), key=lambda s: not s.is_listed)
    sold = {(sight.domain_id, sight.page_id): sight for sight in named}
    changed = await _keep(conn, list(sold.values())) if sold else 0
    unchanged = [sight for sight in sights if sight.is_unchanged]
    if unchanged:
        keys = zip(*((sight.domain_id, sight.page_id, sight.task_id) for sight in unchanged), strict=True)
        await conn.execute(SQL["see_unchanged"], *map(list, keys))
    await _count(conn, sights)
    return changed


async def _keep(conn: Connection, sights: list[ProductVisit]) -> int:
    added = set(await ADD_PRODUCTS.fetch(conn, _columns(sights)))
    again = [sight for sight in sights if sight.page_id not in added]
    return len(await SEE_PRODUCTS.fetch(conn, _columns(again))) if again else 0


def _columns(sights: Sequence[ProductVisit]) -> ProductColumns:
    sold = [(sight, sight.product) for sight in sights if sight.product is not None]
    return ProductColumns(
        domain_id=[sight.domain_id for sight, _ in sold],
        page_id=[sight.page_id for sight, _ in sold],
        task_id=[sight.task_id for sight, _ in sold],
        seen_at=[sight.seen_at for sight, _ in sold],
        url=[sight.url for sight, _ in sold],
        url_hash=[url_key(sight.url) for sight, _ in sold],
        name=[product.name for _, product in sold],
        description=[product.description for _, product in sold],
        price=[product.price for _, product in sold],
        currency=[product.currency for _, product in sold],
        availability=[product.availability for _, product in sold],
        rating=[product.rating for _, product in sold],
        review_count=[product.review_count for _, product in sold],
        brand=[product.brand for _, product in sold],
        category=[product.category for _, product in sold],
        sku=[product.sku for _, product in sold],
        gtin=[product.gtin for _, product in sold],
        image_urls=[json.dumps(product.image_urls) for _, product in sold],
        variants=[json.dumps([pack_variant(variant) for variant in product.variants]) for _, product in sold],
        content_hash=[product.content_hash for _, product in sold],
        parser_name=[product.parser_name for _, product in sold],
        parser_version=[product.parser_version for _, product in sold],
        confidence=[product.confidence for _, product in sold],
        evidence=[json.dumps(pack_evidence(product.evidence)) for _, product in sold],
        problems=[json.dumps(product.problems) for _, product in sold],
        is_valid=[product.is_valid for _, product in sold],
        is_listed=[sight.is_listed for sight, _ in sold],
        mpn=[_truncate(product.mpn) for _, product in sold],
        regular_price=[_clamp_price(product.regular_price) for _, product in sold],
        unit_price=[_clamp_price(product.unit_price) for _, product in sold],
        unit=[_truncate(product.unit) for _, product in sold],
        seller=[_truncate(product.seller) for _, product in sold],
        condition=[product.condition for _, product in sold],
        shipping=[_clamp_price(product.shipping) for _, product in sold],
        attributes=[json.dumps(_attributes(product)) if product.attributes else None for _, product in sold],
    )


def _attributes(product: Product) -> dict[str, str]:
    found = islice(product.attributes.items(), MOST_ATTRIBUTES)
    return {name[:LONGEST_TEXT]: value[:LONGEST_TEXT] for name, value in found}


def _truncate(text: str | None) -> str | None:
    return text if text is None else text[:LONGEST_TEXT]


def _clamp_price(value: Decimal | None) -> Decimal | None:
    """Drops values the column cannot hold: one absurd price must not fail a batch."""
    return value if value is not None and value.is_finite() and 0 <= value < HIGHEST else None


async def _count(conn: Connection, sights: Sequence[ProductVisit]) -> None:
    """Counts attempts by parser. A page that gave a product before and gives none now counts as a failed attempt."""
    tally: dict[tuple[int, str, int], list[int]] = {}
    for sight in sights:
        if (product := sight.product) is not None and not sight.is_listed:
            counts = tally.setdefault((sight.domain_id, product.parser_name, product.parser_version), [0, 0, 0])
            counts[0] += 1
            counts[1] += product.name is not None
            counts[2] += product.is_valid
    empty = [sight for sight in sights if sight.product is None and sight.is_revisit and not sight.is_unchanged]
    if empty:
        keys = zip(*((sight.domain_id, sight.page_id, sight.seen_at) for sight in empty), strict=True)
        for row in await conn.fetch(SQL["lose_products"], *map(list, keys)):
            tally.setdefault((row["domain_id"], row["parser_name"], row["parser_version"]), [0, 0, 0])[0] += 1
    if tally:
        parsers, counted = list(tally), list(tally.values())
        await conn.execute(
            SQL["count_days"],
            *([key[at] for key in parsers] for at in range(3)),
            *([counts[at] for counts in counted] for at in range(3)),
        )


async def move_duplicates(conn: Connection, domains: Sequence[int]) -> None:
    """Moves products of pages that will be removed to their duplicates that stay. Call it before moving pages."""
    await conn.execute(SQL["move_to_twins"], domains)


async def merge_domains(conn: Connection, elder: int, others: Sequence[int]) -> None:
    """Moves products, prices and daily counters to the oldest of these domains. Call it after moving their pages."""
    for statement in ("move_products", "move_prices", "move_product_days"):
        await conn.execute(SQL[statement], elder, others)
