"""What is asked of the search server, and where one page of hits ends."""

import math
import struct
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.search.cursor import read_cursor
from forager.search.models import ProductQuery, Query
from forager.search.server_query import (
    LexemePositions,
    format_cursor,
    is_search_cursor,
    match,
    page_filters,
    parse_cursor,
    product_filters,
)
from forager.search.words import Leaf, parse


def placing(**spellings: list[str]) -> dict[Leaf, LexemePositions]:
    return {
        Leaf(words.replace("_", " "), is_phrase="_" in words): LexemePositions(lexemes, range(1, len(lexemes) + 1))
        for words, lexemes in spellings.items()
    }


def test_what_is_spelled_alike_everywhere_names_no_configuration() -> None:
    found = match(parse("tea"), {"english": placing(tea=["tea"]), "german": placing(tea=["tea"])})
    assert "config" not in str(found)


def test_each_spelling_is_looked_for_among_its_own() -> None:
    found = match(
        parse("houses"),
        {"english": placing(houses=["hous"]), "german": placing(houses=["houses"]), "simple": {}}
        | {"simple": placing(houses=["houses"])},
    )
    assert found is not None
    parts = found["bool"]["should"]
    assert [part["bool"]["filter"][0]["terms"]["config"] for part in parts] == [["english"], ["german", "simple"]]


def test_a_configuration_in_which_nothing_is_left_finds_nothing() -> None:
    found = match(parse("the"), {"english": placing(the=[]), "simple": placing(the=["the"])})
    assert found is not None
    (part,) = found["bool"]["should"]
    assert part["bool"]["filter"][0]["terms"]["config"] == ["simple"]
    assert match(parse("the"), {"english": placing(the=[])}) is None


def test_words_in_a_row_keep_their_gaps_and_unwanted_ones_are_left_out() -> None:
    wanted = parse('"red the kettle" -"blue pot"')
    found = match(wanted, {"english": {leaf: LexemePositions(["red", "kettl"], [1, 3]) for leaf in wanted.terms}})
    assert found is not None
    assert found["bool"]["must"][0]["bool"]["must"] == [{"match_phrase": {"words": {"query": "red _ kettl"}}}]
    assert found["bool"]["must_not"] == [{"match_phrase": {"words": {"query": "red _ kettl"}}}]


def test_or_wants_one_of_them() -> None:
    found = match(parse("tea OR pot"), {"english": placing(tea=["tea"], pot=["pot"])})
    assert found is not None
    assert found["bool"]["must"][0]["bool"]["minimum_should_match"] == 1


def test_filters() -> None:
    since = datetime(2026, 11, 1, tzinfo=UTC)
    assert page_filters(Query("x", language="pt-BR", since=since), 7) == [
        {"term": {"domain_id": {"value": 7}}},
        {"term": {"languages": {"value": "pt-br"}}},
        {"range": {"read_at": {"gte": "2026-11-01T00:00:00+00:00"}}},
    ]
    asked = ProductQuery("x", lowest_price=0.0)
    assert product_filters(asked, None, {"brand": "tansu", "category": None}) == [
        {"term": {"brand_folded": {"value": "tansu"}}},
        {"range": {"price": {"gte": 0.0}}},
    ]


@given(st.floats(0, 2.0**100, width=32), st.integers(0, (1 << 63) - 1))
def test_a_place_is_read_as_it_was_written(score: float, number: int) -> None:
    text = format_cursor(score, number)
    assert parse_cursor(text) == (score, number)
    assert read_cursor(text) is None, "PostgreSQL's places are others"


@pytest.mark.parametrize("text", [None, "", "s", "s1", "s-1", "12-3", "s1-2-3", "s9999999999999-1", "s²-1", "x1-2"])
def test_what_is_no_place_begins_at_the_beginning(text: str | None) -> None:
    assert not is_search_cursor(text)


def test_neither_infinity_nor_nothing_is_a_place() -> None:
    for odd in (math.inf, math.nan):
        (bits,) = struct.unpack(">I", struct.pack(">f", odd))
        assert not is_search_cursor(f"s{bits}-1")
