"""Translates a parsed query into PostgreSQL tsqueries: one that ranks, and several that find candidates. Pure.

A document's terms are its lexemes and its marks, which begin with `=` as no lexeme does. Candidates are searched in
stages: first those with every word in their title, then the rest, each time the best tier first, so that stopping early
still yields the best, and none twice. The index treats phrases as separate words; the ranking query checks their order.
Everything else in a query, such as `site:`, is exact in the index.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from forager.search.dates import DAY, Span, read_span
from forager.search.url_words import url_parts, wanted_words
from forager.search.words import DATES, Field, Leaf, Wanted

TIERS = 5
"""By depth: 0, 1, 2, 3, and deeper."""
MOST_MONTHS = 240
"""Content older than this is not found by its date: Forager has read none."""
PRICE_STEPS = (10, 25, 50, 100, 250, 500, 1000, 2500, 10_000)
"""Boundaries of the price ranges; the same numbers are in `put_products` of `index.sql`."""
MOST_SLICES = 62
NOTHING = "'=e0'"
"""Matches no document."""
QUOTED = re.compile(r"'(?:[^']|'')*'")


@dataclass(frozen=True, slots=True)
class LeafQuery:
    """A leaf in one configuration."""

    query: str
    """With word order; empty if all its words are stop words."""
    lexemes: Sequence[str]


Spelling = Mapping[Leaf, LeafQuery]
Marks = Mapping[Leaf, str]
"""What each filter of a query is in the index."""


def ranking_query(wanted: Wanted, spelling: Spelling) -> str | None:
    """Returns the query for the keywords of a page; None if nothing is left to search for. A group with a filter among
    its alternatives is left out: only the index knows whether that matches."""
    groups = [_any_of(_ranked(leaf, spelling) for leaf in group) for group in wanted.groups if _is_text(group)]
    if not (wanting := [group for group in groups if group]):
        return None
    without = [f"!({query})" for leaf in wanted.unwanted if leaf.is_text and (query := _ranked(leaf, spelling))]
    return " & ".join([*wanting, *without])


def _is_text(group: Iterable[Leaf]) -> bool:
    return all(leaf.is_text for leaf in group)


def _ranked(leaf: Leaf, spelling: Spelling) -> str:
    query = spelling[leaf].query
    return QUOTED.sub(r"\g<0>:A", query) if leaf.field is Field.TITLE else query


def is_exact(wanted: Wanted, spellings: Mapping[str, Spelling]) -> bool:
    """Whether the index alone tells which pages match: no lexemes have to stand in a row."""
    return all(len(spelling[leaf].lexemes) < 2 for spelling in spellings.values() for leaf in wanted.terms)


def stages(
    wanted: Wanted,
    spellings: Mapping[str, Spelling],
    marks: Marks | None = None,
    filters: Iterable[str] = (),
    *,
    dates: Sequence[str] = (),
    is_tiered: bool = True,
) -> list[str]:
    """Returns queries for the terms of documents, best candidates first. `spellings` covers all configurations that
    documents have. Without tiers there are only two, which is faster where few documents match. With dates, the newest
    content comes first instead: checking each document of a tier for many dates would take three times as long."""
    if is_tiered and 0 < len(dates) <= MOST_SLICES:
        tiers = [[mark] for mark in dates]
    else:
        tiers = [[quote(f"=t{tier}"), _any_of(dates)] for tier in range(TIERS)] if is_tiered else [[_any_of(dates)]]
    return [
        " & ".join(filter(None, [matching, *filters, *tier]))
        for matching in _kinds(wanted, spellings, marks or {})
        for tier in tiers
    ]


def filter_marks(wanted: Wanted, domains: Mapping[str, int], now: datetime) -> dict[Leaf, str]:
    """Returns what the filters of a query are in the index. `domains` are those named by `site:` that are known."""
    return {leaf: _filter_mark(leaf, domains, now) for leaf in wanted.filters}


def _filter_mark(leaf: Leaf, domains: Mapping[str, int], now: datetime) -> str:
    match leaf.field:
        case Field.SITE:
            return domain_mark(domains.get(leaf.text))
        case Field.LANGUAGE:
            return language_mark(leaf.text)
        case Field.URL:
            return _all_of(wanted_words(url_parts(leaf.text)), "=w")
        case _:
            return _any_of(date_marks(read_span(leaf.field, leaf.text, now) or Span(), now))


def without_dates(wanted: Wanted) -> Wanted:
    """Returns a query without the dates that every hit must have: those are looked up together."""
    groups = tuple(group for group in wanted.groups if not _is_date(group))
    return replace(wanted, groups=groups)


def _is_date(group: Sequence[Leaf]) -> bool:
    return len(group) == 1 and group[0].field in DATES


def span_of(wanted: Wanted, now: datetime) -> Span:
    """Returns the time that all dates of a query together allow, to the second; alternatives are left to the index."""
    span = Span()
    for group in wanted.groups:
        if _is_date(group):
            span = span.intersect(read_span(group[0].field, group[0].text, now) or Span())
    return span


def domain_mark(domain_id: int | None) -> str:
    return NOTHING if domain_id is None else quote(f"=d{domain_id}")


def language_mark(language: str) -> str:
    return quote(f"=l{language.replace('_', '-').lower()}")


def _kinds(wanted: Wanted, spellings: Mapping[str, Spelling], marks: Marks) -> list[str]:
    """Returns the query for documents with everything in their title, then the one for all others."""
    if not wanted.terms:
        return [_candidates(wanted, {}, marks, in_title=False)]
    kinds = [
        _in_any(
            {config: _candidates(wanted, spelling, marks, in_title=in_title) for config, spelling in spellings.items()}
        )
        for in_title in (True, False)
    ]
    return [kind for kind in kinds if kind]


def _in_any(queries: Mapping[str, str]) -> str:
    """Restricts each query to the documents of its configurations. A query that is the same in all of them, as for
    most words, needs no restriction, which is a third of the work for the index; the most frequent one needs only the
    exclusion of the others, which the index skips through."""
    configs: dict[str, list[str]] = {}
    for config, query in queries.items():
        configs.setdefault(query, []).append(quote(f"=c{config}"))
    if len(configs) == 1:
        return _any_of(configs)
    usual = max(configs, key=lambda query: len(configs[query]))
    others = [mark for query, names in configs.items() if query != usual for mark in names]
    parts = [f"{_any_of(names)} & {query}" for query, names in configs.items() if query and query != usual]
    return _any_of([*parts, *([f"{usual} & !{_any_of(others)}"] if usual else [])])


def _candidates(wanted: Wanted, spelling: Spelling, marks: Marks, *, in_title: bool) -> str:
    titles, words = [_wanting(wanted, spelling, marks, mark) for mark in ("=a", "")]
    if wanted.terms and (not words or (in_title and titles == words)):
        return ""
    without = [f"!{query}" for leaf in wanted.unwanted if (query := _excluded(leaf, spelling, marks))]
    only_titles = [title for title, word in zip(titles, words, strict=True) if title != word]
    wanting = titles if in_title else [*words, *([f"!({' & '.join(only_titles)})"] if only_titles else [])]
    return " & ".join([*wanting, *without])


def _excluded(leaf: Leaf, spelling: Spelling, marks: Marks) -> str:
    """Returns what a document must not have; nothing for a phrase: a document may have its words apart."""
    if not leaf.is_text:
        return f"({marks[leaf]})" if marks[leaf] else ""
    lexemes = spelling[leaf].lexemes
    return quote(_prefix(leaf, "") + lexemes[0]) if len(lexemes) == 1 else ""


def _wanting(wanted: Wanted, spelling: Spelling, marks: Marks, mark: str) -> list[str]:
    groups = [
        _any_of(_all_of(spelling[leaf].lexemes, _prefix(leaf, mark)) if leaf.is_text else marks[leaf] for leaf in group)
        for group in wanted.groups
    ]
    return [group for group in groups if group]


def _prefix(leaf: Leaf, mark: str) -> str:
    return "=a" if leaf.field is Field.TITLE else mark


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


def date_marks(span: Span, now: datetime) -> list[str]:
    """Returns the days of a time, the newest first; whole months stand for their days. Empty if it has no limits."""
    if span == Span():
        return []
    newest = now.date() + DAY
    oldest = date(newest.year - MOST_MONTHS // 12, newest.month, 1)
    first = max(span.start.date(), oldest) if span.start else oldest
    last = min((span.end - timedelta(microseconds=1)).date(), newest) if span.end else newest
    marks = []
    while first <= last:
        following = date(first.year + first.month // 12, first.month % 12 + 1, 1)
        if first.day == 1 and (following - DAY <= last or last == newest):
            marks.append(quote(f"=m{first:%Y%m}"))
            first = following
        else:
            marks.append(quote(f"=e{first:%Y%m%d}"))
            first += DAY
    return marks[::-1] or [NOTHING]
