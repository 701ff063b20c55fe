"""From the links a page wrote to the links worth knowing: order, duplicates, caps, and a count that adds up."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import HOME, a_link, a_reading, a_spec, a_target

from forager.domains.models import Trap
from forager.errors import BadUrlError
from forager.links import select
from forager.links.models import Selection
from forager.links.name_set import MutableNameSet, NameSet
from forager.links.scope import CrawlScope
from forager.links.select import Selector
from forager.links.traps import is_binary, trap_in
from forager.parsing.models import FoundLink
from forager.runs.models import STANDING, Scope
from forager.urls.domain import domain_of
from forager.urls.normalize import url_key
from forager.urls.policy import UrlPolicy
from forager.urls.resolve import resolve_link
from forager.urls.rules import UrlRules


def a_selector(max_links: int = 1000, **order: object) -> Selector:
    return Selector(CrawlScope.of(a_spec(HOME, **order)), max_links_per_page=max_links)


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
        ("/a.zip", "binary"),
        ("/a/b/a/b/a/b/a/b", "trap:repeating_path"),
        ("/calendar/2999/1", "trap:calendar"),
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


# Traps --------------------------------------------------------------------------------------------------------------


def a_trap(rule: str, template: str = "", *, is_released: bool = False) -> Trap:
    return Trap(1, 1, rule, template, 50, found_at=datetime(2026, 1, 1, tzinfo=UTC), is_released=is_released)


def test_a_link_with_a_session_id_is_taken_without_it() -> None:
    found = a_selector().select(a_reading("/x?sid=4f2a91c07b", "/x;jsessionid=1", "/y?PHPSESSID=2"), a_target())
    assert urls(found) == ["http://a.example/x", "http://a.example/y"]
    assert found.dropped == {"duplicate": 1}


def test_a_redirect_keeps_its_session_id() -> None:
    """The page would lead to itself else."""
    (link,) = a_selector().redirect(a_target(), "/?sid=4f2a91c07b").links
    assert link.url == "http://a.example/?sid=4f2a91c07b"


def test_links_of_a_trap_are_left_out_once_it_is_heeded_and_taken_when_it_is_released() -> None:
    selector, reading = a_selector(), a_reading("/same/1", "/other/1")
    trap = a_trap("nothing_new", "http://a.example/same/{n}")
    assert len(selector.select(reading, a_target()).links) == 2
    selector.set_traps("a.example", [trap])
    found = selector.select(reading, a_target())
    assert (urls(found), found.dropped) == (["http://a.example/other/1"], {"trap:nothing_new": 1})
    selector.set_traps("a.example", [replace(trap, is_released=True)])
    assert len(selector.select(reading, a_target()).links) == 2


def test_a_suspect_leaves_out_nothing() -> None:
    selector = a_selector()
    selector.set_traps("a.example", [replace(a_trap("nothing_new", "http://a.example/same/{n}"), found_at=None)])
    assert len(selector.select(a_reading("/same/1"), a_target()).links) == 1


def test_a_rule_that_is_released_for_a_domain_counts_for_others() -> None:
    selector = a_selector(scope=Scope.ANY)
    selector.set_traps(
        "a.example", [a_trap("repeating_path", is_released=True), a_trap("session_id", is_released=True)]
    )
    hrefs = ("/a/a/a/a", "/x?sid=4f2a91c07b", "http://b.example/a/a/a/a", "http://b.example/x?sid=4f2a91c07b")
    found = selector.select(a_reading(*hrefs), a_target())
    assert urls(found) == ["http://a.example/a/a/a/a", "http://a.example/x?sid=4f2a91c07b", "http://b.example/x"]
    assert found.dropped == {"trap:repeating_path": 1}


def test_what_rules_met_is_noted_once_for_each_new_link() -> None:
    selector, reading = a_selector(), a_reading("/a/a/a/a", "/b/b/b/b", "/x?sid=4f2a91c07b")
    for _ in range(3):
        selector.select(reading, a_target())
    assert sorted(selector.take_notes()) == [
        ("a.example", "repeating_path", "", 2, "http://a.example/b/b/b/b"),
        ("a.example", "session_id", "", 1, "http://a.example/x?sid=4f2a91c07b"),
    ]
    assert selector.take_notes() == []


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
        ".zip",
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


@given(LINKS, BASES)
def test_links_are_those_that_the_standard_finds_one_by_one(links: list[FoundLink], base: str) -> None:
    kept: dict[str, str] = {}
    for href, _, rel in links:
        url = resolve_or_none(base, href)
        if (
            url
            and domain_of(url) == "a.example"
            and not is_binary(url)
            and not trap_in(url, 2036)
            and rel != "a nofollow"
        ):
            kept.setdefault(url, rel)
    kept.pop(base, None)
    found = a_selector().select(a_reading(links=links, base_url=base), a_target(base))
    assert [(link.url, link.rel) for link in found.links] == list(kept.items())


def resolve_or_none(base: str, href: str) -> str | None:
    try:
        return resolve_link(base, href)
    except BadUrlError:
        return None


def test_memory_is_bounded_however_often_the_old_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(select, "REMEMBERED", 10)
    selector = a_selector()
    for newest in range(1, 100):
        for first in range(0, newest, 5):
            selector.select(a_reading(*(f"/{number}" for number in range(first, first + 5))), a_target())
            assert sum(map(len, selector._young.values())) <= 10
            assert sum(map(len, selector._old.values())) <= 10 + 5


def test_a_very_long_link_is_selected_and_not_remembered() -> None:
    selector, long = a_selector(), "/" + "x" * 1000
    assert [urls(selector.select(a_reading(long, "/y"), a_target())) for _ in range(2)] == [
        ["http://a.example" + long, "http://a.example/y"]
    ] * 2
    assert list(selector._young["http://a.example"]) == ["/y"]


def test_tallies_add_up() -> None:
    assert select.add_up([{"scope": 1}, {}, {"scope": 2, "trap": 1}]) == {"scope": 3, "trap": 1}


def test_a_run_that_grows_follows_links_to_what_became_known_since() -> None:
    spec = replace(a_spec(), seeds=(), seeds_total=0, seeds_digest=STANDING)
    reach = CrawlScope.of(spec, domains=MutableNameSet(NameSet.of(["a.example"])))
    selector = Selector(reach, max_links_per_page=10)
    reading = a_reading("/x", "http://b.example/y")
    assert selector.select(reading, a_target()).dropped == {"scope": 1}
    selector.extend_scope(["b.example"])
    assert urls(selector.select(reading, a_target())) == ["http://a.example/x", "http://b.example/y"]
    fixed = a_selector()
    fixed.extend_scope(["b.example"])
    assert fixed.select(reading, a_target()).dropped == {"scope": 1}


def test_documents_are_followed_where_their_domain_wants_them() -> None:
    selector = a_selector()
    assert urls(selector.select(a_reading("/a.pdf", "/b.PDF?x=1"), a_target())) == [
        "http://a.example/a.pdf",
        "http://a.example/b.PDF?x=1",
    ]
    selector.set_documents("a.example", is_wanted=False)
    assert selector.select(a_reading("/a.pdf"), a_target()).dropped == {"binary": 1}
    selector.set_documents("a.example", is_wanted=True)
    assert urls(selector.select(a_reading("/a.pdf"), a_target())) == ["http://a.example/a.pdf"]


def test_links_follow_the_url_rules_of_the_domain_they_lead_to() -> None:
    selector = a_selector(scope=Scope.ANY)
    selector.set_rules(UrlRules({"b.example": UrlPolicy(strip_trailing_slash=True, keep_params=("ref",))}))
    found = selector.select(a_reading("/x/?ref=1", "http://b.example/x/?ref=1", "//b.example/x?ref=1"), a_target())
    assert urls(found) == ["http://a.example/x/", "http://b.example/x?ref=1"]
    assert found.dropped == {"duplicate": 1}


def test_changed_rules_are_not_hidden_by_what_is_remembered() -> None:
    selector = a_selector()
    reading = a_reading("/x/", "/y/?sort=1")
    assert urls(selector.select(reading, a_target())) == ["http://a.example/x/", "http://a.example/y/?sort=1"]
    selector.set_rules(UrlRules({"a.example": UrlPolicy(strip_trailing_slash=True, strip_params=("sort",))}))
    assert urls(selector.select(reading, a_target())) == ["http://a.example/x", "http://a.example/y"]


def test_subdomains_of_a_whole_site_are_in_scope_under_their_own_host() -> None:
    selector = a_selector()
    page = a_reading("http://de.a.example/x", "http://b.example/x")
    assert selector.select(page, a_target()).dropped == {"scope": 2}
    selector.set_rules(UrlRules(whole_sites=frozenset({"a.example"})))
    found = selector.select(page, a_target())
    assert [(link.url, link.domain) for link in found.links] == [("http://de.a.example/x", "de.a.example")]
    assert found.dropped == {"scope": 1}


def test_session_ids_stay_where_the_domain_keeps_them() -> None:
    selector = a_selector()
    selector.set_rules(UrlRules({"a.example": UrlPolicy(strip_session_ids=False)}))
    found = selector.select(a_reading("/x?PHPSESSID=0123456789abcdef"), a_target())
    assert urls(found) == ["http://a.example/x?PHPSESSID=0123456789abcdef"]


@pytest.mark.parametrize(
    ("page", "location", "leads_to"),
    [
        ("http://a.example/shop", "/shop/", "http://a.example/shop/"),
        ("http://a.example/shop", "/shop?sort=1", "http://a.example/shop?sort=1"),
        ("http://a.example/shop", "/shop?ref=home", "http://a.example/shop"),
        ("http://a.example/shop", "/other/", "http://a.example/other"),
        ("http://a.example/shop", "/shop#top", "http://a.example/shop"),
    ],
)
def test_a_site_that_insists_on_what_the_rules_remove_does_not_redirect_in_circles(
    page: str, location: str, leads_to: str
) -> None:
    selector = a_selector()
    selector.set_rules(UrlRules({"a.example": UrlPolicy(strip_trailing_slash=True, strip_params=("sort",))}))
    assert selector.resolve_redirect(a_target(page), location) == leads_to


def test_links_out_of_scope_are_kept_where_the_domain_stores_them() -> None:
    reading = a_reading(
        links=[
            a_link("http://b.example/x?b=1&a=2", anchor="B"),
            a_link("/in"),
            a_link("http://b.example/x?a=2&b=1"),
            a_link("//c.example/", "a nofollow"),
            a_link("http://b.example/file.zip"),
        ]
    )
    found = a_selector().select(reading, a_target(), keeps_external=True)
    assert [(link.url, link.anchor, link.rel) for link in found.external] == [
        ("http://b.example/x?a=2&b=1", "B", "a"),
        ("http://c.example/", "", "a nofollow"),
    ]
    assert urls(found) == ["http://a.example/in"]
    assert found.dropped == {"scope": 3, "binary": 1}, "what is stored counts as dropped all the same"
    assert a_selector().select(reading, a_target()).external == ()
