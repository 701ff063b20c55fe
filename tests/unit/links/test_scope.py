"""How far a run reaches: each scope, patterns, and the folder of a seed."""

import pytest
from tests.builders import a_spec

from forager.links.scope import MOST_NAMED, CrawlScope, claim_depth, claim_patterns, folder_of
from forager.runs.models import RunSpec, Scope
from forager.urls.domain import domain_of

SEED = "https://shop.example/tea/green"
INSIDE = {
    SEED: {*Scope},
    "https://shop.example/tea/black": {Scope.PREFIX, Scope.HOST, Scope.DOMAIN, Scope.ANY},
    "https://shop.example/tea/": {Scope.PREFIX, Scope.HOST, Scope.DOMAIN, Scope.ANY},
    "https://shop.example/teapots": {Scope.HOST, Scope.DOMAIN, Scope.ANY},
    "https://www.shop.example/tea/black": {Scope.HOST, Scope.DOMAIN, Scope.ANY},
    "http://shop.example/tea/black": {Scope.HOST, Scope.DOMAIN, Scope.ANY},
    "https://blog.shop.example/": {Scope.DOMAIN, Scope.ANY},
    "https://shop.example:8443/": {Scope.ANY},
    "https://othershop.example/": {Scope.ANY},
    "https://shop.example.org/": {Scope.ANY},
}


def refusal(spec: RunSpec, url: str) -> str | None:
    return CrawlScope.of(spec).refusal(url, domain_of(url))


@pytest.mark.parametrize("scope", Scope)
@pytest.mark.parametrize("url", INSIDE)
def test_a_scope_reaches_what_it_says(scope: Scope, url: str) -> None:
    expected = None if scope in INSIDE[url] else "scope"
    assert refusal(a_spec(SEED, scope=scope), url) == expected


def test_several_seeds_reach_the_ground_of_each() -> None:
    spec = a_spec("https://a.example/x/1", "https://b.example/y/1", scope=Scope.PREFIX)
    assert refusal(spec, "https://a.example/x/2") is None
    assert refusal(spec, "https://b.example/y/2") is None
    assert refusal(spec, "https://a.example/y/2") == "scope"


def test_a_seed_is_crawled_although_no_include_matches_it() -> None:
    spec = a_spec("https://a.example/", include=("*/tea/*",))
    assert refusal(spec, "https://a.example/") is None
    assert refusal(spec, "https://a.example/tea/1") is None
    assert refusal(spec, "https://a.example/about") == "excluded"


def test_exclude_wins_over_include_and_over_seeds() -> None:
    spec = a_spec("https://a.example/", include=("*",), exclude=("https://a.example/", "*.cgi"))
    assert refusal(spec, "https://a.example/") == "excluded"
    assert refusal(spec, "https://a.example/x.cgi") == "excluded"
    assert refusal(spec, "https://a.example/x") is None


@pytest.mark.parametrize(
    ("glob", "matching", "other"),
    [
        ("*/t?a/*", "https://a.example/tea/1", "https://a.example/tera/1"),
        ("*/100%", "https://a.example/100%", "https://a.example/100"),
        ("*/a_b", "https://a.example/a_b", "https://a.example/acb"),
        ("*[1]*", "https://a.example/x[1]", "https://a.example/x1"),
        ("*\\*", "https://a.example/?q=\\x", "https://a.example/?q=x"),
        ("*/A", "https://a.example/A", "https://a.example/a"),
        ("*.*", "https://a.example/", "no"),
    ],
)
def test_only_star_and_question_mark_are_special(glob: str, matching: str, other: str) -> None:
    reach = CrawlScope.of(a_spec("https://seed.example/", scope=Scope.ANY, include=(glob,)))
    assert reach.refusal(matching, "a.example") is None
    assert reach.refusal(other, "a.example") == "excluded"


def test_a_pattern_must_match_the_whole_url() -> None:
    reach = CrawlScope.of(a_spec("https://a.example/", exclude=("/tea",)))
    assert reach.refusal("https://a.example/tea", "a.example") is None


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("https://a.example/", "https://a.example/"),
        ("https://a.example/docs/intro", "https://a.example/docs/"),
        ("https://a.example/docs/", "https://a.example/docs/"),
        ("https://a.example/docs", "https://a.example/"),
        ("https://a.example/docs/x?path=/a/b/", "https://a.example/docs/"),
        ("https://a.example/?next=/a/b", "https://a.example/"),
    ],
)
def test_the_folder_of_a_seed(url: str, folder: str) -> None:
    assert folder_of(url) == folder


def test_without_order_there_are_no_patterns() -> None:
    assert claim_patterns(a_spec("https://a.example/")) == (None, None, None)


def test_patterns_are_escaped_for_like() -> None:
    spec = a_spec("https://a.example/a_b/1", scope=Scope.PREFIX, include=("*100%?",), exclude=("*\\*",))
    folders, include, exclude = claim_patterns(spec)
    assert folders == ["https://a.example/a\\_b/%"]
    assert include == ["%100\\%_", "https://a.example/a\\_b/1"]
    assert exclude == ["%\\\\%"]


def test_a_crawl_of_single_pages_names_them_unless_they_are_very_many() -> None:
    assert claim_patterns(a_spec("https://a.example/a_b", scope=Scope.PAGE)) == (
        ["https://a.example/a\\_b"],
        None,
        None,
    )
    many = [f"https://a.example/{number}" for number in range(MOST_NAMED + 1)]
    assert claim_patterns(a_spec(*many, scope=Scope.PAGE)) == (None, None, None)


def test_a_crawl_of_single_pages_stays_at_the_seeds() -> None:
    assert claim_depth(a_spec(SEED, scope=Scope.PAGE, max_depth=7)) == 0
    assert claim_depth(a_spec(SEED, scope=Scope.HOST, max_depth=7)) == 7
