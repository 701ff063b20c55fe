"""Which passages of a long text are shown, and what a snippet leaves out of Markdown."""

from forager.search.passages import BEGINNING, select_passages
from forager.search.snippets import strip_markup
from forager.search.url_words import url_parts, url_words, wanted_words

FILLER = " ".join(f"filler{number}" for number in range(3000))


def test_a_short_text_is_taken_whole() -> None:
    assert select_passages("tea and pots", ["pot"]) == "tea and pots"


def test_passages_have_the_words_wherever_they_are() -> None:
    text = f"{FILLER} the Kettles boil {FILLER} a kettle and tea {FILLER}"
    found = select_passages(text, ["kettl", "kettle", "tea"])
    assert "a kettle and tea" in found
    assert "the Kettles boil" in found
    assert len(found) < 2000


def test_without_a_match_it_is_the_beginning() -> None:
    assert select_passages(FILLER, ["haus"]) == FILLER[:BEGINNING]
    assert select_passages(FILLER, []) == FILLER[:BEGINNING]


def test_scripts_without_spaces_are_found_inside_a_run() -> None:
    assert "東京都" in select_passages("あ" * 9000 + "東京都" + "あ" * 9000, ["東京", "京都"])


def test_a_hostile_text_ends() -> None:
    """Each of these took minutes with one quantifier more."""
    select_passages("ab " * 200_000, ["a" * 100, "ab"])
    for hostile in ("[" * 300_000, "![](" * 100_000, "[a](" + "(" * 300_000, "\\" * 300_000, "[](" + "a" * 300_000):
        strip_markup(hostile)


def test_markup_is_no_part_of_a_snippet() -> None:
    markdown = (
        "# Tea\n\n* a [**pot**](http://a.example/x_(y)) \\* [![](http://a/i.png)](http://a.example)\n\n| a |\n|---|"
    )
    assert strip_markup(markdown) == "Tea a pot a"


def test_parts_of_a_url() -> None:
    parts = url_parts("https://shop.example/tea/green_tea?x=%D1%87%D0%B0%D0%B9%FF1")
    assert parts == ["shop", "example", "tea", "green", "tea", "x", "чай", "1"]
    assert set(wanted_words(url_parts("/Green-Tea"))) <= set(url_words(parts))
    assert wanted_words(["tea"]) == ["tea"]
    assert wanted_words(url_parts("tea/tea")) == ["tea/tea"]
    assert not set(wanted_words(url_parts("tea-green-shop"))) <= set(url_words(parts))
