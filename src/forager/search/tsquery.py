"""Translates a parsed query into PostgreSQL tsqueries: one that ranks, and several that find candidates. Pure.

A document's terms are its lexemes and its marks, which begin with `=` as no lexeme does. Candidates are searched in
stages: first those with every word in their title, then the rest, each time the best tier first, so that stopping early
still yields the best, and none twice. The index treats phrases as separate words; the ranking query checks their order.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from forager.search.words import Leaf, Wanted

TIERS = 5
"""By depth: 0, 1, 2, 3, and deeper."""
MOST_DAYS = 62
"""A date filter lists single days up to this number, and months beyond it."""
MOST_MONTHS = 240
PRICE_STEPS = (10, 25, 50, 100, 250, 500, 1000, 2500, 10_000)
"""Boundaries of the price ranges; the same numbers are in `put_products` of `index.sql`."""
NOTHING = "'=e0'"
"""Matches no document."""


@dataclass(frozen=True, slots=True)
class LeafQuery:
    """A leaf in one configuration."""

    query: str
    """With word order; empty if all its words are stop words."""
    lexemes: Sequence[str]


Spelling = Mapping[Leaf, LeafQuery]


def ranking_query(wanted: Wanted, spelling: Spelling) -> str | None:
    """Returns the query for the keywords of a page; None if nothing is left to search for."""
    groups = [_any_of(spelling[leaf].query for leaf in group) for group in wanted.groups]
    if not (wanting := [group for group in groups if group]):
        return None
    without = [f"!({query})" for leaf in wanted.unwanted if (query := spelling[leaf].query)]
    return " & ".join([*wanting, *without])


def stages(
    wanted: Wanted, spellings: Mapping[str, Spelling], *, domain_id: int | None, language: str | None, dates: str | None
) -> list[str]:
    """Returns queries for the terms of documents, best candidates first. `spellings` covers all configurations that
    documents have."""
    filters = [*([quote(f"=d{domain_id}")] if domain_id is not None else []), *([dates] if dates else [])]
    if language:
        filters.append(quote(f"=l{language.lower()}"))
    return [
        " & ".join([matching, *filters, quote(f"=t{tier}")])
        for matching in _kinds(wanted, spellings)
        for tier in range(TIERS)
    ]


def build_product_queries(wanted: Wanted, spellings: Mapping[str, Spelling], filters: Iterable[str]) -> list[str]:
    """Returns the queries for the terms of products, which have no tiers."""
    return [" & ".join([matching, *filters]) for matching in _kinds(wanted, spellings)]


def _kinds(wanted: Wanted, spellings: Mapping[str, Spelling]) -> list[str]:
    """Returns the query for documents with everything in their title, then the one for all others."""
    kinds = [
        _in_any({config: _candidates(wanted, spelling, in_title=in_title) for config, spelling in spellings.items()})
        for in_title in (True, False)
    ]
    return [kind for kind in kinds if kind]


def _in_any(queries: Mapping[str, str]) -> str:
    """Restricts each query to the documents of its configurations. A query that is the same in all of them, as for
    most words, needs no restriction, which is a third of the work for the index."""
    configs: dict[str, list[str]] = {}
    for config, query in queries.items():
        configs.setdefault(query, []).append(quote(f"=c{config}"))
    if len(configs) == 1:
        return _any_of(configs)
    return _any_of(f"{_any_of(marks)} & {query}" for query, marks in configs.items() if query)


def _candidates(wanted: Wanted, spelling: Spelling, *, in_title: bool) -> str:
    titles, words = [_wanting(wanted, spelling, mark) for mark in ("=a", "")]
    if not words:
        return ""
    single = [spelling[leaf].lexemes for leaf in wanted.unwanted if len(spelling[leaf].lexemes) == 1]
    without = [f"!{quote(lexemes[0])}" for lexemes in single]
    wanting = titles if in_title else [*words, f"!({' & '.join(titles)})"]
    return " & ".join([*wanting, *without])


def _wanting(wanted: Wanted, spelling: Spelling, mark: str) -> list[str]:
    groups = [_any_of(_all_of(spelling[leaf].lexemes, mark) for leaf in group) for group in wanted.groups]
    return [group for group in groups if group]


def _any_of(queries: Iterable[str]) -> str:
    each = list(dict.fromkeys(filter(None, queries)))
    return f"({' | '.join(each)})" if each else ""


def _all_of(lexemes: Sequence[str], mark: str) -> str:
    return f"({' & '.join(quote(mark + lexeme) for lexeme in lexemes)})" if lexemes else ""


def quote(lexeme: str) -> str:
    """Quotes a lexeme for a tsquery, whatever it contains."""
    doubled = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{doubled}'"


def price_marks(lowest: float | None, highest: float | None) -> str | None:
    """Matches any price range that overlaps the bounds; None if every price matches."""
    if lowest is None and highest is None:
        return None
    first = bisect_right(PRICE_STEPS, lowest) if lowest is not None else 0
    last = bisect_right(PRICE_STEPS, highest) if highest is not None else len(PRICE_STEPS)
    return _any_of(quote(f"=p{number}") for number in range(first, last + 1)) or NOTHING


def date_marks(since: date, today: date) -> str | None:
    """Matches any of the days, or months, between the dates; None if there are too many to be useful."""
    if since > today:
        return NOTHING
    if (days := (today - since).days + 1) <= MOST_DAYS:
        return _any_of(quote(f"=e{since + timedelta(days=day):%Y%m%d}") for day in range(days))
    first, last = since.year * 12 + since.month - 1, today.year * 12 + today.month - 1
    if last - first >= MOST_MONTHS:
        return None
    return _any_of(quote(f"=m{month // 12:04}{month % 12 + 1:02}") for month in range(first, last + 1))
