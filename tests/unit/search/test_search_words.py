"""Queries as people type them, and as attackers do: whatever the text, it is understood and stays small."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.search.words import LONGEST_WORD, MOST_WORDS, Leaf, Wanted, parse


def leaves(*texts: str) -> tuple[Leaf, ...]:
    return tuple(Leaf(text, is_phrase=" " in text) for text in texts)


@pytest.mark.parametrize(
    ("text", "groups", "unwanted"),
    [
        ("blue kettle", [["blue"], ["kettle"]], []),
        ('"blue kettle" cheap', [["blue kettle"], ["cheap"]], []),
        ("kettle -electric", [["kettle"]], ["electric"]),
        ('kettle -"for sale"', [["kettle"]], ["for sale"]),
        ("tea OR coffee pot", [["tea", "coffee"], ["pot"]], []),
        ("tea | coffee", [["tea", "coffee"]], []),
        ("a OR b OR c", [["a", "b", "c"]], []),
        ("tea or coffee", [["tea"], ["or"], ["coffee"]], []),
        ("OR tea OR", [["tea"]], []),
        ("„große Kanne“ «thé»", [["große Kanne"], ["thé"]], []),
        ('"never closed words', [["never closed words"]], []),
        ("kettle kettle", [["kettle"]], []),
        ("- -- \" ' () & | ! <-> :*", [], []),
        ("--kettle", [], ["--kettle"]),
        ("tea\0pot", [["tea"], ["pot"]], []),
        ("well-known", [["well-known"]], []),
    ],
)
def test_what_is_typed_is_understood(text: str, groups: list[list[str]], unwanted: list[str]) -> None:
    found = parse(text)
    assert [[leaf.text for leaf in group] for group in found.groups] == groups
    assert [leaf.text.lstrip("-") for leaf in found.unwanted] == [word.lstrip("-") for word in unwanted]


def test_ten_thousand_words_are_cut_and_it_says_so() -> None:
    found = parse(" ".join(f"word{n}" for n in range(10_000)))
    assert len(found.terms) == MOST_WORDS
    assert found.is_cut
    assert not parse("word").is_cut


@given(st.text(max_size=3000) | st.text(alphabet="\"-|OR \0\\'ab", max_size=300))
def test_any_text_is_a_small_query(text: str) -> None:
    found = parse(text)
    assert sum(len(leaf.text.split()) for leaf in found.terms) <= MOST_WORDS
    assert all(len(word) <= LONGEST_WORD for leaf in found.terms for word in leaf.text.split())
    assert "\0" not in "".join(leaf.text for leaf in found.terms)
    "".join(leaf.text for leaf in found.terms).encode()
    assert all(group for group in found.groups)


def test_nothing_is_wanted_of_nothing() -> None:
    assert parse("") == Wanted()
