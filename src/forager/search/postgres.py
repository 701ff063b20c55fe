"""Search backend for PostgreSQL full text search. Read only; no query text makes it fail.

However many pages match a word, at most `MOST_RANKED` are ranked: the best by title and depth. Facets by language and
domain count only those, and the total is the planner's estimate.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from forager import clock
from forager.db import statements
from forager.db.types import Connection, Row
from forager.search import spelling
from forager.search.cursor import EVER, estimate_total, read_cursor, write_cursor
from forager.search.marked import maybe_marked, read_marked
from forager.search.models import Hit, HitPage, Marked, ProductQuery, Query
from forager.search.products import search_products
from forager.search.tsquery import LeafQuery, Spelling, date_marks, ranking_query, stages
from forager.search.words import Leaf, Wanted, parse

SQL = statements.load("forager.search")
MOST_RANKED = 1000
PHRASE_FACTOR = 5
"""Many candidates for a phrase have its words, but not in a row."""
MOST_FACETS = 10
LONGEST_S = 20


class Ranked(NamedTuple):
    page_id: int
    domain_id: int
    language: str | None
    score: int

    @property
    def place(self) -> tuple[int, int]:
        return -self.score, self.page_id


class PostgresSearch:
    """A backend using one connection inside a transaction, so that its results are consistent."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    async def search_pages(self, query: Query) -> HitPage:
        wanted, spellings, queries = await self.build_query(query)
        if not queries:
            return HitPage(is_empty_query=not wanted.groups or bool(spellings))
        found = await self._build_queries(query, wanted, spellings)
        ranked, looked_at = await self._rank(found, queries, query.since)
        total = len(ranked) if looked_at is None else estimate_total(await self._guess(found), len(ranked), looked_at)
        return await self._page(query, queries, ranked, total=total, looked_at=looked_at)

    async def search_products(self, query: ProductQuery) -> HitPage:
        wanted, spellings, queries = await self.build_query(query)
        if not queries:
            return HitPage(is_empty_query=not wanted.groups or bool(spellings))
        return await search_products(self._conn, query, wanted, spellings, queries)

    async def build_query(self, query: Query) -> tuple[Wanted, dict[str, Spelling], dict[str, str]]:
        """Returns the parsed query, its leaf queries per configuration, and the ranking query of each that has any
        of its words."""
        await self._conn.execute(SQL["keep_it_short"], f"{LONGEST_S}s")
        wanted = parse(query.words)
        spellings = await self._build_leaf_queries(wanted, query.language)
        queries = {config: ranking for config, each in spellings.items() if (ranking := ranking_query(wanted, each))}
        return wanted, spellings, queries

    async def mark(self, query: Query, texts: Mapping[int, str]) -> dict[int, Marked]:
        _, _, queries = await self.build_query(query)
        rows = await self._conn.fetch(
            SQL["excerpt"], list(texts), list(texts.values()), list(queries), list(queries.values())
        )
        marked = {row["id"]: read_marked(row["snippet"] or "") for row in rows}
        return {page: snippet for page, snippet in marked.items() if snippet.matches}

    async def correct(self, words: str) -> str | None:
        texts = [leaf.text for group in parse(words).groups for leaf in group]
        typed = list(spelling.words_of(*texts))
        known = {row["word"] for row in await self._conn.fetch(SQL["known_words"], typed)}
        corrections = [(word, other) for word in typed if word not in known and (other := await self._similar(word))]
        return spelling.replace(words, corrections) if corrections else None

    async def _similar(self, word: str) -> str | None:
        rows = await self._conn.fetch(SQL["near_words"], spelling.lookup_marks(word))
        return spelling.select_best(word, [(row["word"], row["seen"]) for row in rows])

    async def _build_leaf_queries(self, wanted: Wanted, language: str | None) -> dict[str, Spelling]:
        """Returns configuration → the query of each leaf in it."""
        leaves = wanted.terms
        rows = await self._conn.fetch(
            SQL["spell"], [leaf.text for leaf in leaves], language.lower() if language else None
        )
        spellings: dict[str, dict[Leaf, LeafQuery]] = {}
        for row in rows:
            spellings.setdefault(row["config"], {})[leaves[row["place"] - 1]] = LeafQuery(row["query"], row["lexemes"])
        return dict(spellings)

    async def _build_queries(self, query: Query, wanted: Wanted, spellings: Mapping[str, Spelling]) -> list[str]:
        domain_id = await self._conn.fetchval(SQL["find_domain"], query.domain) if query.domain else None
        if query.domain and domain_id is None:
            return []
        dates = date_marks(query.since.astimezone(UTC).date(), clock.now().date()) if query.since else None
        return stages(wanted, spellings, domain_id=domain_id, language=query.language, dates=dates)

    async def _rank(
        self, found: Sequence[str], queries: Mapping[str, str], since: datetime | None
    ) -> tuple[list[Ranked], int | None]:
        """Returns hits, best first, and the number of candidates checked if there may be more."""
        most = MOST_RANKED * PHRASE_FACTOR if any("<" in query for query in queries.values()) else MOST_RANKED
        rows = await self._conn.fetch(SQL["rank"], found, most, since or EVER, list(queries), list(queries.values()))
        ranked = [
            Ranked(row["id"], row["domain_id"], row["language"], row["score"]) for row in rows if row["id"] is not None
        ]
        candidates: int = rows[0]["candidates"]
        return ranked, candidates if candidates >= most else None

    async def _guess(self, found: Sequence[str]) -> int:
        """Returns the planner's estimate of the number of hits: counting half a million takes seconds."""
        plans = [await self._conn.fetchval("EXPLAIN (FORMAT JSON) " + SQL["matching"], stage) for stage in found]
        return sum(json.loads(plan)[0]["Plan"]["Plan Rows"] for plan in plans)

    async def _page(
        self, query: Query, queries: Mapping[str, str], ranked: Sequence[Ranked], *, total: int, looked_at: int | None
    ) -> HitPage:
        after = read_cursor(query.after)
        rest = [each for each in ranked if after is None or each.place > after]
        shown = rest[: query.limit]
        return HitPage(
            hits=await self.show([(each.page_id, each.score / 1e6) for each in shown], queries),
            total=total,
            is_estimate=looked_at is not None,
            looked_at=looked_at,
            facets={
                "language": dict(Counter(each.language or "unknown" for each in ranked).most_common(MOST_FACETS)),
                "domain": await self.name_domains(Counter(each.domain_id for each in ranked)),
            },
            next_after=write_cursor(shown[-1].score, shown[-1].page_id) if len(rest) > len(shown) else None,
        )

    async def show(self, shown: Sequence[tuple[int, float]], queries: Mapping[str, str]) -> list[Hit]:
        """Returns pages by id, each with its score; pages that no longer exist are left out."""
        rows = await self._conn.fetch(SQL["show"], [page for page, _ in shown], list(queries), list(queries.values()))
        by_id = {row["id"]: row for row in rows}
        return [_hit(by_id[page], score) for page, score in shown if page in by_id]

    async def name_domains(self, counts: Mapping[int, int]) -> dict[str, int]:
        """Returns the most frequent domains by name."""
        most = Counter(counts).most_common(MOST_FACETS)
        rows = await self._conn.fetch(SQL["name_domains"], [domain for domain, _ in most])
        names = {row["id"]: row["name"] for row in rows}
        return {names[domain]: count for domain, count in most if domain in names}


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
    )
