"""What of a URL goes to the server: host, port, path and query. Never userinfo, never a fragment, never a line end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.errors import ConnectError
from forager.fetch.origin import Origin, build_request, split_url


@pytest.mark.parametrize(
    ("url", "origin", "target"),
    [
        ("http://a.example/", Origin(False, "a.example", 80, "a.example"), "/"),
        ("https://a.example/b?c=d/e", Origin(True, "a.example", 443, "a.example"), "/b?c=d/e"),
        ("http://a.example:8080/b#c", Origin(False, "a.example", 8080, "a.example:8080"), "/b"),
        ("http://a.example:80/b", Origin(False, "a.example", 80, "a.example"), "/b"),
        ("https://a.example:80/b", Origin(True, "a.example", 80, "a.example:80"), "/b"),
        ("http://user:pa@ss@a.example/b@c", Origin(False, "a.example", 80, "a.example"), "/b@c"),
        ("http://[::1]:8080/", Origin(False, "::1", 8080, "[::1]:8080"), "/"),
        ("http://[::1]/", Origin(False, "::1", 80, "[::1]"), "/"),
        ("http://a.example", Origin(False, "a.example", 80, "a.example"), "/"),
        ("http://a.example?b=/c", Origin(False, "a.example", 80, "a.example"), "/?b=/c"),
        ("http://a.example#b/c", Origin(False, "a.example", 80, "a.example"), "/"),
    ],
)
def test_a_url_falls_into_origin_and_target(url: str, origin: Origin, target: str) -> None:
    found, path = split_url(url)
    assert (found[:4], path) == (origin[:4], target)


@pytest.mark.parametrize(
    "url",
    ["", "a.example", "//a.example/", "mailto:a@b", "http://", "http://@/", "http://a:b/", "http://a:99999/", "http://[::1/",
     "http://[::1]x/", "http://a\r\nb/", "http://a/\r\nX: y", "http://a:-1/", "http://a:1_0/"],
)  # fmt: skip
def test_what_cannot_be_dialled_is_one_error(url: str) -> None:
    with pytest.raises(ConnectError):
        split_url(url)


@given(st.text(max_size=40), st.text(max_size=20), st.text(max_size=20))
def test_nothing_becomes_a_header_of_its_own(path: str, etag: str, last_modified: str) -> None:
    try:
        origin, target = split_url(f"http://a.example/{path}")
    except ConnectError:
        return
    request = build_request(origin, target, "User-Agent: x\r\n", etag, last_modified)
    lines = request.split(b"\r\n")
    assert lines[0] == f"GET {target} HTTP/1.1".encode()
    assert lines[0].count(b" ") == 2
    assert {line.partition(b":")[0] for line in lines[1:] if line} <= {
        b"Host",
        b"User-Agent",
        b"If-None-Match",
        b"If-Modified-Since",
    }
