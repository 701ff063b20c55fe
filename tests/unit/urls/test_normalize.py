"""One URL, one spelling."""

import hashlib
import random

import ada_url
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forager.errors import BadUrlError
from forager.urls.normalize import has_credentials, normalize, url_key
from forager.urls.policy import DEFAULT_POLICY, UrlPolicy

CASE_AND_HOST = [
    ("HTTP://EXAMPLE.COM/", "http://example.com/"),
    ("hTTps://Shop.Example/Path", "https://shop.example/Path"),
    ("https://MÜNCHEN.de/", "https://xn--mnchen-3ya.de/"),
    ("https://xn--MNCHEN-3ya.DE/", "https://xn--mnchen-3ya.de/"),
    ("https://ｅｘａｍｐｌｅ.com/", "https://example.com/"),
    ("https://ex%41mple.com/", "https://example.com/"),
    ("https://例え。テスト/", "https://xn--r8jz45g.xn--zckzah/"),
    ("https://example.com./", "https://example.com/"),
    ("https://example.com.:8443/", "https://example.com:8443/"),
]
FRAGMENTS = [
    ("https://a.example/x#top", "https://a.example/x"),
    ("https://a.example/x#", "https://a.example/x"),
    ("https://a.example/#/route?x=1", "https://a.example/"),
    ("https://a.example/x?q=1#?utm_source=x", "https://a.example/x?q=1"),
]
PORTS = [
    ("http://a.example:80/", "http://a.example/"),
    ("https://a.example:443/", "https://a.example/"),
    ("https://a.example:/", "https://a.example/"),
    ("http://a.example:443/", "http://a.example:443/"),
    ("https://a.example:80/", "https://a.example:80/"),
    ("https://a.example:08443/", "https://a.example:8443/"),
    ("http://[::1]:80/", "http://[::1]/"),
]
QUERIES = [
    ("https://a.example/?b=2&a=1", "https://a.example/?a=1&b=2"),
    ("https://a.example/?a=2&a=1", "https://a.example/?a=1&a=2"),
    ("https://a.example/?a-b=1&a=1", "https://a.example/?a=1&a-b=1"),
    ("https://a.example/?b&a=&a", "https://a.example/?a&a=&b"),
    ("https://a.example/?B=1&a=1", "https://a.example/?B=1&a=1"),
    ("https://a.example/?&&a=1&", "https://a.example/?a=1"),
    ("https://a.example/?", "https://a.example/"),
    ("https://a.example/?&", "https://a.example/"),
    ("https://a.example/x?a=b=c", "https://a.example/x?a=b=c"),
    ("https://a.example/x?a=1;b=2", "https://a.example/x?a=1;b=2"),
    ("https://a.example/x?q=a+b", "https://a.example/x?q=a+b"),
    ("https://a.example/x?u=http://b.example/?c", "https://a.example/x?u=http://b.example/?c"),
]
TRACKING = [
    ("https://a.example/?utm_source=x&id=1", "https://a.example/?id=1"),
    ("https://a.example/?UTM_Campaign=x", "https://a.example/"),
    ("https://a.example/?%75tm_source=x", "https://a.example/"),
    ("https://a.example/?utm_new_kind=x", "https://a.example/"),
    ("https://a.example/?ref=home&source=mail", "https://a.example/"),
    ("https://a.example/?ref", "https://a.example/"),
    ("https://a.example/?referrer=1&sources=2&utm=3", "https://a.example/?referrer=1&sources=2&utm=3"),
    ("https://a.example/?gclid=1&fbclid=2&msclkid=3&page=4", "https://a.example/?page=4"),
]
ESCAPES = [
    ("https://a.example/%41%7e%2D%5f%2e", "https://a.example/A~-_."),
    ("https://a.example/%2f%3a%3F", "https://a.example/%2F%3A%3F"),
    ("https://a.example/caf%c3%a9", "https://a.example/caf%C3%A9"),
    ("https://a.example/café", "https://a.example/caf%C3%A9"),
    ("https://a.example/a b", "https://a.example/a%20b"),
    ("https://a.example/?q=%7Ea%26b", "https://a.example/?q=~a%26b"),
    ("https://a.example/?q=%e4&%61=1", "https://a.example/?a=1&q=%E4"),
    ("https://a.example/100%", "https://a.example/100%"),
    ("https://a.example/%%34%31", "https://a.example/%%34%31"),
    ("https://a.example/%4%31", "https://a.example/%4%31"),
    ("https://a.example/%%32%65%%32%65/x", "https://a.example/%%32%65%%32%65/x"),
    ("https://a.example/%25%34%31", "https://a.example/%2541"),
    ("https://a.example/%00", "https://a.example/%00"),
    ("https://a.example/?a=%4&b=%41", "https://a.example/?a=%4&b=A"),
    ("https://a.example/?f[c]=1", "https://a.example/?f%5Bc%5D=1"),
    ("https://a.example/?f%5bc%5d=1", "https://a.example/?f%5Bc%5D=1"),
    ("https://a.example/?f[]=2&f%5B%5D=1", "https://a.example/?f%5B%5D=1&f%5B%5D=2"),
    ("https://a.example/?q={a}|b^c`d\\e", "https://a.example/?q=%7Ba%7D%7Cb%5Ec%60d%5Ce"),
    ("https://a.example/a[1]|b^c", "https://a.example/a%5B1%5D%7Cb%5Ec"),
    ("https://a.example/o'neill?q=o'neill", "https://a.example/o%27neill?q=o%27neill"),
    ("https://a.example/Foo_%28film%29%21%2a", "https://a.example/Foo_(film)!*"),
    ("https://a.example/?q=%28a%29", "https://a.example/?q=(a)"),
    ("https://a.example/?q=[100%", "https://a.example/?q=%5B100%"),
]
WHATWG = [
    ("  https://a.example/x \n", "https://a.example/x"),
    ("https://a.example", "https://a.example/"),
    ("https://a.example?q", "https://a.example/?q"),
    ("https://a.example/a/./b/../c", "https://a.example/a/c"),
    ("https://a.example/a/%2e/b/%2E%2e/c", "https://a.example/a/c"),
    ("https://a.example/../../x", "https://a.example/x"),
    ("https://a.example//a//b", "https://a.example//a//b"),
    ("https:\\\\a.example\\x", "https://a.example/x"),
    ("https:a.example", "https://a.example/"),
    ("https://a.ex\nample/x\ty", "https://a.example/xy"),
    ("https://user:secret@a.example/x", "https://a.example/x"),
    ("https://us@er:p@ss@a.example/x", "https://a.example/x"),
    ("https://a.example/@user", "https://a.example/@user"),
    ("https://a.example/shop/", "https://a.example/shop/"),
    ("http://127.1/", "http://127.0.0.1/"),
    ("http://[0:0::1]/", "http://[::1]/"),
    ("http://under_score.example/", "http://under_score.example/"),
    ("\x00\x1f https://a.example/x\x0c\x01", "https://a.example/x"),
    ("https://a.example/x\x00y\x7f", "https://a.example/x%00y%7F"),
    ("https://a.example/\x1b[31m", "https://a.example/%1B%5B31m"),
    ("ht\ntps://a.ex\tample\r/x", "https://a.example/x"),
]


@pytest.mark.parametrize(
    ("written", "normal"), CASE_AND_HOST + FRAGMENTS + PORTS + QUERIES + TRACKING + ESCAPES + WHATWG
)
def test_each_rule(written: str, normal: str) -> None:
    assert normalize(written) == normal
    assert normalize(normal) == normal


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("https://a.example/shop/", "https://a.example/shop"),
        ("https://a.example/shop//", "https://a.example/shop"),
        ("https://a.example/", "https://a.example/"),
        ("https://a.example//", "https://a.example/"),
        ("https://a.example/shop/?a=1", "https://a.example/shop?a=1"),
    ],
)
def test_trailing_slashes_go_only_when_asked(written: str, normal: str) -> None:
    assert normalize(written, UrlPolicy(strip_trailing_slash=True)) == normal


def test_a_policy_may_keep_order_and_tracking() -> None:
    keep = UrlPolicy(sort_query=False, tracking_names=frozenset(), tracking_prefixes=())
    assert normalize("https://a.example/?utm_source=b&ref=a", keep) == "https://a.example/?utm_source=b&ref=a"


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("", "is no URL"),
        ("/relative", "is no URL"),
        ("shop.example/x", "has no scheme; write 'https://shop.example/x'"),
        ("ftp://a.example/x", "only http and https"),
        ("mailto:someone@a.example", "only http and https"),
        ("javascript:alert(1)", "only http and https"),
        ("file:///etc/passwd", "only http and https"),
        ("ws://a.example/", "only http and https"),
        ("https://", "is no URL"),
        ("https://a b/", "is no URL"),
        ("https://a.example:99999/", "is no URL"),
        ("https://a.example:0/", "port 0"),
        ("https://[::1/", "is no URL"),
        ("https://a.ex\x00ample/", "is no URL"),
        ("https://a.ex\x1b[31mample/", "is no URL"),
        ("https://a.example/\ud800", "broken text"),
        ("https://a.example/" + "x" * 4096, "longer than 4096 bytes"),
        ("https://a.example/" + "é" * 1000, "longer than 4096 bytes"),
        ("https://a..example/", "no host name"),
        ("https://./", "no host name"),
        ("https://a.example../", "no host name"),
        ("https://" + "a" * 64 + ".example/", "no host name"),
        ("https://" + "a." * 130 + "example/", "no host name"),
        ('https://a"b.example/', "no host name"),
    ],
)
def test_what_cannot_be_visited_is_refused_with_a_sentence(written: str, reason: str) -> None:
    with pytest.raises(BadUrlError, match=r"^'") as refusal:
        normalize(written)
    sentence = str(refusal.value)
    assert reason in sentence
    assert sentence.endswith(".")
    assert sentence.isprintable()
    assert len(sentence) < 250


@pytest.mark.parametrize(
    "written",
    ["ftp://user:secret@a.example/", "https://user:secret@a..b/", "https://user:secret@/x", "https:\\\\u:secret@a b/"],
)
def test_passwords_never_reach_the_sentence(written: str) -> None:
    with pytest.raises(BadUrlError) as refusal:
        normalize(written)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("https://me:secret@a.example/x", True),
        ("https://me@a.example/", True),
        ("https://:secret@a.example/", True),
        ("https:\\\\me:secret@a.example", True),
        ("https://a.example/me:secret@x", False),
        ("https://a.example/?q=me@x", False),
        ("mailto:me@a.example", False),
        ("https://", False),
    ],
)
def test_credentials_are_noticed(written: str, found: bool) -> None:
    assert has_credentials(written) is found


def test_the_key_is_half_a_sha256() -> None:
    url = normalize("https://a.example/x?b=1&a=2")
    assert url_key(url) == hashlib.sha256(b"https://a.example/x?a=2&b=1").digest()[:16]


def test_the_policy_has_a_version() -> None:
    assert DEFAULT_POLICY.version == 2


NASTY_CHARACTERS = [*"aZ09%%%2eE41.../\\?#&==:@[]-_~ |^`{}'\"<>+;,!$*()\t\n\x00éß。①\u200d\ud800"]
NASTY = st.text(st.sampled_from(NASTY_CHARACTERS), max_size=40)
NASTY_URL = st.one_of(
    NASTY.map("https://a.example/".__add__),
    NASTY.map("http://".__add__),
    NASTY.map("https://a.example/?".__add__),
    st.text(max_size=40).map("https://a.example/".__add__),
    st.text(max_size=20).map("http://".__add__),
    NASTY,
)


@given(NASTY_URL, st.sampled_from([DEFAULT_POLICY, UrlPolicy(strip_trailing_slash=True), UrlPolicy(sort_query=False)]))
@settings(max_examples=1500, deadline=None)
def test_normalising_twice_changes_nothing(written: str, policy: UrlPolicy) -> None:
    try:
        once = normalize(written, policy)
    except BadUrlError:
        return
    assert normalize(once, policy) == once
    assert ada_url.normalize_url(once) == once, "the standard reads the result as it is written"
    assert once.isascii()
    assert once.isprintable()
    assert " " not in once


@given(
    st.lists(st.tuples(st.text("ab%c1é=", max_size=3), st.text("xy%2é+", max_size=3)), max_size=6),
    st.randoms(use_true_random=False),
)
@settings(deadline=None)
def test_the_order_of_parameters_does_not_matter(pairs: list[tuple[str, str]], shuffler: random.Random) -> None:
    shuffled = shuffler.sample(pairs, len(pairs))
    urls = {normalize("https://a.example/?" + "&".join(f"{n}={v}" for n, v in some)) for some in (pairs, shuffled)}
    assert len(urls) == 1
