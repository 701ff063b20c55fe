"""What is wanted, in PostgreSQL's spelling: stages, filters, dates, quotes."""

from datetime import UTC, datetime, timedelta

import pytest

from forager.search.dates import Span
from forager.search.tsquery import (
    LeafQuery,
    date_marks,
    filter_marks,
    is_exact,
    price_marks,
    quote,
    ranking_query,
    span_of,
    stages,
)
from forager.search.words import Leaf, Wanted, parse

SHOP, KETTLE, THE, RED = Leaf("shop"), Leaf("kettle"), Leaf("the"), Leaf("red tea", is_phrase=True)
ENGLISH = {
    SHOP: LeafQuery("'shop'", ["shop"]),
    KETTLE: LeafQuery("'kettl'", ["kettl"]),
    THE: LeafQuery("", []),
    RED: LeafQuery("'red' <-> 'tea'", ["red", "tea"]),
}
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def test_words_too_common_to_be_kept_are_not_looked_for() -> None:
    assert ranking_query(Wanted(((THE,), (SHOP,))), ENGLISH) == "('shop')"
    assert ranking_query(Wanted(((THE,),)), ENGLISH) is None


def test_ranking_knows_the_order_of_words_and_the_index_does_not() -> None:
    wanted = Wanted(((RED,),))
    assert ranking_query(wanted, ENGLISH) == "('red' <-> 'tea')"
    assert "('red' & 'tea')" in stages(wanted, {"english": ENGLISH})[-1]


def test_only_single_words_are_excluded_by_the_index() -> None:
    """A page that has both words apart is not excluded by the phrase."""
    last = stages(Wanted(((SHOP,),), (KETTLE, RED)), {"english": ENGLISH})[-1]
    assert "!'kettl'" in last
    assert "'tea'" not in last
    assert ranking_query(Wanted(((SHOP,),), (RED,)), ENGLISH) == "('shop') & !('red' <-> 'tea')"


def test_titles_come_first_then_the_better_tiers() -> None:
    found = stages(Wanted(((SHOP,),)), {"english": ENGLISH})
    assert [stage.startswith("((('=ashop')))") for stage in found] == [True] * 5 + [False] * 5
    assert [stage[-5:] for stage in found[:5]] == [f"'=t{tier}'" for tier in range(5)]


def test_no_candidate_comes_twice() -> None:
    """Who had everything in the title was met in the stages before."""
    found = stages(Wanted(((SHOP,), (KETTLE,))), {"english": ENGLISH})
    assert all("!((('=ashop')) & (('=akettl')))" in stage for stage in found[5:])


def test_each_configuration_looks_among_its_own_pages() -> None:
    simple = {KETTLE: LeafQuery("'kettle'", ["kettle"])}
    spellings = {"english": ENGLISH, "german": ENGLISH, "simple": simple}
    assert stages(Wanted(((KETTLE,),)), spellings, is_tiered=False)[0] == (
        "(('=csimple') & (('=akettle')) | (('=akettl')) & !('=csimple'))"
    )


def test_what_is_spelled_alike_everywhere_is_looked_for_everywhere() -> None:
    """A list of half a million pages less to intersect."""
    first = stages(Wanted(((SHOP,),)), {"english": ENGLISH, "german": ENGLISH})[0]
    assert first == "((('=ashop'))) & '=t0'"


def test_a_configuration_in_which_nothing_is_left_is_not_looked_into() -> None:
    """Its pages have no such word, but those of the others may."""
    simple = {THE: LeafQuery("'the'", ["the"])}
    assert stages(Wanted(((THE,),)), {"english": ENGLISH, "simple": simple}, is_tiered=False)[0] == (
        "(('=csimple') & (('=athe')))"
    )


def test_filters_are_part_of_every_stage() -> None:
    found = stages(Wanted(((SHOP,),)), {"english": ENGLISH}, {}, ["'=d7'", "'=lpt-br'"])
    assert all("'=d7'" in stage and "'=lpt-br'" in stage for stage in found)


def filtered(query: str, **domains: int) -> list[str]:
    """Without tiers, by words that are their own lexemes."""
    wanted = parse(query)
    spelling = {leaf: LeafQuery(f"'{leaf.text}'", leaf.text.split()) for leaf in wanted.terms}
    marks = filter_marks(wanted, {name.replace("_", "."): number for name, number in domains.items()}, NOW)
    return stages(wanted, {"simple": spelling}, marks, is_tiered=False)


def test_filters_are_words_of_the_index() -> None:
    assert filtered("shop site:a.example -lang:pt_BR", a_example=7)[1] == (
        "((('shop')) & ('=d7') & !((('=ashop'))) & !('=lpt-br'))"
    )
    assert filtered("site:a.example OR site:b.example url:/tea/green-tea", a_example=7, b_example=8) == [
        "('=d7' | '=d8') & (('=wtea/green' & '=wgreen/tea'))"
    ]
    assert filtered("site:unknown.example") == ["('=e0')"]
    assert filtered("title:kettle tea -title:red")[1] == ("((('=akettle')) & (('tea')) & !((('=atea'))) & !'=ared')")


def test_titles_are_ranked_by_their_weight() -> None:
    wanted = parse('title:"red tea" site:a.example -title:kettle')
    spelling = {wanted.terms[0]: LeafQuery("'red' <-> 'it''s'", ["red", "it's"])}
    spelling[wanted.terms[1]] = LeafQuery("'kettl'", ["kettl"])
    assert ranking_query(wanted, spelling) == "('red':A <-> 'it''s':A) & !('kettl':A)"
    assert not is_exact(wanted, {"english": spelling})
    assert ranking_query(parse("site:a.example"), {}) is None


def test_products_with_the_words_in_their_names_come_first() -> None:
    assert stages(Wanted(((SHOP,),)), {"english": ENGLISH}, {}, ["'=b1'", "'=p2'"], is_tiered=False) == [
        "((('=ashop'))) & '=b1' & '=p2'",
        "((('shop')) & !((('=ashop')))) & '=b1' & '=p2'",
    ]


@pytest.mark.parametrize(
    ("lowest", "highest", "marks"),
    [
        (None, None, None),
        (None, 9.99, "('=p0')"),
        (10.0, 24.0, "('=p1')"),
        (24.0, 25.0, "('=p1' | '=p2')"),
        (2500.0, None, "('=p8' | '=p9')"),
        (30.0, 20.0, "'=e0'"),
    ],
)
def test_prices_lie_in_ranges(lowest: float | None, highest: float | None, marks: str | None) -> None:
    assert price_marks(lowest, highest) == marks


@pytest.mark.parametrize(("lexeme", "spelled"), [("it's", "'it''s'"), ("a\\b", "'a\\\\b'"), ("'", "''''")])
def test_quotes_and_backslashes_are_doubled(lexeme: str, spelled: str) -> None:
    assert quote(lexeme) == spelled


@pytest.mark.parametrize(
    ("query", "marks"),
    [
        ("date:2026-11-15", "('=e20261115')"),
        ("date:2026-11", "('=m202611')"),
        ("date:2026-09-30..2026-11-02", "('=e20261102' | '=e20261101' | '=m202610' | '=e20260930')"),
        ("since:2026-11-16", "('=e20261117' | '=e20261116')"),
        ("since:36h", "('=e20261117' | '=e20261116' | '=e20261115')"),
        ("date:2030", "('=e0')"),
        ("date:2026-11-15..2026-11-14", "('=e0')"),
    ],
)
def test_a_time_is_days_and_months(query: str, marks: str) -> None:
    wanted = parse(query)
    assert filter_marks(wanted, {}, NOW)[wanted.filters[0]] == marks


def test_no_time_has_too_many_months() -> None:
    assert date_marks(Span(), NOW) == []
    assert date_marks(Span(None, datetime(2007, 2, 1, tzinfo=UTC)), NOW) == ["'=m200701'", "'=m200612'", "'=m200611'"]
    assert len(date_marks(Span(datetime(1, 1, 1, tzinfo=UTC)), NOW)) < 300


def test_with_dates_the_newest_come_first() -> None:
    found = stages(Wanted(((SHOP,),)), {"english": ENGLISH}, dates=["'=e2'", "'=e1'"])
    assert [stage.rpartition(" & ")[2] for stage in found] == ["'=e2'", "'=e1'"] * 2
    many = stages(Wanted(((SHOP,),)), {"english": ENGLISH}, dates=[f"'=m{number}'" for number in range(100)])
    assert len(many) == 10


def test_the_times_of_a_query_are_intersected_except_alternatives() -> None:
    span = span_of(parse("since:2d until:2026-11-16 date:2026 OR date:2025"), NOW)
    assert span == Span(NOW - timedelta(days=2), datetime(2026, 11, 17, tzinfo=UTC))
