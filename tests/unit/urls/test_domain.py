"""Which domain a URL belongs to."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forager.errors import BadUrlError
from forager.urls.domain import domain_of, is_address, is_canonical_origin, origin_of, registrable
from forager.urls.normalize import normalize


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://shop.example/x", "shop.example"),
        ("http://shop.example/x", "shop.example"),
        ("https://www.shop.example/", "shop.example"),
        ("https://WWW.shop.example/", "shop.example"),
        ("https://www.www.shop.example/", "www.shop.example"),
        ("https://www.com/", "www.com"),
        ("https://www/", "www"),
        ("https://www2.shop.example/", "www2.shop.example"),
        ("https://wwwshop.example/", "wwwshop.example"),
        ("https://www.shop.example:8443/", "shop.example:8443"),
        ("http://shop.example:80/", "shop.example"),
        ("https://shop.example:443/", "shop.example"),
        ("http://shop.example:443/", "shop.example:443"),
        ("https://shop.example:8443/", "shop.example:8443"),
        ("https://Shop.EXAMPLE/", "shop.example"),
        ("https://shop.example./", "shop.example"),
        ("https://www.shop.example.:8443/", "shop.example:8443"),
        ("https://münchen.de/", "xn--mnchen-3ya.de"),
        ("https://de.blog.shop.example/", "de.blog.shop.example"),
        ("http://127.0.0.1:8080/x", "127.0.0.1:8080"),
        ("http://0177.1/", "127.0.0.1"),
        ("http://[::1]:8080/", "[::1]:8080"),
        ("http://[0::1]/", "[::1]"),
        ("http://a/x", "a"),
        ("https://shop.example", "shop.example"),
        ("https://shop.example?x/y", "shop.example"),
        ("http:////shop.example/x", "shop.example"),
        ("http:\\\\shop.example\\@evil.example/x", "shop.example"),
        ("https://user:pw@www.shop.example/x", "shop.example"),
    ],
)
def test_the_canonical_domain(url: str, domain: str) -> None:
    assert domain_of(url) == domain
    assert domain_of(normalize(url)) == domain


@pytest.mark.parametrize("url", ["", "shop.example", "ftp://shop.example/", "https://a..b/x", "https:///"])
def test_a_string_without_a_web_host_has_no_domain(url: str) -> None:
    with pytest.raises(BadUrlError):
        domain_of(url)


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("shop.example", "shop.example"),
        ("a.b.shop.example", "shop.example"),
        ("a.b.co.uk", "b.co.uk"),
        ("co.uk", "co.uk"),
        ("a.shop.co.uk:8443", "shop.co.uk:8443"),
        ("someone.github.io", "someone.github.io"),
        ("a.someone.github.io", "someone.github.io"),
        ("a.xn--mnchen-3ya.de", "xn--mnchen-3ya.de"),
        ("localhost", "localhost"),
        ("localhost:8080", "localhost:8080"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1:8080", "127.0.0.1:8080"),
        ("[::1]", "[::1]"),
        ("[2001:db8::1]:8080", "[2001:db8::1]:8080"),
        ("1and1.example", "1and1.example"),
        ("a.b2", "a.b2"),
    ],
)
def test_the_registrable_domain(name: str, short: str) -> None:
    assert registrable(name) == short


def test_sub_domains_can_be_stripped() -> None:
    assert domain_of("https://www.blog.shop.co.uk:8443/x", strip_subdomains=True) == "shop.co.uk:8443"


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://www.a.example:8443/x?y", "https://www.a.example:8443"),
        ("HTTP://A.example:80", "http://a.example"),
        ("https://u:p@a.example./x", "https://a.example"),
        ("http://[::1]:81/x", "http://[::1]:81"),
        ("http://a/", "http://a"),
    ],
)
def test_the_origin(url: str, origin: str) -> None:
    assert origin_of(url) == origin


@pytest.mark.parametrize(
    ("host", "is_one"),
    [("127.0.0.1", True), ("[::1]", True), ("a.example", False), ("host2", False), ("", False), ("a.b2", False)],
)
def test_addresses_are_told_from_names(host: str, is_one: bool) -> None:
    assert is_address(host) is is_one


PIECES = [
    "http:",
    "https:",
    "//",
    "/",
    "\\",
    "?",
    "#",
    "@",
    ":",
    "80",
    "8443",
    "www.",
    "WWW.",
    "a.example",
    "co.uk",
    "127.1",
    "[::1]",
    ".",
    "é",
    "%41",
]
HOSTILE = st.lists(st.sampled_from([*PIECES, " "]), max_size=9).map("".join)


@given(st.one_of(HOSTILE, HOSTILE.map("https://".__add__)))
@settings(max_examples=1000, deadline=None)
def test_a_url_and_its_normal_form_share_domain_and_origin(url: str) -> None:
    try:
        normal = normalize(url)
    except BadUrlError:
        return
    assert domain_of(url) == domain_of(normal)
    assert origin_of(url) == origin_of(normal)
    assert normal.startswith(origin_of(normal) + "/")


LABELS = st.text("abcxyz019-", min_size=1, max_size=8) | st.sampled_from(
    ["a" * 63, "a" * 64, "xn--a", "XN--a", "0x1", ""]
)


@given(
    st.sampled_from(["http://", "https://", "HTTP://"]), st.lists(LABELS, max_size=6), st.sampled_from(["", ".", ":80"])
)
def test_an_origin_is_canonical_if_normalising_keeps_it(scheme: str, labels: list[str], end: str) -> None:
    origin = scheme + ".".join(labels) + end
    try:
        is_kept = normalize(f"{origin}/") == f"{origin}/"
    except BadUrlError:
        is_kept = False
    assert is_canonical_origin(origin) is is_kept
