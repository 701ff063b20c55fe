"""From the links a page wrote to the links worth knowing: order, duplicates, caps, and a count that adds up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import HOME, a_link, a_reading, a_spec, a_target

from forager.ingest import Reach, Selector, select
from forager.records import FoundLink, Scope, Selection
from forager.urls import url_key


def a_selector(max_links: int = 1000, **order: object) -> Selector:
    return Selector(Reach.of(a_spec(HOME, **order)), max_links_per_page=max_links)


def urls(selection: Selection) -> list[str]:
    return [link.url for link in selection.links]


def test_links_keep_the_order_of_the_page() -> None:
    found = a_selector().select(a_reading("/c", "a", "http://a.example/b"), a_target())
    assert urls(found) == ["http://a.example/c", "http://a.example/a", "http://a.example/b"]
    assert found.dropped == {}


def test_a_link_carries_what_learning_needs() -> None:
    reading = a_reading(links=[a_link("/tea?b=2&a=1", "a", "Tea")])
    (link,) = a_selector().select(reading, a_target(depth=3, redirects=2)).links
    url = "http://a.example/tea?a=1&b=2"
    assert link == (url, url_key(url), "a.example", 4, 0, "Tea", "a")


def test_a_page_is_linked_once_and_never_to_itself() -> None:
    found = a_selector().select(a_reading("/x", "/x#part", "/", "#top", "/x?", "/y"), a_target(HOME))
    assert urls(found) == ["http://a.example/x", "http://a.example/y"]
    assert found.dropped == {"duplicate": 4}


def test_a_link_that_says_nofollow_is_left_out() -> None:
    reading = a_reading(links=[a_link("/x", "a nofollow"), a_link("/y")])
    found = a_selector().select(reading, a_target())
    assert (urls(found), found.dropped) == (["http://a.example/y"], {"nofollow": 1})


def test_a_page_that_says_nofollow_gives_no_link() -> None:
    found = a_selector().select(a_reading("/x", "/y", is_nofollow=True), a_target())
    assert (urls(found), found.dropped) == ([], {"nofollow": 2})
    assert a_selector().select(a_reading(is_nofollow=True), a_target()) == Selection()


def test_nofollow_once_does_not_hide_a_link_that_may_be_followed() -> None:
    reading = a_reading(links=[a_link("/x", "a nofollow"), a_link("/x")])
    assert urls(a_selector().select(reading, a_target())) == ["http://a.example/x"]


def test_the_first_links_are_taken_when_there_are_too_many() -> None:
    found = a_selector(max_links=2).select(a_reading("/1", "/2", "/3", "/1", "/4"), a_target())
    assert urls(found) == ["http://a.example/1", "http://a.example/2"]
    assert found.dropped == {"too_many": 2, "duplicate": 1}


@pytest.mark.parametrize(
    ("href", "reason"),
    [
        ("http://other.example/", "scope"),
        ("/secret/1", "excluded"),
        ("/a.pdf", "binary"),
        ("/a/b/a/b/a/b/a/b", "trap"),
        ("mailto:me@a.example", "bad_url"),
        ("http://[broken", "bad_url"),
    ],
)
def test_every_link_left_out_has_its_reason(href: str, reason: str) -> None:
    found = a_selector(exclude=("*/secret/*",)).select(a_reading(href), a_target())
    assert (urls(found), found.dropped) == ([], {reason: 1})


def test_a_redirect_leads_to_the_same_depth_one_hop_further() -> None:
    (link,) = a_selector().redirect(a_target(depth=2, redirects=1), "/new").links
    assert (link.url, link.depth, link.redirects, link.rel) == ("http://a.example/new", 2, 2, "redirect")


def test_a_redirect_meets_the_gates_of_every_link() -> None:
    assert a_selector().redirect(a_target(), "http://other.example/").dropped == {"scope": 1}
    assert a_selector().redirect(a_target(), "gopher://a.example/").dropped == {"bad_url": 1}
    assert a_selector().redirect(a_target(), "/file.zip").dropped == {"binary": 1}


def test_relative_links_are_not_remembered_across_folders() -> None:
    selector = a_selector()
    one = selector.select(a_reading("x", "/y", base_url="http://a.example/one/"), a_target("http://a.example/one/"))
    two = selector.select(a_reading("x", "/y", base_url="http://a.example/two/"), a_target("http://a.example/two/"))
    assert urls(one) == ["http://a.example/one/x", "http://a.example/y"]
    assert urls(two) == ["http://a.example/two/x", "http://a.example/y"]


@pytest.mark.parametrize("base", ["data:text/html,hello", "http://[broken", "about:blank", ""])
def test_a_base_that_is_no_web_address_does_not_count(base: str) -> None:
    found = a_selector().select(a_reading("x", "http://a.example/y", base_url=base), a_target("http://a.example/p/"))
    assert urls(found) == ["http://a.example/p/x", "http://a.example/y"]


# Any input ----------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        "/",
        "a",
        "b",
        "..",
        "?",
        "#",
        "&",
        "=",
        "%",
        "http://",
        "https:",
        "//",
        "a.example",
        "b.example",
        ".pdf",
        " ",
        "\\",
    ]
)
HREFS = st.lists(PIECES, max_size=6).map("".join) | st.text(max_size=12)
LINKS = st.lists(st.builds(FoundLink, HREFS, st.just(""), st.sampled_from(["a", "a nofollow", "next"])), max_size=12)
BASES = st.sampled_from([HOME, "http://a.example/x/y?z", "https://a.example/", "http://b.example/x/"])


@given(LINKS, BASES, st.integers(1, 5), st.booleans())
def test_every_link_is_kept_or_counted(links: list[FoundLink], base: str, most: int, is_nofollow: bool) -> None:
    found = a_selector(most).select(a_reading(links=links, base_url=base, is_nofollow=is_nofollow), a_target(base))
    assert len(found.links) + sum(found.dropped.values()) == len(links)
    assert len(found.links) <= most
    assert len({link.key for link in found.links} | {url_key(base)}) == len(found.links) + 1


@given(st.lists(st.tuples(LINKS, BASES), max_size=6))
def test_memory_changes_nothing(pages: list[tuple[list[FoundLink], str]]) -> None:
    remembering = a_selector(scope=Scope.DOMAIN)
    for links, base in pages:
        reading, target = a_reading(links=links, base_url=base), a_target(base)
        assert remembering.select(reading, target) == a_selector(scope=Scope.DOMAIN).select(reading, target)


def test_memory_is_bounded_however_often_the_old_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(select, "REMEMBERED", 10)
    selector = a_selector()
    for newest in range(1, 100):
        for first in range(0, newest, 5):
            selector.select(a_reading(*(f"/{number}" for number in range(first, first + 5))), a_target())
            assert sum(map(len, selector._young.values())) <= 10
            assert sum(map(len, selector._old.values())) <= 10 + 5


def test_tallies_add_up() -> None:
    assert select.add_up([{"scope": 1}, {}, {"scope": 2, "trap": 1}]) == {"scope": 3, "trap": 1}
