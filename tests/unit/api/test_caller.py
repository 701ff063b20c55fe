"""Where a request comes from: headers of strangers mean nothing, and a foreign page is recognised."""

import socket
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from forager.api.caller import (
    Network,
    Site,
    find_unknown_host,
    ip_of,
    is_tls_for_host,
    read_caller,
    read_networks,
    site_of,
)

NONE = read_networks(())
PROXY = read_networks(["10.0.0.0/8", "::1"])


def ip_for(peer: str | None, *forwarded: str, trusted: Sequence[Network] = PROXY) -> str:
    lines = [(b"x-forwarded-for", each.encode("latin-1", "replace")) for each in forwarded]
    return read_caller(peer, "http", Headers(raw=lines), trusted).ip


@pytest.mark.parametrize(
    ("peer", "forwarded", "ip"),
    [
        ("192.0.2.7", "198.51.100.1", "192.0.2.7"),
        ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "203.0.113.9, 198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "198.51.100.1, 10.0.0.2", "198.51.100.1"),
        ("10.0.0.1", "198.51.100.1:4711", "198.51.100.1"),
        ("::1", "[2001:db8::1]:4711", "2001:db8::1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "rubbish", "0.0.0.0"),
        ("::ffff:192.0.2.7", "", "192.0.2.7"),
        (None, "", "127.0.0.1"),
    ],
)
def test_the_address_is_the_first_that_no_trusted_proxy_tells(peer: str | None, forwarded: str, ip: str) -> None:
    assert ip_for(peer, forwarded) == ip


def test_by_default_no_proxy_is_trusted() -> None:
    assert ip_for("127.0.0.1", "198.51.100.1", trusted=NONE) == "127.0.0.1"


def test_a_line_a_stranger_sent_stands_before_that_of_the_proxy() -> None:
    assert ip_for("10.0.0.1", "203.0.113.9", "198.51.100.1") == "198.51.100.1"


@given(st.text(max_size=200))
def test_no_header_breaks_it(text: str) -> None:
    ip_of(ip_for("10.0.0.1", text))
    assert ip_for("192.0.2.7", text) == "192.0.2.7"
    site_of({"origin": text, "host": text, "sec-fetch-site": text}, None)
    raw = text.encode("latin-1", "replace")
    read_caller("10.0.0.1", "http", Headers(raw=[(b"host", raw), (b"x-forwarded-proto", raw)]), PROXY)


@pytest.mark.parametrize(
    ("peer", "scheme", "host", "proto", "is_secure"),
    [
        ("127.0.0.1", "http", "127.0.0.1:8600", None, False),
        ("127.0.0.1", "http", "localhost:8600", None, False),
        ("::1", "http", "[::1]:8600", None, False),
        ("127.0.0.1", "https", "localhost", None, True),
        ("192.0.2.7", "http", "forager.example", None, True),
        ("192.0.2.7", "http", "localhost", None, True),
        ("127.0.0.1", "http", "forager.example", None, True),
        ("10.0.0.1", "http", "forager.example", "https", True),
        ("10.0.0.1", "http", "localhost", "http", True),
    ],
)
def test_a_cookie_goes_without_tls_only_within_the_machine(
    peer: str, scheme: str, host: str, proto: str | None, is_secure: bool
) -> None:
    headers = {"host": host} | ({"x-forwarded-proto": proto} if proto else {})
    caller = read_caller(peer, scheme, Headers(headers), PROXY)
    assert caller.is_secure is is_secure
    assert caller.cookie_name.startswith("__Host-") is is_secure


def test_a_household_of_ipv6_is_one_subject() -> None:
    one, two, far = (
        read_caller(ip, "http", Headers(), NONE) for ip in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1")
    )
    assert one.subject == two.subject != far.subject
    assert read_caller("192.0.2.7", "http", Headers(), NONE).subject == "ip:192.0.2.7"


@pytest.mark.parametrize(
    ("headers", "site"),
    [
        ({}, Site.UNTOLD),
        ({"sec-fetch-site": "same-origin"}, Site.SAME),
        ({"sec-fetch-site": "same-site"}, Site.FOREIGN),
        ({"sec-fetch-site": "cross-site"}, Site.FOREIGN),
        ({"sec-fetch-site": "none"}, Site.FOREIGN),
        ({"origin": "http://forager.example:8600"}, Site.SAME),
        ({"origin": "https://FORAGER.example:8600"}, Site.SAME),
        ({"origin": "https://public.example"}, Site.SAME),
        ({"origin": "https://forager.example"}, Site.FOREIGN),
        ({"origin": "https://evil.example"}, Site.FOREIGN),
        ({"origin": "https://forager.example:8600.evil.example"}, Site.FOREIGN),
        ({"origin": "https://forager.example:8600@evil.example"}, Site.FOREIGN),
        ({"origin": "null"}, Site.FOREIGN),
        ({"origin": ""}, Site.FOREIGN),
        ({"origin": "http://forager.example:8600", "sec-fetch-site": "cross-site"}, Site.FOREIGN),
        ({"origin": "https://evil.example", "sec-fetch-site": "same-origin"}, Site.FOREIGN),
    ],
)
def test_a_foreign_page_is_recognised(headers: dict[str, str], site: Site) -> None:
    assert site_of({"host": "forager.example:8600"} | headers, "https://public.example") is site


def test_without_a_host_nothing_is_ours() -> None:
    assert site_of({"origin": "null"}, None) is Site.FOREIGN
    assert site_of({"origin": "//"}, None) is Site.FOREIGN


def a_scope(**headers: str) -> dict[str, Any]:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    ends = {"server": ("127.0.0.1", 8600), "client": ("127.0.0.1", 4711)}
    return {"type": "http", "scheme": "http", "path": "/api/runs", "headers": raw, **ends}


@pytest.mark.parametrize(
    ("headers", "is_stray"),
    [
        ({}, True),
        ({"authorization": "Bearer fgr_secret"}, False),
        ({"authorization": "bearer fgr_secret"}, False),
        ({"authorization": "Bearer fgr_secret", "origin": "http://attacker.example"}, True),
        ({"authorization": "Bearer x"}, True),
        ({"authorization": "Basic Zm9vOmJhcg=="}, True),
        ({"authorization": ""}, True),
    ],
)
def test_only_a_program_with_a_token_may_use_any_name(headers: dict[str, str], is_stray: bool) -> None:
    assert (find_unknown_host(a_scope(host="attacker.example", **headers), None, NONE) is not None) is is_stray


def test_the_names_of_the_machine_are_ours() -> None:
    name = socket.gethostname()
    for each in (name, name.upper(), name.partition(".")[0]):
        assert find_unknown_host(a_scope(host=f"{each}:8600"), None, NONE) is None
    assert find_unknown_host(a_scope(host=f"{name}.attacker.example:8600"), None, NONE) is not None


@pytest.mark.parametrize(
    ("public_url", "host", "is_pinned"),
    [
        ("https://forager.example", "forager.example", True),
        ("https://forager.example:443", "forager.example:8600", True),
        ("https://forager.example:8443", "forager.example:8443", False),
        ("https://forager.example:8443", "forager.example", False),
        ("https://forager.example", "other.example:8443", False),
        (None, "forager.example", True),
        (None, "forager.example:443", True),
        (None, "forager.example:8443", False),
        (None, "[2001:db8::1]:8443", False),
        (None, "forager.example:rubbish", False),
    ],
)
def test_tls_is_asked_of_a_whole_host_only_on_its_own_port(public_url: str | None, host: str, is_pinned: bool) -> None:
    scope = a_scope(host=host, x_forwarded_proto="https")
    assert is_tls_for_host(scope, public_url, read_networks(["127.0.0.1"])) is is_pinned
