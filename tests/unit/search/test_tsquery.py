"""What is wanted, in PostgreSQL's spelling: stages, filters, dates, quotes."""

from datetime import date

import pytest

from forager.search.tsquery import (
    LeafQuery,
    build_product_queries,
    date_marks,
    price_marks,
    quote,
    ranking_query,
    stages,
)
from forager.search.words import Leaf, Wanted

SHOP, KETTLE, THE, RED = Leaf("shop"), Leaf("kettle"), Leaf("the"), Leaf("red tea", is_phrase=True)
ENGLISH = {
    SHOP: LeafQuery("'shop'", ["shop"]),
    KETTLE: LeafQuery("'kettl'", ["kettl"]),
    THE: LeafQuery("", []),
    RED: LeafQuery("'red' <-> 'tea'", ["red", "tea"]),
}
NONE = {"domain_id": None, "language": None, "dates": None}


def test_words_too_common_to_be_kept_are_not_looked_for() -> None:
    assert ranking_query(Wanted(((THE,), (SHOP,))), ENGLISH) == "('shop')"
    assert ranking_query(Wanted(((THE,),)), ENGLISH) is None


def test_ranking_knows_the_order_of_words_and_the_index_does_not() -> None:
    wanted = Wanted(((RED,),))
    assert ranking_query(wanted, ENGLISH) == "('red' <-> 'tea')"
    assert "('red' & 'tea')" in stages(wanted, {"english": ENGLISH}, **NONE)[-1]


def test_only_single_words_are_excluded_by_the_index() -> None:
    """A page that has both words apart is not excluded by the phrase."""
    last = stages(Wanted(((SHOP,),), (KETTLE, RED)), {"english": ENGLISH}, **NONE)[-1]
    assert "!'kettl'" in last
    assert "'tea'" not in last
    assert ranking_query(Wanted(((SHOP,),), (RED,)), ENGLISH) == "('shop') & !('red' <-> 'tea')"


def test_titles_come_first_then_the_better_tiers() -> None:
    found = stages(Wanted(((SHOP,),)), {"english": ENGLISH}, **NONE)
    assert [stage.startswith("((('=ashop')))") for stage in found] == [True] * 5 + [False] * 5
    assert [stage[-5:] for stage in found[:5]] == [f"'=t{tier}'" for tier in range(5)]


def test_no_candidate_comes_twice() -> None:
    """Who had everything in the title was met in the stages before."""
    found = stages(Wanted(((SHOP,), (KETTLE,))), {"english": ENGLISH}, **NONE)
    assert all("!((('=ashop')) & (('=akettl')))" in stage for stage in found[5:])


def test_each_configuration_looks_among_its_own_pages() -> None:
    simple = {KETTLE: LeafQuery("'kettle'", ["kettle"])}
    spellings = {"english": ENGLISH, "german": ENGLISH, "simple": simple}
    assert build_product_queries(Wanted(((KETTLE,),)), spellings, [])[0] == (
        "(('=cenglish' | '=cgerman') & (('=akettl')) | ('=csimple') & (('=akettle')))"
    )


def test_what_is_spelled_alike_everywhere_is_looked_for_everywhere() -> None:
    """A list of half a million pages less to intersect."""
    first = stages(Wanted(((SHOP,),)), {"english": ENGLISH, "german": ENGLISH}, **NONE)[0]
    assert first == "((('=ashop'))) & '=t0'"


def test_a_configuration_in_which_nothing_is_left_is_not_looked_into() -> None:
    """Its pages have no such word, but those of the others may."""
    simple = {THE: LeafQuery("'the'", ["the"])}
    assert build_product_queries(Wanted(((THE,),)), {"english": ENGLISH, "simple": simple}, [])[0] == (
        "(('=csimple') & (('=athe')))"
    )


def test_filters_are_part_of_every_stage() -> None:
    found = stages(Wanted(((SHOP,),)), {"english": ENGLISH}, domain_id=7, language="pt-BR", dates="('=e1')")
    assert all("'=d7'" in stage and "'=lpt-br'" in stage and "('=e1')" in stage for stage in found)


def test_products_with_the_words_in_their_names_come_first() -> None:
    assert build_product_queries(Wanted(((SHOP,),)), {"english": ENGLISH}, ["'=b1'", "'=p2'"]) == [
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


def test_short_spans_are_days_and_long_ones_months() -> None:
    today = date(2026, 11, 16)
    assert date_marks(date(2026, 11, 15), today) == "('=e20261115' | '=e20261116')"
    months = date_marks(date(2025, 12, 31), today)
    assert months is not None
    assert months.startswith("('=m202512' | '=m202601'")
    assert months.endswith("'=m202611')")
    assert date_marks(date(1900, 1, 1), today) is None
    assert date_marks(date(2026, 11, 17), today) == "'=e0'"
