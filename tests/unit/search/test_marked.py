"""Marks between words become places in the text; places of pages survive being written down."""

from hypothesis import given
from hypothesis import strategies as st

from forager.search.cursor import read_cursor, write_cursor
from forager.search.marked import START, STOP, maybe_marked, read_marked


def test_places_are_those_of_the_plain_text() -> None:
    marked = read_marked(f"a {START}blue{STOP} tea {START}pot{STOP}")
    assert marked.text == "a blue tea pot"
    assert [marked.text[start:end] for start, end in marked.matches] == ["blue", "pot"]
    assert maybe_marked(None) is None


@given(st.text(alphabet=f"ab {START}{STOP}"))
def test_any_text_can_be_read(text: str) -> None:
    marked = read_marked(text)
    assert START not in marked.text
    assert all(0 <= start < end <= len(marked.text) for start, end in marked.matches)


@given(st.integers(0, 10**12), st.integers(1, 2**63 - 1))
def test_a_place_is_read_as_it_was_written(score: int, number: int) -> None:
    assert read_cursor(write_cursor(score, number)) == (-score, number)


@given(st.text())
def test_what_is_no_place_is_the_beginning_or_a_place(text: str) -> None:
    found = read_cursor(text)
    assert found is None or found[1] >= 0
