"""Translates a parsed query into the search server's query language. Pure.

Every leaf is searched in all words of a document; a match in the title or a heading ranks higher. Forms that differ by
language are each searched only in documents with their text search configuration.
"""

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from forager.search.models import ProductQuery, Query
from forager.search.stream import GAP, write_stream
from forager.search.words import Leaf, Wanted

TITLE_BOOST, HEADING_BOOST = 4.0, 2.0
MOST_FACETS = 10
UNKNOWN = "unknown"
MARK = "s"
"""First character of the search server's cursors; PostgreSQL's begin with a digit."""
Clause = dict[str, Any]


class LexemePositions(NamedTuple):
    """A leaf in one configuration: its lexemes in position order."""

    lexemes: Sequence[str]
    places: Sequence[int]


Placing = Mapping[Leaf, LexemePositions]


def match(wanted: Wanted, placings: Mapping[str, Placing]) -> Clause | None:
    """Returns None if no configuration has anything left to search for."""
    clauses = {config: _in_one(wanted, placing) for config, placing in placings.items()}
    if not any(clauses.values()):
        return None
    configs: dict[str, list[str]] = {}
    for config, clause in clauses.items():
        configs.setdefault(json.dumps(clause, sort_keys=True), []).append(config)
    if len(configs) == 1:
        return next(iter(clauses.values()))
    parts = [
        {"bool": {"must": [clause], "filter": [{"terms": {"config": names}}]}}
        for text, names in configs.items()
        if (clause := json.loads(text)) is not None
    ]
    return {"bool": {"should": parts, "minimum_should_match": 1}}


def _in_one(wanted: Wanted, placing: Placing) -> Clause | None:
    groups = [_any_of(filter(None, (_leaf(placing[leaf]) for leaf in group))) for group in wanted.groups]
    if not (wanting := [group for group in groups if group]):
        return None
    without = [clause for leaf in wanted.unwanted if (clause := _on("words", placing[leaf]))]
    return {"bool": {"must": wanting, **({"must_not": without} if without else {})}}


def _any_of(clauses: Iterable[Clause]) -> Clause | None:
    each = list(clauses)
    if len(each) < 2:
        return each[0] if each else None
    return {"bool": {"should": each, "minimum_should_match": 1}}


def _leaf(placed: LexemePositions) -> Clause | None:
    found = _on("words", placed)
    if found is None:
        return None
    better = [_all_of("title_words", placed, TITLE_BOOST), _all_of("heading_words", placed, HEADING_BOOST)]
    return {"bool": {"must": [found], "should": better}}


def _on(field: str, placed: LexemePositions) -> Clause | None:
    """Matches one lexeme, or a phrase with its gaps."""
    if not placed.lexemes:
        return None
    if len(placed.lexemes) == 1:
        return {"term": {field: {"value": placed.lexemes[0]}}}
    return {"match_phrase": {field: {"query": write_stream(placed.lexemes, placed.places)}}}


def _all_of(field: str, placed: LexemePositions, boost: float) -> Clause:
    """Matches all lexemes in any order: these fields hold each lexeme once, without meaningful positions."""
    text = " ".join(lexeme for lexeme in placed.lexemes if lexeme != GAP)
    return {"match": {field: {"query": text, "operator": "and", "boost": boost}}}


# What a search is narrowed to, and what is counted -------------------------------------------------------------------


def page_filters(query: Query, domain_id: int | None) -> list[Clause]:
    return [*_common_filters(query, domain_id), *_since("read_at", query.since)]


def product_filters(query: ProductQuery, domain_id: int | None, folded: Mapping[str, str | None]) -> list[Clause]:
    prices = {"gte": query.lowest_price, "lte": query.highest_price}
    bounds = {side: bound for side, bound in prices.items() if bound is not None}
    return [
        *_common_filters(query, domain_id),
        *_since("updated_at", query.since),
        *({"term": {f"{fact}_folded": {"value": value}}} for fact, value in folded.items() if value),
        *([{"range": {"price": bounds}}] if bounds else []),
    ]


def _common_filters(query: Query, domain_id: int | None) -> list[Clause]:
    return [
        *([{"term": {"domain_id": {"value": domain_id}}}] if domain_id is not None else []),
        *([{"term": {"languages": {"value": query.language.lower()}}}] if query.language else []),
    ]


def _since(field: str, since: datetime | None) -> list[Clause]:
    return [{"range": {field: {"gte": since.isoformat()}}}] if since else []


PAGE_FACETS: Clause = {
    "language": {"terms": {"field": "language", "size": MOST_FACETS, "missing": UNKNOWN}},
    "domain": {"terms": {"field": "domain_id", "size": MOST_FACETS}},
}
PRODUCT_FACETS: Clause = {
    name: {"terms": {"field": field, "size": MOST_FACETS}}
    for name, field in {
        "brand": "brand",
        "category": "category",
        "availability": "availability",
        "price": "price_range",
    }.items()
}


def page_body(matching: Clause, filters: Sequence[Clause]) -> Clause:
    """Multiplies the score by the depth weight stored in the document, because scripts may be disabled."""
    query = {
        "function_score": {
            "query": _within(matching, filters),
            "field_value_factor": {"field": "weight", "missing": 1},
            "boost_mode": "multiply",
        }
    }
    return {"query": query, "aggs": PAGE_FACETS, **_order("page_id")}


def product_body(matching: Clause, filters: Sequence[Clause]) -> Clause:
    return {"query": _within(matching, filters), "aggs": PRODUCT_FACETS, **_order("product_id")}


def _within(matching: Clause, filters: Sequence[Clause]) -> Clause:
    return {"bool": {"must": [matching], "filter": list(filters)}}


def _order(number: str) -> Clause:
    return {"sort": [{"_score": "desc"}, {number: "asc"}], "track_total_hits": True, "_source": False}


# Where one page of hits ends -----------------------------------------------------------------------------------------


def format_cursor(score: float, number: int) -> str:
    """Encodes the score exactly, as a 32-bit float; equal scores are ordered by id."""
    (bits,) = struct.unpack(">I", struct.pack(">f", score))
    return f"{MARK}{bits}-{number}"


def is_search_cursor(text: str | None) -> bool:
    return parse_cursor(text) is not None


def parse_cursor(text: str | None) -> tuple[float, int] | None:
    bits, dash, number = (text or "").removeprefix(MARK).partition("-")
    parts = (bits, number)
    if not (text or "").startswith(MARK) or not dash or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    if int(bits) >= 0x7F800000 or int(number) >= 1 << 63:  # not a finite score, or not one of our ids
        return None
    (score,) = struct.unpack(">f", struct.pack(">I", int(bits)))
    return score, int(number)
