import gzip
import zlib

import pytest

from forager_playground import wire
from forager_playground.answer import Answer, redirect, refuse
from forager_playground.picture import render_png

PAGE = Answer(body=b"<p>hello</p>" * 100)


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b"", 400),
        (b"GET /", 400),
        (b"GET  / HTTP/1.1", 400),
        (b"GET / HTTP/1.1 more", 400),
        (b"GET page HTTP/1.1", 400),
        ("GET /ä HTTP/1.1".encode(), 400),
        (b"\x16\x03\x01\x02\x00", 400),
        (b"GET / HTTP/2.0", 505),
        (b"POST / HTTP/1.1", 405),
        (b"get / HTTP/1.1", 405),
    ],
)
def test_bad_request_lines_are_refused(line: bytes, status: int) -> None:
    with pytest.raises(wire.BadRequestError) as caught:
        wire.parse_request_line(line)
    assert caught.value.answer.status == status


def test_a_whole_url_is_a_target_too() -> None:
    assert wire.parse_request_line(b"GET http://127.0.0.1:80/a?b=c HTTP/1.1").target == "/a?b=c"
    assert wire.parse_request_line(b"HEAD http://127.0.0.1 HTTP/1.0") == ("HEAD", "/", False)


@pytest.mark.parametrize(
    ("block", "status"),
    [
        (b"no colon", 400),
        (b": empty", 400),
        (b"Host : x", 400),
        (b" folded: x", 400),
        (b"Content-Length: -1", 400),
        (b"Content-Length: 1, 1", 400),
        (b"Content-Length: 99999999", 413),
        (b"Transfer-Encoding: chunked", 411),
    ],
)
def test_bad_headers_are_refused(block: bytes, status: int) -> None:
    with pytest.raises(wire.BadRequestError) as caught:
        wire.parse_headers(block)
    assert caught.value.answer.status == status


@pytest.mark.parametrize(
    ("accepted", "takes"),
    [("gzip", True), ("br, GZIP;q=0.5", True), ("*", True), ("gzip;q=0", False), ("br", False), ("", False)],
)
def test_gzip_is_sent_to_those_who_take_it(accepted: str, takes: bool) -> None:
    headers = wire.parse_headers(f"Accept-Encoding: {accepted}".encode())
    assert headers.takes_gzip is takes


def test_a_reply_is_whole_and_its_parts_fit() -> None:
    plain, packed = (wire.render(PAGE, takes_gzip=takes) for takes in (False, True))
    assert plain.whole[plain.head_bytes :] == PAGE.body
    assert gzip.decompress(packed.whole[packed.head_bytes :]) == PAGE.body
    for reply in (plain, packed):
        head = reply.whole[: reply.head_bytes].decode()
        assert head.endswith("\r\n\r\n")
        assert f"Content-Length: {len(reply.whole) - reply.head_bytes}\r\n" in head
    assert plain.etag == packed.etag


def test_pictures_and_small_pages_are_not_packed() -> None:
    for answer in (Answer(body=b"x"), Answer(body=PAGE.body, content_type="image/png")):
        assert b"Content-Encoding" not in wire.render(answer, takes_gzip=True).whole


def test_only_good_pages_have_validators() -> None:
    assert wire.render(PAGE, takes_gzip=False).etag
    for answer in (refuse(503, "Later", retry_after_s=1), redirect("/x"), Answer(is_stable=False)):
        assert not wire.render(answer, takes_gzip=False).etag
    assert b"Retry-After: 1\r\n" in wire.render(refuse(503, "Later", retry_after_s=1), takes_gzip=False).whole


def test_unchanged_follows_the_validators() -> None:
    reply = wire.render(PAGE, takes_gzip=False)
    ask = wire.Headers()
    assert not wire.is_unchanged(reply, ask)
    assert wire.is_unchanged(reply, ask._replace(if_none_match=f'"x", W/{reply.etag}'))
    assert wire.is_unchanged(reply, ask._replace(if_none_match="*"))
    assert wire.is_unchanged(reply, ask._replace(if_modified_since=reply.last_modified))
    assert not wire.is_unchanged(reply, ask._replace(if_modified_since="Mon, 01 Jan 2020 00:00:00 GMT"))
    assert not wire.is_unchanged(reply, ask._replace(if_modified_since="yesterday"))
    assert not wire.is_unchanged(reply, ask._replace(if_modified_since="Mon, 01 Jan 2040 00:00:00"))
    assert not wire.is_unchanged(reply, ask._replace(if_none_match='"x"', if_modified_since=reply.last_modified))


def test_http_1_0_closes_unless_asked() -> None:
    old, new = (wire.RequestLine("GET", "/", is_new) for is_new in (False, True))
    asked = ("", "keep-alive", "close")
    assert [wire.keeps_alive(old, wire.Headers(connection=words)) for words in asked] == [False, True, False]
    assert [wire.keeps_alive(new, wire.Headers(connection=words)) for words in asked] == [True, True, False]


def test_pictures_are_real() -> None:
    png = render_png(24, 16, 1, "sky")
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert png.endswith(b"IEND\xaeB`\x82")
    size = int.from_bytes(png[33:37])
    assert png[37:41] == b"IDAT"
    assert len(zlib.decompress(png[41 : 41 + size])) == 16 * (1 + 24 * 3)
    assert png == render_png(24, 16, 1, "sky") != render_png(24, 16, 2, "sky")
