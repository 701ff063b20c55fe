"""What a person may write for a proxy, and that a refused password is not repeated."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.errors import UsageError
from forager.proxies.address import ProxyAddress, parse_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("http://proxy.example:3128", ProxyAddress("http", "proxy.example", 3128)),
        ("proxy.example:3128", ProxyAddress("http", "proxy.example", 3128)),
        ("HTTPS://Proxy.Example.:8443/", ProxyAddress("https", "proxy.example", 8443)),
        ("socks5://user:pass@10.0.0.1:1080", ProxyAddress("socks5", "10.0.0.1", 1080, "user", "pass")),
        ("http://user@[2001:db8::1]:3128", ProxyAddress("http", "2001:db8::1", 3128, "user")),
        ("http://us%40er:p%3A%2F%40ss@host:1", ProxyAddress("http", "host", 1, "us@er", "p:/@ss")),
        (" http://host:1\n", ProxyAddress("http", "host", 1)),
    ],
)
def test_addresses(text: str, address: ProxyAddress) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("http://host", "has no port"),
        ("http://host:0", "has no port"),
        ("http://host:99999", "has no port"),
        ("http://:3128", "names no host"),
        ("ftp://host:21", "is no proxy Forager can use"),
        ("socks4://host:1080", "is no proxy Forager can use"),
        ("socks5h://host:1080", "write socks5:// instead"),
        ("http://host:1/path", "has something behind its port"),
        ("http://host:1?x", "has something behind its port"),
        ("http://:secret@host:1", "a password and no user name"),
        ("http://a%3Ab:secret@host:1", "holds a colon"),
        (f"http://user:{'secret' * 50}@host:1", "too long"),
        ("http://user:secret%0d%0aX-Evil:1@host:1", "control characters"),
        ("http://ho st:1", "names no host"),
        ("http://[::1:3128", "no address of a proxy"),
        ("", "names no host"),
    ],
)
def test_what_is_refused_is_refused_in_a_sentence_without_the_password(text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint) as caught:
        parse_address(text)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text())
def test_nothing_else_is_raised(text: str) -> None:
    try:
        address = parse_address(text)
    except UsageError:
        return
    assert address.host
    assert 0 < address.port < 65536
