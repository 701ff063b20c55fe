"""Sitemaps and seed lists: what was written is read back, and no bytes do more than end the list early."""

import gzip
from collections.abc import Callable, Iterable
from xml.sax.saxutils import escape

from hypothesis import strategies as st
from tests.fuzz.target import over

from forager.errors import BadListError, BadUrlError
from forager.seeds.found import BadLine, Found, Nested, Seed
from forager.seeds.sitemap import read_sitemap
from forager.seeds.table import Shape, read_list
from forager.seeds.unpack import unpack
from forager.urls.normalize import normalize

URLS = st.text("ab/?&=<>'\"é", max_size=12).map("https://a.example/".__add__)
HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def pieces_of(data: bytes, size: int) -> Iterable[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


@over(st.lists(URLS, max_size=8), st.booleans(), st.booleans(), st.integers(1, 200))
def a_sitemap_is_read_back(urls: list[str], is_index: bool, is_packed: bool, size: int) -> None:
    root, entry = ("sitemapindex", "sitemap") if is_index else ("urlset", "url")
    inside = "".join(f"<{entry}><loc> {escape(url)}\n</loc><lastmod>x</lastmod></{entry}>" for url in urls)
    data = f"{HEAD}<{root} {SPACE}>{inside}</{root}>".encode()
    found = list(read_sitemap(unpack(pieces_of(gzip.compress(data) if is_packed else data, size))))
    wanted: list[Found] = []
    for number, url in enumerate(urls, start=1):
        wanted.append(Nested(normalize(url), number) if is_index else Seed(normalize(url), None, number))
    assert found == wanted


BITS = st.one_of(
    st.sampled_from(
        [
            b"<urlset>", b"</urlset>", b"<url>", b"</url>", b"<loc>", b"</loc>", b"http://a.example/", b"\n", b"<!--",
            b"<sitemapindex>", b"<sitemap>", b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"&a;", b"&amp;", b"<![CDATA[", b"]]>",
            b"<?xml version='1.0'?>", b"\xef\xbb\xbf", b"\xff\xfe", b"\0", b"<x:loc xmlns:x='y'>", b"\x1f\x8b\x08",
        ]
    ),
    st.binary(max_size=8),
)  # fmt: skip


@over(st.lists(BITS, max_size=30).map(b"".join), st.integers(1, 50))
def any_bytes_are_a_sitemap(data: bytes, size: int) -> None:
    _assert_sane(lambda: read_sitemap(unpack(pieces_of(data, size))))


LINES = st.one_of(
    st.sampled_from(
        [b"a.example", b"7,a.example", b"rank,domain", b"https://a.example/x", b"# note", b'"', b"url;rank"]
    ),
    st.sampled_from(
        [b"1;a.example;x", b"a.example\t3", b",", b"mailto:x", b"http://u:p@a.example/", b"\xef\xbb\xbf", b"\0"]
    ),
    st.binary(max_size=12),
)
LISTS = st.lists(st.tuples(LINES, st.sampled_from([b"\n", b"\r\n", b"\r"])), max_size=15).map(
    lambda lines: b"".join(line + end for line, end in lines)
)
SHAPES: st.SearchStrategy[Shape] = st.sampled_from(["auto", "lines", "csv"])


@over(LISTS, SHAPES, st.integers(1, 60))
def any_bytes_are_a_list(data: bytes, shape: Shape, size: int) -> None:
    def in_pieces() -> Iterable[Found]:
        return read_list(unpack(pieces_of(data, size)), shape)

    _assert_sane(in_pieces)
    whole = list(read_list((data,), shape)) if not data.startswith(b"\x1f\x8b") else None
    assert whole is None or list(in_pieces()) == whole, "where the pieces end makes no difference"


def _assert_sane(read: Callable[[], Iterable[Found]]) -> None:
    try:
        found = list(read())
    except (BadListError, BadUrlError):
        raise AssertionError("a bad list is a bad line and no error") from None
    for item in found:
        if isinstance(item, BadLine):
            assert item.why.endswith(".")
        else:
            assert normalize(item.url) == item.url
            assert "@" not in item.url.split("/")[2]
