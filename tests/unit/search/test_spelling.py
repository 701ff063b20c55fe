"""Misspelled words find the known word that was meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.search.spelling import distance, fold, lookup_marks, near_marks, replace, select_best, words_of

LETTERS = st.text(alphabet="abcdefghij", min_size=5, max_size=12)


def is_found(typed: str, known: str) -> bool:
    return bool(set(lookup_marks(typed)) & set(near_marks(known)))


@pytest.mark.parametrize("typed", ["ketle", "keettle", "kettel", "kattle", "ketttle", "ekttle", "kettl", "kettlee"])
def test_one_slip_is_found_and_corrected(typed: str) -> None:
    assert is_found(typed, "kettle")
    assert select_best(typed, [("kettle", 5), ("settle", 9), ("nettle", 1)]) == "kettle"


def test_accents_do_not_count() -> None:
    assert is_found("cafe", "café")
    assert select_best("cafe", [("café", 1), ("cafes", 100)]) == "café"
    assert fold("façade") == "facade"


def test_the_more_frequent_of_two_equally_near_words_is_taken() -> None:
    assert select_best("xable", [("table", 3), ("cable", 900)]) == "cable"


def test_short_words_are_left_alone() -> None:
    assert select_best("tee", [("tea", 100)]) is None


def test_a_word_is_no_correction_of_itself() -> None:
    assert select_best("kettle", [("kettle", 5)]) is None


@given(LETTERS, st.data())
def test_any_single_slip_is_found(word: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(word) - 2))
    letter = data.draw(st.sampled_from("abcdefghijxyz"))
    slips = (
        word[:place] + word[place + 1 :],
        word[:place] + letter + word[place:],
        word[:place] + letter + word[place + 1 :],
        word[:place] + word[place + 1] + word[place] + word[place + 2 :],
    )
    for slip in slips:
        assert is_found(slip, word)
        assert distance(slip, word) <= 1


@given(LETTERS, LETTERS)
def test_distance_is_symmetric_and_bounded(one: str, other: str) -> None:
    assert distance(one, other) == distance(other, one) <= max(len(one), len(other))
    assert distance(one, one) == 0


def test_only_the_misspelled_word_is_replaced() -> None:
    assert replace('"blue Keetle" -keetle OR tea', [("keetle", "kettle")]) == '"blue kettle" -kettle OR tea'


def test_words_are_counted_once_a_page_and_numbers_not_at_all() -> None:
    assert words_of("Tea for two, tea", "The 2nd teapot 4711") == {"tea": 1, "for": 1, "two": 1, "the": 1, "teapot": 1}
    assert words_of(None, "") == {}
