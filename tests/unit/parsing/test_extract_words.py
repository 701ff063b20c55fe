"""Words for keywords: marks are none, and scripts without spaces come in pairs, in a page and in a query alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.parsing.pages import TEXTS, reading

from forager.parsing.clean import strip_hidden
from forager.parsing.keywords import keywords_of
from forager.parsing.words import to_query, to_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Plain words, as they are.", "Plain words, as they are."),
        ("“quoted” – it’s… «là»", "quoted it s là"),
        ("Daten\u00adbank zero\u200bwidth", "Datenbank zerowidth"),
        ("東京都", "東京 京都"),
        ("猫", "猫"),
        ("東京。大阪", "東京 大阪"),
        ("カレーライス2杯", "カレ レー ーラ ライ イス 2 杯"),
        ("서울에서", "서울 울에 에서"),
        ("กรุง", "กร รุ ุง"),
        ("प्रकाशस्तंभ।", "प्रकाशस्तंभ"),
        ("می\u200cخواهم؟", "میخواهم"),
        ("naïve café", "naïve café"),
    ],
)
def test_words(text: str, words: str) -> None:
    assert " ".join(to_words(text).split()) == words


@pytest.mark.parametrize(
    ("asked", "query"),
    [
        ('blue -kettle "to go"', 'blue -kettle "to go"'),
        ("東京都", '"東京 京都"'),
        ("東京 -大阪府", '"東京" -"大阪 阪府"'),
        ("“東京都 駅”", '"東京 京都 駅"'),
        ("café “la mer”", 'café "la mer"'),
        ("「灯台」", '"灯台"'),
    ],
)
def test_queries_are_spelled_like_pages(asked: str, query: str) -> None:
    assert " ".join(to_query(asked).replace('"  ', '"').split()) == query


@given(st.text(max_size=200))
def test_any_text_has_words(text: str) -> None:
    for spelled in (to_words(text), to_query(text)):
        assert isinstance(spelled, str)
    assert to_words(to_words(text)) is not None


@given(st.text(st.characters(max_codepoint=0xFF), max_size=200))
def test_the_short_way_of_latin_text_ends_where_the_long_one_does(text: str) -> None:
    """A letter from beyond Latin-1 takes the short way away."""
    assert to_words(f"{text} Ж").split() == [*to_words(text).split(), "Ж"]
    assert strip_hidden(f"{text}Ж") == f"{strip_hidden(text)}Ж"


@pytest.mark.parametrize("code", ["ja", "zh", "ko"])
def test_a_page_without_spaces_is_cut_as_well(code: str) -> None:
    page = reading("<p>" + TEXTS[code].replace(" ", "") * 400 + "</p>", words=200)
    assert 200 <= len(page.text) <= 1400


def test_a_page_that_is_not_to_be_indexed_has_no_keywords() -> None:
    assert keywords_of(reading("<meta name=robots content=noindex><p>words")) is None
    words = keywords_of(reading('<title>“T”</title><meta name=description content="D"><h1>H</h1><p>words'))
    assert words is not None
    assert [part.strip() for part in words] == ["T", "H", "D", "H words"]
