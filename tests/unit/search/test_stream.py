"""Lexemes with their places as one text, and the gaps between them."""

from forager.search.stream import LONGEST_GAP, of_weight, write_stream


def test_a_place_without_a_lexeme_is_a_gap() -> None:
    assert write_stream(["red", "kettl"], [1, 3]) == "red _ kettl"


def test_what_comes_before_the_first_is_no_gap() -> None:
    """`the kettle` in quotes is looked for as `kettle`."""
    assert write_stream(["kettl"], [2]) == "kettl"
    assert write_stream([], []) == ""


def test_several_at_one_place_are_all_there_and_no_neighbours() -> None:
    assert write_stream(["a", "b", "c"], [1, 1, 2]) == "a c _ b"


def test_a_long_gap_is_cut() -> None:
    assert write_stream(["a", "b"], [1, 9000]).count("_") == LONGEST_GAP


def test_those_of_one_weight_once_each() -> None:
    assert of_weight(["tea", "pot", "tea", "sip"], "AADD", "A") == "tea pot"
    assert of_weight([], "", "A") == ""
