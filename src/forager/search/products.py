"""Product search by name, brand, category and description, with facets. Read only; part of the PostgreSQL backend.

At most `MOST_RANKED` matching products are ranked and counted, those with the words in their names first. Prices are
counted in ranges, by currency.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from forager.db import statements
from forager.db.types import Connection, Row
from forager.search.cursor import EVER, NEVER, estimate_total, read_cursor, write_cursor
from forager.search.marked import maybe_marked
from forager.search.models import Hit, HitPage, ProductQuery
from forager.search.prepared import Prepared
from forager.search.tsquery import PRICE_STEPS, price_marks, quote

SQL = statements.load("forager.search")
MOST_RANKED = 2000
MOST_FACETS = 10
FACETS = ("brand", "category", "availability")
FACTS = (
    *("brand", "category", "availability", "price", "currency", "is_price_current", "price_seen_at"),
    *("rating", "review_count", "image_id"),
)


async def search_products(conn: Connection, query: ProductQuery, prepared: Prepared) -> HitPage:
    found = prepared.stages(query, await _filters(conn, query), is_tiered=False)
    queries, span = prepared.queries, prepared.span(query)
    answered = await conn.fetch(
        SQL["rank_products"],
        found,
        MOST_RANKED,
        list(queries),
        list(queries.values()),
        query.lowest_price,
        query.highest_price,
        span.start or EVER,
        span.end or NEVER,
    )
    rows, looked_at = [row for row in answered if row["id"] is not None], answered[0]["candidates"]
    is_bounded = looked_at >= MOST_RANKED
    after = read_cursor(query.after)
    rest = [row for row in rows if after is None or (-row["score"], row["id"]) > after]
    shown = rest[: query.limit]
    return HitPage(
        hits=await show_products(conn, [(row["id"], row["score"] / 1e6) for row in shown], queries),
        total=estimate_total(await _guess(conn, found), len(rows), looked_at) if is_bounded else len(rows),
        is_estimate=is_bounded,
        looked_at=looked_at if is_bounded else None,
        facets=count_facets(rows),
        problems=prepared.problems,
        next_after=write_cursor(shown[-1]["score"], shown[-1]["id"]) if len(rest) > len(shown) else None,
    )


async def _filters(conn: Connection, query: ProductQuery) -> list[str]:
    """Returns the filters that only products have, on the terms of every hit."""
    texts = [query.brand, query.category, query.availability, query.currency]
    rows = await conn.fetch(SQL["fold"], [text.replace("\0", "") if text else None for text in texts])
    marks = [quote(f"={kind}{row[0]}") for kind, row in zip("bkvu", rows, strict=True) if row[0]]
    return [*marks, *filter(None, [price_marks(query.lowest_price, query.highest_price)])]


async def _guess(conn: Connection, found: Sequence[str]) -> int:
    plans = [await conn.fetchval("EXPLAIN (FORMAT JSON) " + SQL["matching_products"], stage) for stage in found]
    return sum(json.loads(plan)[0]["Plan"]["Plan Rows"] for plan in plans)


async def show_products(conn: Connection, shown: Sequence[tuple[int, float]], queries: Mapping[str, str]) -> list[Hit]:
    """Returns products by id, each with its score; products that no longer exist are left out."""
    rows = await conn.fetch(
        SQL["show_products"], [product for product, _ in shown], list(queries), list(queries.values())
    )
    by_id = {row["id"]: row for row in rows}
    return [_hit(by_id[product], score) for product, score in shown if product in by_id]


def _hit(row: Row, score: float) -> Hit:
    return Hit(
        id=row["id"],
        url=row["url"],
        domain=row["domain"],
        title=maybe_marked(row["title"]),
        snippet=maybe_marked(row["snippet"]),
        language=row["language"],
        fetched_at=row["fetched_at"],
        score=score,
        details={fact: row[fact] for fact in FACTS},
    )


def count_facets(rows: Sequence[Row]) -> dict[str, dict[str, int]]:
    counts = {facet: Counter(row[facet] for row in rows if row[facet]) for facet in FACETS}
    prices = Counter(
        price_range(row["price"], row["currency"]) for row in rows if row["price"] is not None and row["currency"]
    )
    return {facet: dict(count.most_common(MOST_FACETS)) for facet, count in {**counts, "price": prices}.items()}


def price_range(price: float, currency: str) -> str:
    """Returns a label such as `10–25 EUR`."""
    for low, high in zip((0, *PRICE_STEPS), PRICE_STEPS, strict=False):
        if price < high:
            return f"{low:,}–{high:,} {currency}"
    return f"{PRICE_STEPS[-1]:,} and more {currency}"
