"""Nearly the same text has nearly the same bits, other text has others, and no text is trouble."""

import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.parsing.simhash import FEWEST_WORDS, SHORT, distance, simhash
from forager_playground.language import LANGUAGES, load_language

WORDS = [f"{a}{b}{c}" for a in "bdfgkl" for b in "aeiou" for c in "mnprst"]


def a_text(words: int, seed: int = 1) -> list[str]:
    draw = random.Random(seed)
    return [draw.choice(WORDS) + ("\n" if n % 12 == 11 else "") for n in range(words)]


def hash_of(words: list[str]) -> int:
    value = simhash(" ".join(words))
    assert value is not None
    return value


def far(one: list[str], other: list[str]) -> int:
    return distance(hash_of(one), hash_of(other))


@pytest.mark.parametrize("words", [40, 150, 5000])
def test_texts_that_differ_are_far_apart(words: int) -> None:
    texts = [[f"{word}{chr(97 + n)}" for word in a_text(words, n)] for n in range(20)]
    distances = [far(one, other) for n, one in enumerate(texts) for other in texts[:n]]
    assert min(distances) > 10
    assert 20 < statistics.mean(distances) < 40


def test_numbers_white_space_and_order_make_no_difference() -> None:
    text = a_text(80)
    assert hash_of([*text[:7], "4711", *text[7:]]) == hash_of(text)
    assert simhash("\n ".join(text)) == hash_of(text)
    assert hash_of(sorted(text)) == hash_of(text)


@given(st.integers(0, 79))
def test_a_word_that_is_changed_changes_two_bits_at_most(place: int) -> None:
    text = a_text(80)
    assert far(text, [*text[:place], "something", *text[place + 1 :]]) <= 2


def test_a_long_text_is_known_by_lines_from_all_its_parts() -> None:
    text = a_text(5000)
    assert far(text, [*text[:2500], *[f"{word}z" for word in text[2500:]]]) > 10
    assert far(text, [*text, "one", "more", "word"]) <= 12


def test_where_a_page_repeats_its_address_the_address_does_not_count() -> None:
    told = "Nothing was found at {} on this server, please try another one of our many pages"
    one = simhash(told.format("/a/b?c=d"), "https://a.example/a/b?c=d")
    assert one == simhash(told.format("/other"), "https://a.example/other")


def test_too_little_text_has_none() -> None:
    assert simhash("") is None
    assert simhash("1 2 3 4 5 6 7 8 9 10 11 12") is None
    assert simhash(" ".join(WORDS[: FEWEST_WORDS - 1])) is None
    assert simhash(" ".join(WORDS[:FEWEST_WORDS])) is not None


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_has_its_own(code: str) -> None:
    language = load_language(code)
    one, other = ("\n".join(language.paragraph(5, seed, n) for n in range(60)) for seed in (1, 2))
    assert len(one) > SHORT
    first, second = simhash(one), simhash(other)
    assert first is not None
    assert second is not None
    assert distance(first, second) > 3


@given(st.text(max_size=3000))
def test_any_text_has_one_that_fits_the_database(text: str) -> None:
    value = simhash(text, "https://a.example/x")
    assert value is None or -(2**63) <= value < 2**63


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 63))
def test_distance_counts_bits(value: int, bit: int) -> None:
    other = value ^ (1 << bit) if bit < 63 else value ^ (-1 << 63)
    assert distance(value, value) == 0
    assert distance(value, other) == 1
