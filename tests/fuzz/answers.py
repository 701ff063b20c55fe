"""HTTP answers: what is right is read to the byte, however it is cut; what is wrong is an error, never a wrong body."""

import gzip
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

import brotli  # type: ignore[import-untyped]
from hypothesis import strategies as st
from tests.fuzz.target import over
from tests.integration.fetch.bombs import squeeze_zstd

from forager.errors import DecodeError, TooLargeError, VisitError
from forager.fetch.cookies import MOST_BYTES, MOST_COOKIES, CookieJar
from forager.fetch.decode import decode
from forager.fetch.origin import split_url
from forager.fetch.response import ResponseReader
from forager.fetch.retry_after import parse_retry_after

LIMIT = 3000
NOW = datetime(2026, 1, 1, tzinfo=UTC)
BODIES = st.binary(max_size=400)
CUTS = st.lists(st.integers(0, 1200), max_size=8)
NAMES = st.sampled_from(["X-A", "Server", "ETag", "content-language", "Set-Cookie", "Vary"])
VALUES = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=30)
HEADERS = st.lists(st.tuples(NAMES, VALUES), max_size=6)
STATUS = st.sampled_from([200, 201, 206, 299])
SIZES = st.one_of(st.none(), st.lists(st.integers(1, 100), max_size=5))
DAMAGE = st.lists(st.tuples(st.integers(0, 500), st.integers(0, 3), st.binary(max_size=5)), max_size=6)


class Message(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes
    chunks: list[int] | None
    """Sizes; None: in one piece."""
    has_length: bool
    """Else it goes up to the end of the connection."""

    def write(self) -> bytes:
        head = f"HTTP/1.1 {self.status} Any Words\r\n" + "".join(f"{name}: {text}\r\n" for name, text in self.headers)
        if self.chunks is None:
            length = f"Content-Length: {len(self.body)}\r\n" if self.has_length else ""
            return (head + length).encode() + b"\r\n" + self.body
        chunks, rest = b"", self.body
        for size in [*self.chunks, len(self.body)]:
            piece, rest = rest[:size], rest[size:]
            if piece:
                chunks += b"%x\r\n%b\r\n" % (len(piece), piece)
        return head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"

    def joined_headers(self) -> dict[str, str]:
        joined: dict[str, str] = {}
        for name, text in ((name.lower(), text.strip()) for name, text in self.headers):
            joined[name] = f"{joined[name]}, {text}" if name in joined else text
        return joined


MESSAGES = st.builds(Message, STATUS, HEADERS, BODIES, SIZES, st.booleans())


def a_reader() -> ResponseReader:
    return ResponseReader("a.example", lambda _: True, LIMIT, may_cut=False)


def feed(data: bytes, cuts: list[int]) -> ResponseReader:
    """Piece by piece until it is done, then the end of the connection."""
    reader = a_reader()
    edges = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    for start, end in pairwise(edges):
        if not reader.is_done and end > start:
            reader.feed(data[start:end])
    if not reader.is_done:
        reader.end("")
    return reader


@over(MESSAGES, CUTS)
def a_right_answer_is_read_exactly(message: Message, cuts: list[int]) -> None:
    reader = feed(message.write(), cuts)
    assert reader.is_done
    assert (reader.status_code, bytes(reader.body)) == (message.status, message.body)
    assert reader.is_exact is (message.chunks is not None or message.has_length)
    wanted = message.joined_headers()
    assert {name: value for name, value in reader.headers.items() if name in wanted} == wanted


@over(MESSAGES, DAMAGE, CUTS)
def a_damaged_answer_is_an_answer_or_an_error(
    message: Message, damage: list[tuple[int, int, bytes]], cuts: list[int]
) -> None:
    data = message.write()
    for place, gone, put in damage:
        data = data[:place] + put + data[place + gone :]
    whole, in_pieces = feed_or_fail(data, []), feed_or_fail(data, cuts)
    if whole is None or in_pieces is None:
        assert whole is in_pieces, "where the pieces end makes no difference"
        return
    assert (whole.status_code, whole.headers, whole.body) == (in_pieces.status_code, in_pieces.headers, in_pieces.body)
    assert len(whole.body) <= LIMIT
    assert not any(mark in value for value in whole.headers.values() for mark in "\0\r\n")


def feed_or_fail(data: bytes, cuts: list[int]) -> ResponseReader | None:
    try:
        return feed(data, cuts)
    except VisitError:
        return None


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: bytes(brotli.compress(data, quality=1)),
    "zstd": squeeze_zstd,
}


@over(st.lists(st.sampled_from(sorted(PACKERS)), max_size=4), BODIES, DAMAGE, st.integers(0, 800))
def codings_are_undone(codings: list[str], body: bytes, damage: list[tuple[int, int, bytes]], limit: int) -> None:
    packed = body
    for coding in codings:
        packed = PACKERS[coding](packed)
    name = ", ".join(codings)
    for place, gone, put in damage:
        packed = packed[:place] + put + packed[place + gone :]
    try:
        plain, is_broken = decode(packed, name, limit)
    except (DecodeError, TooLargeError):
        assert damage or len(codings) > 3 or len(body) > limit or any(len(packed) > limit for _ in codings)
        return
    assert len(plain) <= limit or not codings
    if not damage:
        assert (plain, is_broken) == (body, False)


LINES = st.lists(
    st.one_of(
        st.text(max_size=60),
        st.builds(
            "{}={}; {}={}".format,
            st.text(max_size=8),
            st.text(max_size=60),
            st.sampled_from(["Path", "Domain", "Max-Age", "Expires", "Secure", "domain"]),
            st.one_of(
                st.text(max_size=12), st.sampled_from(["/", "/a", "a.example", ".a.example", "example", "-1", "9"])
            ),
        ),
    ),
    max_size=60,
)


@over(LINES, st.text("/ab?=", max_size=8).map("https://a.example/".__add__))
def cookies_stay_small_and_sendable(lines: list[str], url: str) -> None:
    jar = CookieJar()
    jar.take(lines, *split_url("https://a.example/a/b"), NOW)
    jar.take(lines, *split_url(url), NOW)
    assert len(jar) <= MOST_COOKIES
    assert jar.size <= MOST_BYTES
    line = jar.line_for(*split_url(url), NOW)
    assert not line or line.removesuffix("\r\n").isprintable()
    for stranger in ("https://b.example/", "https://aa.example/", "http://example/"):
        assert jar.line_for(*split_url(stranger), NOW) == ""


@over(st.one_of(st.text(max_size=40), st.integers().map(str), st.floats().map(str), st.datetimes().map(str)))
def waits_are_sane(value: str) -> None:
    wait_s = parse_retry_after(value, NOW)
    assert wait_s is None or 0 <= wait_s <= 86_400
