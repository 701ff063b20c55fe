"""Search backend for PostgreSQL full text search. Read only; no query text makes it fail.

However many pages match a word, at most `MOST_CANDIDATES` are looked at: the best by title and depth. Facets by
language and domain count only those, and the total is the planner's estimate. Only `MOST_RANKED` of them are ranked by
their keywords, which lie apart from the index; the others follow by depth.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from forager import clock
from forager.db import statements
from forager.db.types import Connection, Row
from forager.domains.lookup import canonical_name
from forager.search import spelling
from forager.search.cursor import EVER, NEVER, estimate_total, read_cursor, write_cursor
from forager.search.marked import maybe_marked, read_marked
from forager.search.models import Hit, HitPage, Marked, ProductQuery, Query
from forager.search.passages import select_passages
from forager.search.prepared import Prepared
from forager.search.products import search_products
from forager.search.tsquery import LeafQuery, Spelling, is_exact, ranking_query
from forager.search.words import Field, Leaf, Wanted, parse

SQL = statements.load("forager.search")
MOST_CANDIDATES = 1000
MOST_RANKED = 300
"""Reading the keywords of a page costs ten times what finding it does."""
FEW = 10_000
"""Up to this number of matches by the planner's estimate, finding them tier by tier takes longer than sorting them."""
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
        prepared = await self.prepare(query)
        if prepared.is_empty:
            return HitPage(is_empty_query=prepared.is_empty_query, problems=prepared.problems)
        guess, found = await self._build_stages(prepared, query)
        span = prepared.span(query)
        rows = await self._conn.fetch(SQL["candidates"], found, MOST_CANDIDATES, span.start or EVER, span.end or NEVER)
        candidates = sorted(rows, key=lambda row: (row["stage"], row["depth"]))
        ranked, looked_at = await self._rank(prepared, candidates)
        if len(candidates) < MOST_CANDIDATES and looked_at == len(candidates):
            return await self._page(query, prepared, ranked, total=len(ranked), looked_at=None)
        total = estimate_total(guess, len(ranked), looked_at)
        return await self._page(query, prepared, ranked, total=total, looked_at=looked_at)

    async def search_products(self, query: ProductQuery) -> HitPage:
        prepared = await self.prepare(query)
        if prepared.is_empty:
            return HitPage(is_empty_query=prepared.is_empty_query, problems=prepared.problems)
        return await search_products(self._conn, query, prepared)

    async def prepare(self, query: Query) -> Prepared:
        """Parses a query, and looks up its words and domains."""
        await self._conn.execute(SQL["keep_it_short"], f"{LONGEST_S}s")
        wanted = parse(query.words)
        spellings = await self._build_leaf_queries(wanted, query.language)
        queries = {config: ranking for config, each in spellings.items() if (ranking := ranking_query(wanted, each))}
        return Prepared(wanted, spellings, queries, await self._find_domains(wanted, query), clock.now())

    async def _find_domains(self, wanted: Wanted, query: Query) -> dict[str, int]:
        typed = [leaf.text for leaf in wanted.filters if leaf.field is Field.SITE]
        names = {text: (text, canonical_name(text)) for text in [*typed, *([query.domain] if query.domain else [])]}
        if not names:
            return {}
        rows = await self._conn.fetch(SQL["find_domains"], [name for both in names.values() for name in both])
        known = {row["name"]: row["id"] for row in rows}
        return {text: known[name] for text, both in names.items() for name in reversed(both) if name in known}

    async def mark(self, query: Query, texts: Mapping[int, str]) -> dict[int, Marked]:
        prepared = await self.prepare(query)
        passages = [select_passages(text, prepared.words) for text in texts.values()]
        queries = prepared.queries
        rows = await self._conn.fetch(SQL["excerpt"], list(texts), passages, list(queries), list(queries.values()))
        marked = {row["id"]: read_marked(row["snippet"] or "") for row in rows}
        return {page: snippet for page, snippet in marked.items() if snippet.matches}

    async def correct(self, words: str) -> str | None:
        texts = [leaf.text for group in parse(words).groups for leaf in group if leaf.is_text]
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

    async def _build_stages(self, prepared: Prepared, query: Query) -> tuple[int, list[str]]:
        """Returns the number of pages that match by the planner's estimate, because counting half a million takes
        seconds; and the queries by which they are found."""
        found = prepared.stages(query, is_tiered=False)
        plans = [await self._conn.fetchval("EXPLAIN (FORMAT JSON) " + SQL["matching"], stage) for stage in found]
        guess = sum(json.loads(plan)[0]["Plan"]["Plan Rows"] for plan in plans)
        return guess, found if guess <= FEW else prepared.stages(query, is_tiered=True)

    async def _rank(self, prepared: Prepared, candidates: Sequence[Row]) -> tuple[list[Ranked], int]:
        """Returns hits, best first, and the number of candidates checked. Where the index alone tells which pages
        match, the candidates that are not ranked are hits too."""
        is_certain = is_exact(prepared.wanted, prepared.spellings)
        checked = candidates[:MOST_RANKED] if is_certain else candidates
        rows = await self._conn.fetch(
            SQL["rank"],
            [row["id"] for row in checked],
            [row["config"] for row in checked],
            list(prepared.queries),
            list(prepared.queries.values()),
            MOST_RANKED,
        )
        scores = {row["place"] - 1: row["score"] for row in rows}
        hits = [_ranked(row, scores[place]) for place, row in enumerate(checked) if place in scores]
        others = [_ranked(row, 0) for row in candidates[MOST_RANKED:]] if is_certain else []
        is_ended = not is_certain and len(rows) == MOST_RANKED
        looked_at = max(scores) + 1 if is_ended else len(candidates)
        return sorted([*hits, *others], key=lambda hit: hit.place), looked_at

    async def _page(
        self, query: Query, prepared: Prepared, ranked: Sequence[Ranked], *, total: int, looked_at: int | None
    ) -> HitPage:
        after = read_cursor(query.after)
        rest = [each for each in ranked if after is None or each.place > after]
        shown = rest[: query.limit]
        return HitPage(
            hits=await self.show([(each.page_id, each.score / 1e6) for each in shown], prepared.queries),
            total=total,
            is_estimate=looked_at is not None,
            looked_at=looked_at,
            facets={
                "language": dict(Counter(each.language or "unknown" for each in ranked).most_common(MOST_FACETS)),
                "domain": await self.name_domains(Counter(each.domain_id for each in ranked)),
            },
            next_after=write_cursor(shown[-1].score, shown[-1].page_id) if len(rest) > len(shown) else None,
            problems=prepared.problems,
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


def _ranked(row: Row, score: int) -> Ranked:
    return Ranked(row["id"], row["domain_id"], row["language"], score)


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
        is_cut=row["is_cut"],
    )
