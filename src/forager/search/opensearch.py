"""Search backend for a search server, OpenSearch or Elasticsearch, which finds, ranks and counts. Read only.

PostgreSQL stems the words and renders the hits by the ids the server found. So both backends treat words alike and
return the same shape, and deleted pages are never shown, whatever the server still has.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from forager.db import statements
from forager.db.types import Connection
from forager.search.models import Hit, HitPage, Marked, ProductQuery, Query
from forager.search.names import Names
from forager.search.postgres import SQL as POSTGRES
from forager.search.postgres import PostgresSearch
from forager.search.prepared import Prepared
from forager.search.products import show_products
from forager.search.server import SearchServer
from forager.search.server_query import (
    Clause,
    LexemePositions,
    Placing,
    filter_clauses,
    format_cursor,
    match,
    page_body,
    page_filters,
    parse_cursor,
    product_body,
    product_filters,
)
from forager.search.words import Leaf

SQL = statements.load("forager.search", "outbox.sql")
MOST_ROUNDS = 3
"""Requests per page of hits, needed when some of the hits found no longer exist."""
FOLDED = ("brand", "category", "availability", "currency")
EMPTY_PAGES = HitPage(facets={"language": {}, "domain": {}})
EMPTY_PRODUCTS = HitPage(facets={"brand": {}, "category": {}, "availability": {}, "price": {}})


def _domain(prepared: Prepared, query: Query) -> tuple[int | None, bool]:
    """Returns the domain's id, and whether there can be any hit."""
    domain_id = prepared.domains.get(query.domain) if query.domain else None
    return domain_id, query.domain is None or domain_id is not None


class SortKey(NamedTuple):
    score: float
    number: int


class Found(NamedTuple):
    places: list[SortKey]
    total: int
    counts: Mapping[str, Mapping[Any, int]]


class ServerSearch:
    """A backend using one connection, inside a transaction, and one search server."""

    def __init__(self, conn: Connection, server: SearchServer, names: Names) -> None:
        self._conn = conn
        self._server = server
        self._names = names
        self._postgres = PostgresSearch(conn)

    async def search_pages(self, query: Query) -> HitPage:
        prepared = await self._postgres.prepare(query)
        if prepared.is_empty:
            return HitPage(is_empty_query=prepared.is_empty_query, problems=prepared.problems)
        matching = await self._match(prepared, query)
        domain_id, is_known = _domain(prepared, query)
        if matching is None or not is_known:
            return replace(EMPTY_PAGES, problems=prepared.problems)
        body = page_body(matching, page_filters(query, domain_id))

        async def show(places: Sequence[SortKey]) -> list[Hit]:
            rows = await self._conn.fetch(SQL["still_pages"], [place.number for place in places])
            still = {row["id"] for row in rows}
            shown = [(place.number, place.score) for place in places if place.number in still]
            return await self._postgres.show(shown, prepared.queries)

        page, counts = await self._page("page", query, body, show)
        facets = {"language": counts["language"], "domain": await self._postgres.name_domains(counts["domain"])}
        return replace(page, facets=facets, problems=prepared.problems)

    async def search_products(self, query: ProductQuery) -> HitPage:
        prepared = await self._postgres.prepare(query)
        if prepared.is_empty:
            return HitPage(is_empty_query=prepared.is_empty_query, problems=prepared.problems)
        matching = await self._match(prepared, query)
        domain_id, is_known = _domain(prepared, query)
        if matching is None or not is_known:
            return replace(EMPTY_PRODUCTS, problems=prepared.problems)
        body = product_body(matching, product_filters(query, domain_id, await self._fold(query)))

        async def show(places: Sequence[SortKey]) -> list[Hit]:
            shown = [(place.number, place.score) for place in places]
            return await show_products(self._conn, shown, prepared.queries)

        page, counts = await self._page("product", query, body, show)
        return replace(page, facets=counts, problems=prepared.problems)

    async def mark(self, query: Query, texts: Mapping[int, str]) -> dict[int, Marked]:
        return await self._postgres.mark(query, texts)

    async def correct(self, words: str) -> str | None:
        return await self._postgres.correct(words)

    async def _match(self, prepared: Prepared, query: Query) -> Clause | None:
        leaves = prepared.wanted.terms
        rows = await self._conn.fetch(
            SQL["spell_places"],
            [leaf.text for leaf in leaves],
            query.language.lower() if query.language else None,
        )
        placings: dict[str, dict[Leaf, LexemePositions]] = {}
        for row in rows:
            placings.setdefault(row["config"], {})[leaves[row["leaf"] - 1]] = LexemePositions(
                row["lexemes"], row["places"]
            )
        known: dict[str, Placing] = dict(placings)
        time_field = "updated_at" if isinstance(query, ProductQuery) else "read_at"
        filters = filter_clauses(prepared.wanted, prepared.domains, prepared.now, time_field)
        return match(prepared.wanted, known, filters)

    async def _fold(self, query: ProductQuery) -> dict[str, str | None]:
        texts = [getattr(query, fact) for fact in FOLDED]
        rows = await self._conn.fetch(POSTGRES["fold"], [text.replace("\0", "") if text else None for text in texts])
        return {fact: row[0] for fact, row in zip(FOLDED, rows, strict=True)}

    async def _page(
        self, kind: str, query: Query, body: Clause, show: Any
    ) -> tuple[HitPage, Mapping[str, Mapping[Any, int]]]:
        """Returns as many hits as requested, although some found may be deleted: the server is updated later."""
        after = parse_cursor(query.after)
        first: Found | None = None
        hits: list[Hit] = []
        missing = 0
        has_more, last = True, None
        for _ in range(MOST_ROUNDS):
            want = query.limit - len(hits)
            found = await self._query(kind, body, want + 1, after)
            first = first or found
            places = found.places[:want]
            shown = await show(places) if places else []
            hits += shown
            missing += len(places) - len(shown)
            has_more = len(found.places) > len(places)
            after = last = places[-1] if places else last
            if len(hits) >= query.limit or not has_more:
                break
        assert first is not None
        next_after = format_cursor(*last) if has_more and last is not None else None
        return HitPage(hits, max(first.total - missing, len(hits)), next_after=next_after), first.counts

    async def _query(self, kind: str, body: Clause, size: int, after: tuple[float, int] | None) -> Found:
        asked = {**body, "size": size, **({"search_after": list(after)} if after is not None else {})}
        # All pages of one search go to the same shard copies: scores of different copies differ in the last digits.
        same = hashlib.sha256(repr(body["query"]).encode()).hexdigest()[:16]
        answer = await self._server.ask(
            "POST",
            f"/{self._names.searched(kind)}/_search",
            asked,
            params={"preference": same, "allow_partial_search_results": "false"},
        )
        with self._server.catch_bad_response():
            places = [SortKey(float(hit["sort"][0]), int(hit["sort"][1])) for hit in answer["hits"]["hits"]]
            counts = {
                name: {bucket["key"]: int(bucket["doc_count"]) for bucket in facet["buckets"]}
                for name, facet in answer["aggregations"].items()
            }
            return Found(places, int(answer["hits"]["total"]["value"]), counts)
