"""What is wanted, in PostgreSQL's terms: a query that ranks, and queries that find candidates. Pure.

A document's terms are its lexemes and its marks, which begin with `=` as no lexeme does. Candidates are looked for in
stages: first those with every word in their title, then the rest, each time the best tier first, so that whoever stops
early has seen the best, and none twice. Phrases are words to the index; the ranking query knows their order.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from forager.search.words import Leaf, Wanted

TIERS = 5
"""By depth: 0, 1, 2, 3, and deeper."""
MOST_DAYS = 62
"""A filter by day is spelled out day by day; a longer one month by month."""
MOST_MONTHS = 240
PRICE_STEPS = (10, 25, 50, 100, 250, 500, 1000, 2500, 10_000)
"""Where one range of prices ends and the next begins; the same numbers are in `put_products` of `index.sql`."""
NOTHING = "'=e0'"
"""What no document has."""


@dataclass(frozen=True, slots=True)
class LeafQuery:
    """A leaf in one configuration."""

    query: str
    """With the order of its words; empty where all of them are too common to be kept."""
    lexemes: Sequence[str]


Spelling = Mapping[Leaf, LeafQuery]


def ranking_query(wanted: Wanted, spelling: Spelling) -> str | None:
    """For the keywords of a page; None where nothing is left to look for."""
    groups = [_any_of(spelling[leaf].query for leaf in group) for group in wanted.groups]
    if not (wanting := [group for group in groups if group]):
        return None
    without = [f"!({query})" for leaf in wanted.unwanted if (query := spelling[leaf].query)]
    return " & ".join([*wanting, *without])


def stages(
    wanted: Wanted, spellings: Mapping[str, Spelling], *, domain_id: int | None, language: str | None, dates: str | None
) -> list[str]:
    """Queries for the terms of documents, in the order in which candidates are worth having. `spellings` are of all
    configurations that documents have."""
    filters = [*([quote(f"=d{domain_id}")] if domain_id is not None else []), *([dates] if dates else [])]
    if language:
        filters.append(quote(f"=l{language.lower()}"))
    return [
        " & ".join([matching, *filters, quote(f"=t{tier}")])
        for matching in _kinds(wanted, spellings)
        for tier in range(TIERS)
    ]


def build_product_queries(wanted: Wanted, spellings: Mapping[str, Spelling], filters: Iterable[str]) -> list[str]:
    """The same for the terms of products, which have no tiers."""
    return [" & ".join([matching, *filters]) for matching in _kinds(wanted, spellings)]


def _kinds(wanted: Wanted, spellings: Mapping[str, Spelling]) -> list[str]:
    """Those with everything in their title, then all others."""
    kinds = [
        _in_any({config: _candidates(wanted, spelling, in_title=in_title) for config, spelling in spellings.items()})
        for in_title in (True, False)
    ]
    return [kind for kind in kinds if kind]


def _in_any(queries: Mapping[str, str]) -> str:
    """Each query among the documents of its configurations. What is spelled alike in all of them, as most words are,
    needs no mention of them, and the index has a third of the work."""
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
    """As a tsquery spells it, whatever is in it."""
    doubled = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{doubled}'"


def price_marks(lowest: float | None, highest: float | None) -> str | None:
    """Any of the ranges that prices from one to the other may lie in; None where every price will do."""
    if lowest is None and highest is None:
        return None
    first = bisect_right(PRICE_STEPS, lowest) if lowest is not None else 0
    last = bisect_right(PRICE_STEPS, highest) if highest is not None else len(PRICE_STEPS)
    return _any_of(quote(f"=p{number}") for number in range(first, last + 1)) or NOTHING


def date_marks(since: date, today: date) -> str | None:
    """Any of the days, or months, from one to the other; None where there would be too many to be worth it."""
    if since > today:
        return NOTHING
    if (days := (today - since).days + 1) <= MOST_DAYS:
        return _any_of(quote(f"=e{since + timedelta(days=day):%Y%m%d}") for day in range(days))
    first, last = since.year * 12 + since.month - 1, today.year * 12 + today.month - 1
    if last - first >= MOST_MONTHS:
        return None
    return _any_of(quote(f"=m{month // 12:04}{month % 12 + 1:02}") for month in range(first, last + 1))
