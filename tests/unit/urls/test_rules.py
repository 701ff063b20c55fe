"""URL rules of domains: the rules of the domain a URL leads to apply, wherever it was found."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forager.errors import BadUrlError
from forager.urls.domain import domain_of
from forager.urls.normalize import normalize
from forager.urls.policy import UrlPolicy
from forager.urls.resolve import resolve_link
from forager.urls.rules import NO_RULES, UrlRules, names_above

RULES = UrlRules(
    policies={
        "shop.example": UrlPolicy(strip_trailing_slash=True, strip_params=("sort", "f[*]"), keep_params=("ref",)),
        "git.example": UrlPolicy(strip_params=("*",), keep_params=("id", "ref")),
    },
    whole_sites=frozenset({"shop.example", "127.0.0.1:8080"}),
)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("https://shop.example/a/", "https://shop.example/a"),
        ("https://shop.example/", "https://shop.example/"),
        ("https://other.example/a/", "https://other.example/a/"),
        ("https://shop.example/?SORT=1&ref=x&utm_source=y", "https://shop.example/?ref=x"),
        ("https://shop.example/?f[c]=1&f%5Bd%5D=2&g[c]=3", "https://shop.example/?g%5Bc%5D=3"),
        ("https://other.example/?sort=1&ref=x", "https://other.example/?sort=1"),
        ("https://git.example/?id=1&ref=main&tab=2", "https://git.example/?id=1&ref=main"),
        ("https://de.shop.example/a/?ref=x", "https://de.shop.example/a?ref=x"),
        ("https://notshop.example/a/", "https://notshop.example/a/"),
    ],
)
def test_the_rules_of_the_target_apply(written: str, normal: str) -> None:
    assert RULES.normalize(written) == normal
    assert RULES.normalize(normal) == normal
    assert RULES.resolve_links("https://blog.example/x", [written]) == [normal]


def test_subdomains_of_a_whole_site_are_part_of_it() -> None:
    assert RULES.site_of("de.shop.example") == "shop.example"
    assert RULES.site_of("a.b.shop.example") == "shop.example"
    assert RULES.site_of("shop.example") == "shop.example"
    assert RULES.site_of("de.other.example") == "de.other.example"
    assert RULES.site_of("shop.example:8080") == "shop.example:8080"
    assert NO_RULES.site_of("de.shop.example") == "de.shop.example"


def test_names_above_end_at_the_registrable_domain() -> None:
    assert list(names_above("a.b.shop.co.uk:81")) == ["b.shop.co.uk:81", "shop.co.uk:81"]
    assert list(names_above("shop.co.uk")) == []
    assert list(names_above("127.0.0.1:8080")) == []
    assert list(names_above("[::1]:81")) == []
    assert list(names_above("localhost")) == []


HREFS = st.one_of(
    st.text("ab/?&=;.:#%[]ref ", max_size=20),
    st.tuples(
        st.sampled_from(["/", "https://shop.example/", "https://git.example/", "//de.shop.example/", "?"]),
        st.text("ab/?&=sortref1", max_size=16),
    ).map("".join),
)


@given(st.sampled_from(["https://shop.example/x/", "https://blog.example/x/?a"]), st.lists(HREFS, max_size=5))
@settings(max_examples=500, deadline=None)
def test_links_are_what_the_policy_of_their_domain_makes_of_them(base: str, hrefs: list[str]) -> None:
    expected: list[str | None] = []
    for href in hrefs:
        try:
            plain = resolve_link(base, href)
            expected.append(resolve_link(base, href, RULES.policy_of(domain_of(plain))))
        except BadUrlError:
            expected.append(None)
    assert RULES.resolve_links(base, hrefs) == expected
    for url in filter(None, expected):
        assert RULES.normalize(url) == url


def test_without_rules_the_default_holds() -> None:
    assert NO_RULES.normalize("https://shop.example/a/?ref=1") == normalize("https://shop.example/a/?ref=1")
    assert not NO_RULES
    assert RULES
