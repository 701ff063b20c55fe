"""Search over products: by name, brand, category and description, with facets. Reads only; a part of the backend.

At most `MOST_RANKED` products that have the words are ranked and counted; prices are counted in ranges, by currency.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from forager.db import statements
from forager.records.search import Hit, HitPage, ProductQuery
from forager.search.marked import maybe_marked
from forager.search.place import EVER, read_cursor, write_cursor
from forager.search.tsquery import Spelling, product_query
from forager.search.words import Wanted

SQL = statements.load("forager.search")
MOST_RANKED = 2000
MOST_FACETS = 10
FACETS = ("brand", "category", "availability")
FACTS = ("brand", "category", "availability", "price", "currency", "rating", "review_count")
STEPS = (10, 25, 50, 100, 250, 500, 1000, 2500, 10_000)
"""Where one range of prices ends and the next begins."""


async def search_products(
    conn: Any, query: ProductQuery, wanted: Wanted, spellings: Mapping[str, Spelling], queries: Mapping[str, str]
) -> HitPage:
    marks = await _marks(conn, query)
    found = product_query(wanted, spellings, marks) if marks is not None else None
    if found is None:
        return HitPage()
    rows = await conn.fetch(
        SQL["rank_products"],
        found,
        MOST_RANKED,
        list(queries),
        list(queries.values()),
        query.lowest_price,
        query.highest_price,
        query.since or EVER,
    )
    is_bounded = bool(rows) and rows[0]["candidates"] >= MOST_RANKED
    after = read_cursor(query.after)
    rest = [row for row in rows if after is None or (-row["score"], row["id"]) > after]
    shown = rest[: query.limit]
    return HitPage(
        hits=await _show(conn, shown, queries),
        total=max(await _guess(conn, found), len(rows)) if is_bounded else len(rows),
        is_estimate=is_bounded,
        facets=count_facets(rows),
        next_after=write_cursor(shown[-1]["score"], shown[-1]["id"]) if len(rest) > len(shown) else None,
    )


async def _marks(conn: Any, query: ProductQuery) -> list[str] | None:
    """What the terms of every hit have; None where there can be no hit."""
    texts = [query.language, query.brand, query.category, query.availability, query.currency]
    rows = await conn.fetch(SQL["fold"], [text.replace("\0", "") if text else None for text in texts])
    marks = [f"={kind}{row[0]}" for kind, row in zip("lbkvu", rows, strict=True) if row[0]]
    if query.domain is None:
        return marks
    domain_id = await conn.fetchval(SQL["find_domain"], query.domain)
    return None if domain_id is None else [*marks, f"=d{domain_id}"]


async def _guess(conn: Any, found: str) -> int:
    plan = json.loads(await conn.fetchval("EXPLAIN (FORMAT JSON) " + SQL["matching_products"], found))
    rows: int = plan[0]["Plan"]["Plan Rows"]
    return rows


async def _show(conn: Any, shown: Sequence[Any], queries: Mapping[str, str]) -> list[Hit]:
    rows = await conn.fetch(SQL["show_products"], [row["id"] for row in shown], list(queries), list(queries.values()))
    by_id = {row["id"]: row for row in rows}
    return [_hit(by_id[row["id"]], row["score"]) for row in shown if row["id"] in by_id]


def _hit(row: Any, score: int) -> Hit:
    return Hit(
        id=row["id"],
        url=row["url"],
        domain=row["domain"],
        title=maybe_marked(row["title"]),
        snippet=maybe_marked(row["snippet"]),
        language=row["language"],
        fetched_at=row["fetched_at"],
        score=score / 1e6,
        details={fact: row[fact] for fact in FACTS},
    )


def count_facets(rows: Sequence[Any]) -> dict[str, dict[str, int]]:
    counts = {facet: Counter(row[facet] for row in rows if row[facet]) for facet in FACETS}
    prices = Counter(
        price_range(row["price"], row["currency"]) for row in rows if row["price"] is not None and row["currency"]
    )
    return {facet: dict(count.most_common(MOST_FACETS)) for facet, count in {**counts, "price": prices}.items()}


def price_range(price: float, currency: str) -> str:
    """`10–25 EUR`."""
    for low, high in zip((0, *STEPS), STEPS, strict=False):
        if price < high:
            return f"{low:,}–{high:,} {currency}"
    return f"{STEPS[-1]:,} and more {currency}"
