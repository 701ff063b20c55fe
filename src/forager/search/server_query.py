"""Translates a parsed query into the search server's query language. Pure.

Every leaf is searched in all words of a document; a match in the title or a heading ranks higher. Forms that differ by
language are each searched only in documents with their text search configuration.
"""

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from forager.search.dates import Span, read_span
from forager.search.models import ProductQuery, Query
from forager.search.stream import GAP, write_stream
from forager.search.url_words import url_parts, wanted_words
from forager.search.words import Field, Leaf, Wanted

TITLE_BOOST, HEADING_BOOST = 4.0, 2.0
MOST_FACETS = 10
UNKNOWN = "unknown"
MARK = "s"
"""First character of the search server's cursors; PostgreSQL's begin with a digit."""
NO_DOMAIN = -1
Clause = dict[str, Any]


class LexemePositions(NamedTuple):
    """A leaf in one configuration: its lexemes in position order."""

    lexemes: Sequence[str]
    places: Sequence[int]


Placing = Mapping[Leaf, LexemePositions]
Filters = Mapping[Leaf, Clause]


def match(wanted: Wanted, placings: Mapping[str, Placing], filters: Filters | None = None) -> Clause | None:
    """Returns None if no configuration has anything left to search for."""
    filters = filters or {}
    if not wanted.terms:
        return _in_one(wanted, {}, filters)
    clauses = {config: _in_one(wanted, placing, filters) for config, placing in placings.items()}
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


def _in_one(wanted: Wanted, placing: Placing, filters: Filters) -> Clause | None:
    groups = [
        _any_of(filter(None, (_leaf(leaf, placing[leaf]) if leaf.is_text else filters[leaf] for leaf in group)))
        for group in wanted.groups
    ]
    if not (wanting := [group for group in groups if group]):
        return None
    unwanted = (_found(leaf, placing[leaf]) if leaf.is_text else filters[leaf] for leaf in wanted.unwanted)
    without = [clause for clause in unwanted if clause]
    return {"bool": {"must": wanting, **({"must_not": without} if without else {})}}


def _any_of(clauses: Iterable[Clause]) -> Clause | None:
    each = list(clauses)
    if len(each) < 2:
        return each[0] if each else None
    return {"bool": {"should": each, "minimum_should_match": 1}}


def _leaf(leaf: Leaf, placed: LexemePositions) -> Clause | None:
    found = _found(leaf, placed)
    if found is None:
        return None
    better = [_all_of("title_words", placed, TITLE_BOOST), _all_of("heading_words", placed, HEADING_BOOST)]
    return {"bool": {"must": [found], "should": better}}


def _found(leaf: Leaf, placed: LexemePositions) -> Clause | None:
    """Matches documents with the leaf. Titles come first in the words of a document, so that a phrase whose words are
    all in the title is nearly always there in this order."""
    found = _on("words", placed)
    if found is None or leaf.field is not Field.TITLE:
        return found
    in_title = _all_of("title_words", placed, 1.0)
    return {"bool": {"must": [in_title], "filter": [found]}}


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


def filter_clauses(
    wanted: Wanted, domains: Mapping[str, int], now: datetime, time_field: str = "read_at"
) -> dict[Leaf, Clause]:
    """Returns what the filters of a query are for the server. `domains` are those named by `site:` that are known."""
    return {leaf: _filter_clause(leaf, domains, now, time_field) for leaf in wanted.filters}


def _filter_clause(leaf: Leaf, domains: Mapping[str, int], now: datetime, time_field: str) -> Clause:
    match leaf.field:
        case Field.SITE:
            return _exactly("domain_id", domains.get(leaf.text, NO_DOMAIN))
        case Field.LANGUAGE:
            return _exactly("languages", leaf.text.replace("_", "-").lower())
        case Field.URL:
            return _scoreless([_term("url_words", word) for word in wanted_words(url_parts(leaf.text))])
        case _:
            span = read_span(leaf.field, leaf.text, now) or Span()
            bounds = {side: at.isoformat() for side, at in (("gte", span.start), ("lt", span.end)) if at is not None}
            return _scoreless([{"range": {time_field: bounds}}])


def _exactly(field: str, value: Any) -> Clause:
    return _scoreless([_term(field, value)])


def _term(field: str, value: Any) -> Clause:
    return {"term": {field: {"value": value}}}


def _scoreless(clauses: Sequence[Clause]) -> Clause:
    return {"bool": {"filter": list(clauses)}}


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
        *([{"term": {"languages": {"value": query.language.replace("_", "-").lower()}}}] if query.language else []),
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
