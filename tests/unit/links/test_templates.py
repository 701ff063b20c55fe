"""Templates: which URLs belong together, and a pattern that says the same to Python and PostgreSQL."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.links.templates import LONGEST_TEMPLATE, is_prefix, matches, pattern_of, templates_of

A = "https://a.example"


@pytest.mark.parametrize(
    ("path", "narrow", "wide"),
    [
        ("/item/4711", "/item/{n}", "/item/…"),
        ("/item/4711?size=m&colour=red", "/item/{n}?size&colour", "/item/{n}?…"),
        ("/list?a=1&a=2&b", "/list?a&b", "/list?…"),
        ("/same/1f0a9c3e", "/same/{id}", "/same/…"),
        ("/2026-11-16/x", "/{id}/x", "/{id}/…"),
        ("/blog/a-new-year", "/blog/{slug}", "/blog/…"),
        ("/maze/left/right/", "/maze/left/right/", "/maze/…"),
        ("/about", "/about", "/…"),
        ("/?p=3", "/?p", "/?…"),
    ],
)
def test_a_url_has_a_narrow_and_a_wide_template(path: str, narrow: str, wide: str) -> None:
    assert templates_of(A + path) == (A + narrow, A + wide)
    assert (is_prefix(A + narrow), is_prefix(A + wide)) == (False, True)


def test_a_home_page_belongs_to_none() -> None:
    assert templates_of(f"{A}/") == ()


def test_a_very_long_one_is_not_looked_at() -> None:
    assert templates_of(f"{A}/" + "/".join(["word"] * LONGEST_TEMPLATE)) == ()


@pytest.mark.parametrize(
    ("template", "path"),
    [
        ("/item/{n}", "/item/x1"),
        ("/item/{n}", "/item/1/2"),
        ("/item/{n}", "/item/1?x=1"),
        ("/item/{id}", "/item/17"),
        ("/item/{slug}", "/item/word"),
        ("/item/{slug}", "/item/a-1"),
        ("/maze/left", "/maze/right"),
        ("/maze/…", "/maze"),
        ("/maze/…", "/mazes/left"),
        ("/maze/…", "/maze/left?x=1"),
        ("/…", "/a/b"),
        ("/list?a", "/list?a=1&b=2"),
        ("/list?a&b", "/list?a=1"),
        ("/list?…", "/list"),
    ],
)
def test_others_do_not_match(template: str, path: str) -> None:
    assert not matches(A + template, A + path)
    assert not matches(A.replace("https", "http") + template, A + path)


def test_another_origin_of_the_same_domain_is_another_template() -> None:
    """A copy of the site under www. must not shut the site itself."""
    (narrow, _) = templates_of("https://www.a.example/item/1")
    assert not matches(narrow, f"{A}/item/1")


SEGMENT = st.text(st.sampled_from("abzAZ019-_.~%+;=,@"), max_size=24)
NAME = st.text(st.sampled_from("abc019[]%.*+-{}()$^|"), max_size=6)
URLS = st.builds(
    lambda path, query: f"{A}/{'/'.join(path)}" + (f"?{'&'.join(query)}" if query else ""),
    st.lists(SEGMENT, min_size=1, max_size=5),
    st.lists(st.builds(lambda name, value: f"{name}={value}" if value else name, NAME, SEGMENT), max_size=4),
)


@given(URLS)
def test_a_url_matches_its_own_templates(url: str) -> None:
    for template in templates_of(url):
        assert matches(template, url)


@given(URLS, URLS)
def test_a_narrow_template_matches_exactly_its_own_urls(one: str, other: str) -> None:
    for template in templates_of(one)[:1]:
        assert matches(template, other) == (templates_of(other)[:1] == (template,))


@given(URLS)
def test_a_pattern_is_a_pattern(url: str) -> None:
    for template in templates_of(url):
        re.compile(pattern_of(template))
