"""A jar takes what RFC 6265 takes, sends it only where it belongs, and never grows past its bounds."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.fetch.cookies import LONGEST_COOKIE, LONGEST_SESSION_S, MOST_BYTES, MOST_COOKIES, CookieJar
from forager.fetch.origin import split_url

NOW = datetime(2026, 1, 1, tzinfo=UTC)
URL = "https://shop.example/a/page?q=1"


def a_jar(*lines: str, url: str = URL) -> CookieJar:
    jar = CookieJar()
    jar.take(lines, *split_url(url), NOW)
    return jar


def sent(jar: CookieJar, url: str = URL, now: datetime = NOW) -> str:
    line = jar.line_for(*split_url(url), now)
    assert not line or (line.startswith("Cookie: ") and line.endswith("\r\n"))
    return line.removeprefix("Cookie: ").removesuffix("\r\n")


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("a=1", "a=1"),
        (" a = 1 ; HttpOnly; SameSite=Lax", "a=1"),
        ('a="quoted 1"', 'a="quoted 1"'),
        ("a=1=2", "a=1=2"),
        ("a=", "a="),
        ("a=1; Path=/", "a=1"),
        ("a=1; Path=/a", "a=1"),
        ("a=1; Path=/a/page", "a=1"),
        ("a=1; Path=elsewhere", "a=1"),
        ("a=1; Domain=shop.example", "a=1"),
        ("a=1; Domain=.SHOP.example", "a=1"),
        ("a=1; Secure", "a=1"),
        ("a=1; Max-Age=60", "a=1"),
        ("a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "a=1"),
        ("a=1; Expires=Fri, 02 Jan 2026 00:00:00 GMT", "a=1"),
        ("a=1; Expires=whenever", "a=1"),
        ("a=1; Max-Age=99999999999999999999", "a=1"),
    ],
)
def test_a_cookie_comes_back(line: str, value: str) -> None:
    assert sent(a_jar(line)) == value


@pytest.mark.parametrize(
    "line",
    [
        "",
        "no pair",
        "=1",
        "a=1; Domain=other.example",
        "a=1; Domain=hop.example",
        "a=1; Domain=www.shop.example",
        "a=1; Path=/b",
        "a=1; Path=/a/pag",
        "a=1; Max-Age=0",
        "a=1; Max-Age=-5",
        "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
        "a=\u00fc",
        "a=1\r\nX-Evil: 1",
        "a=1\x01",
        "a=" + "x" * LONGEST_COOKIE,
    ],
)
def test_a_cookie_that_is_broken_or_not_for_here_is_left_out(line: str) -> None:
    assert sent(a_jar(line)) == ""


def test_a_cookie_goes_only_where_it_belongs() -> None:
    own, wide = a_jar("own=1; Path=/"), a_jar("wide=1; Path=/; Domain=shop.example")
    assert sent(own, "https://shop.example/b") == "own=1"
    assert sent(own, "https://www.shop.example/b") == ""
    assert sent(wide, "https://www.shop.example/b") == "wide=1"
    assert sent(wide, "https://myshop.example/b") == ""
    assert sent(a_jar("in=1"), "https://shop.example/a/other") == "in=1"
    assert sent(a_jar("in=1"), "https://shop.example/ab") == ""


def test_a_cookie_for_a_whole_public_suffix_stays_in_its_domain() -> None:
    jar = a_jar("a=1; Domain=example; Path=/", url="https://www.shop.example/")
    assert sent(jar, "https://www.shop.example/") == sent(jar, "https://shop.example/") == "a=1"
    assert sent(jar, "https://other.example/") == ""


def test_a_secure_cookie_is_neither_taken_nor_sent_in_the_open() -> None:
    assert sent(a_jar("a=1; Secure; Path=/"), "http://shop.example/") == ""
    assert sent(a_jar("a=1; Secure", url="http://shop.example/")) == ""


def test_an_address_is_no_domain_of_others() -> None:
    assert len(a_jar("a=1; Domain=0.0.1", url="http://127.0.0.1/")) == 0
    assert len(a_jar("a=1; Domain=127.0.0.1", url="http://127.0.0.1/")) == 1


def test_cookies_end_when_they_said() -> None:
    jar = a_jar("a=1; Max-Age=60")
    assert sent(jar, now=NOW + timedelta(seconds=59)) == "a=1"
    assert sent(jar, now=NOW + timedelta(seconds=60)) == ""


def test_a_cookie_set_again_is_replaced_and_one_that_has_ended_is_deleted() -> None:
    jar = a_jar("a=1", "b=2", "a=3")
    assert sent(jar) == "a=3; b=2"
    jar.take(["a=; Max-Age=0"], *split_url(URL), NOW)
    assert sent(jar) == "b=2"


def test_the_longest_path_comes_first() -> None:
    assert sent(a_jar("a=1; Path=/", "b=2; Path=/a", "c=3; Path=/")) == "b=2; a=1; c=3"


def test_a_bomb_costs_the_site_its_own_cookies() -> None:
    many = a_jar(*(f"c{number}=x" for number in range(10_000)))
    assert len(many) == MOST_COOKIES
    assert f"c{9_999}=x" in sent(many)
    large = a_jar(*(f"c{number}={'x' * 4000}" for number in range(100)))
    assert 0 < large.size <= MOST_BYTES


@given(
    st.lists(st.text(max_size=300), max_size=80), st.lists(st.sampled_from(["path", "domain", "expires"]), max_size=3)
)
def test_no_line_breaks_the_jar_or_the_request(texts: list[str], names: list[str]) -> None:
    jar = a_jar(*(f"n{i}={text}; {'; '.join(f'{name}={text}' for name in names)}" for i, text in enumerate(texts)))
    jar.take(texts, *split_url(URL), NOW)
    assert len(jar) <= MOST_COOKIES
    assert jar.size <= MOST_BYTES
    line = sent(jar)
    assert line.isascii()
    assert not line or line.isprintable()


def test_a_jar_survives_storage() -> None:
    origin = split_url("https://example.org/")[0]
    now = datetime(2026, 1, 1, tzinfo=UTC)
    jar = CookieJar()
    jar.take(["sid=1; Path=/; Secure", "day=2; Max-Age=60", "gone=3; Max-Age=0"], origin, "/", now)
    again = CookieJar.load(jar.dump(now), now)
    assert again.line_for(origin, "/", now) == jar.line_for(origin, "/", now) == "Cookie: sid=1; day=2\r\n"
    assert (jar.changes, again.changes) == (2, 0)
    again.take(["day=2; Max-Age=90"], origin, "/", now)
    assert again.changes == 0
    later = CookieJar.load(jar.dump(now), now + timedelta(seconds=61))
    assert later.names(now) == {"sid"}
    assert not CookieJar.load(jar.dump(now), now + timedelta(seconds=LONGEST_SESSION_S + 1))
    assert CookieJar().dump(now) == ""
    assert "1" not in repr(jar).replace("CookieJar of 2", "")
