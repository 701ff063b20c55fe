"""Whatever a server sends, and wherever it is cut, an answer or a typed error comes out, and never the wrong body."""

import gzip
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forager.errors import TooLargeError, VisitError
from forager.fetch.documents import PdfSniff
from forager.fetch.response import ResponseReader

BODY = b"<title>Hello</title>" * 3
HEAD = b'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: "v1"\r\nX-A: 1\r\nX-A: 2\r\n'
ANSWERS = [
    HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY,
    HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"14\r\n" + BODY[:20] + b"\r\n28\r\n" + BODY[20:] + b"\r\n0\r\n\r\n",
    HEAD + b"\r\n" + BODY,
    b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD.replace(b"200", b"404") + b"Content-Length: 60\r\n\r\n" + BODY,
    b"HTTP/1.0 304 Not Modified\r\nContent-Length: 60\r\n\r\n",
]
LIMIT = 1000

pieces = st.lists(st.integers(0, 300), max_size=8)


def a_reader() -> ResponseReader:
    return ResponseReader("a.example", lambda _: True, LIMIT, may_cut=False)


def feed(reader: ResponseReader, data: bytes, cuts: list[int]) -> None:
    """Piece by piece until it is done, then the end of the connection."""
    edges = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    for start, end in pairwise(edges):
        if not reader.is_done:
            reader.feed(data[start:end])
    if not reader.is_done:
        reader.end("")


@given(st.sampled_from(ANSWERS), pieces)
def test_an_answer_is_the_same_however_it_is_cut_in_pieces(answer: bytes, cuts: list[int]) -> None:
    whole, in_pieces = a_reader(), a_reader()
    feed(whole, answer, [])
    feed(in_pieces, answer, cuts)
    for reader in (whole, in_pieces):
        assert bytes(reader.body) == (BODY if reader.status_code == 200 else b"")
    assert (whole.status_code, whole.headers, whole.is_exact) == (
        in_pieces.status_code,
        in_pieces.headers,
        in_pieces.is_exact,
    )


@given(st.sampled_from(ANSWERS), pieces, st.lists(st.tuples(st.integers(0, 300), st.binary(max_size=4)), max_size=5))
@settings(max_examples=500)
def test_a_damaged_answer_is_an_answer_or_a_typed_error(
    answer: bytes, cuts: list[int], damage: list[tuple[int, bytes]]
) -> None:
    for place, put in damage:
        answer = answer[:place] + put + answer[place + 1 :]
    reader = a_reader()
    try:
        feed(reader, answer, cuts)
    except VisitError:
        return
    assert reader.is_done
    assert len(reader.body) <= LIMIT
    assert 200 <= reader.status_code <= 999
    assert not any("\0" in value or "\r" in value or "\n" in value for value in reader.headers.values())


@given(st.binary(max_size=400), pieces)
def test_arbitrary_bytes_are_a_typed_error(data: bytes, cuts: list[int]) -> None:
    reader = a_reader()
    try:
        feed(reader, data, cuts)
    except VisitError:
        return
    assert data.lstrip(b"\r\n").startswith((b"HTTP/", b"RTSP/", b"ICE/"))


def test_a_long_body_in_tiny_chunks_is_read_and_counted() -> None:
    reader = a_reader()
    feed(reader, HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * LIMIT + b"0\r\n\r\n", [])
    assert (bytes(reader.body), reader.is_exact) == (b"x" * LIMIT, True)


def sniff(body: bytes, *, headers: bytes = b"", cuts: tuple[int, ...] = ()) -> ResponseReader:
    """Reads a file of any type where only PDF files are wanted."""
    reader = ResponseReader("a.example", lambda _: False, LIMIT, may_cut=False, sniff=PdfSniff())
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n" + headers
    feed(reader, head + b"Content-Length: %d\r\n\r\n" % len(body) + body, list(cuts))
    return reader


@given(st.integers(80, 140))
def test_a_wanted_file_of_any_type_is_read_whole(cut: int) -> None:
    assert bytes(sniff(b"%PDF-1.7 and more", cuts=(cut,)).body) == b"%PDF-1.7 and more"


def test_a_wanted_file_is_recognised_below_its_compression() -> None:
    packed = gzip.compress(b"%PDF-1.7 and more")
    assert bytes(sniff(packed, headers=b"Content-Encoding: gzip\r\n", cuts=(110,)).body) == packed


@pytest.mark.parametrize("body", [b"PK\x03\x04" + bytes(50), b"%PD", b"", bytes(500_000)])
def test_other_files_are_not_kept_however_large(body: bytes) -> None:
    reader = sniff(body, cuts=(90,))
    assert (reader.status_code, bytes(reader.body), reader.is_done) == (200, b"", True)


def test_a_wanted_file_may_be_too_large() -> None:
    with pytest.raises(TooLargeError):
        sniff(b"%PDF-1.7" + bytes(LIMIT))
