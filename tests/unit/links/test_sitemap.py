"""Sitemaps: pages and indexes, real-looking and hostile."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.seeds.found import BadLine, Found, Nested, Seed
from forager.seeds.sitemap import read_sitemap
from forager.urls import sitemap as module

URLSET = """<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <url><loc> https://a.example/?x=1&amp;y=2 </loc><lastmod>2024-01-01</lastmod><priority>0.8</priority>
    <image:image><image:loc>https://a.example/picture.jpg</image:loc></image:image></url>
  <url><loc><![CDATA[https://a.example/ü]]></loc></url>
  <url><loc>/relative</loc></url>
  <url><lastmod>2024-01-01</lastmod></url>
  <url><loc>https://b.example/</loc></url>
</urlset>"""
INDEX = """<sitemapindex><sitemap><loc>https://a.example/one.xml</loc></sitemap>
<sitemap><loc>https://a.example/two.xml.gz</loc></sitemap></sitemapindex>"""


def read(text: str | bytes, step: int = 10_000_000) -> list[Found]:
    data = text.encode() if isinstance(text, str) else text
    return list(read_sitemap(data[start : start + step] for start in range(0, len(data), step)))


def test_pages_and_what_is_none() -> None:
    everything = read(URLSET)
    assert [found for found in everything if isinstance(found, Seed)] == [
        Seed("https://a.example/?x=1&y=2", None, 1),
        Seed("https://a.example/%C3%BC", None, 2),
        Seed("https://b.example/", None, 4),
    ]
    assert [found.line for found in everything if isinstance(found, BadLine)] == [3]


@given(st.integers(1, 60))
def test_it_may_come_in_pieces(step: int) -> None:
    assert read(URLSET, step) == read(URLSET)


def test_an_index() -> None:
    assert read(INDEX) == [Nested("https://a.example/one.xml", 1), Nested("https://a.example/two.xml.gz", 2)]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "latin-1"])
def test_encodings(encoding: str) -> None:
    declared = encoding.removesuffix("-sig").replace("latin-1", "iso-8859-1")
    text = f'<?xml version="1.0" encoding="{declared}"?><urlset><url><loc>https://a.example/é</loc></url></urlset>'
    assert read(text.encode(encoding)) == [Seed("https://a.example/%C3%A9", None, 1)]


def test_the_plain_text_form() -> None:
    assert read("https://a.example/\nhttps://b.example/x\n") == [
        Seed("https://a.example/", None, 1),
        Seed("https://b.example/x", None, 2),
    ]


LAUGHS = '<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;&lol;">]>'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (LAUGHS + "<urlset><url><loc>https://a.example/&lol2;</loc></url></urlset>", "document type"),
        ('<!DOCTYPE x SYSTEM "file:///etc/passwd"><urlset/>', "document type"),
        ("<!DOCTYPE html><html><body>Not found</body></html>", "document type"),
        ("<urlset><url><loc>&undefined;</loc></url></urlset>", "is no XML"),
        ("<html><body>Not found</body></html>", "begins with <html>"),
        ("<urlset>" + "<a>" * 100, "deep in each other"),
        ("<urlset><url><loc>https://a.example/</loc></url>", "is no XML"),
        ("<urlset><url></urlset>", "is no XML"),
    ],
)
def test_what_is_no_sitemap_ends_with_the_reason(text: str, why: str) -> None:
    last = read(text)[-1]
    assert isinstance(last, BadLine)
    assert why in last.why
    assert "root:" not in last.why


def test_what_came_before_the_damage_is_kept() -> None:
    found = read("<urlset><url><loc>https://a.example/</loc></url><url><loc>https://b.exa")
    assert found[0] == Seed("https://a.example/", None, 1)
    assert isinstance(found[1], BadLine)
    assert found[1].line == 2


def test_a_text_without_end_is_one_bad_entry() -> None:
    long = "https://a.example/" + "x" * 500_000
    found = read(f"<urlset><url><loc>{long}</loc></url><url><loc>https://b.example/</loc></url></urlset>", 1000)
    assert isinstance(found[0], BadLine)
    assert found[1] == Seed("https://b.example/", None, 2)


def test_the_limits_of_the_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = "".join(f"<url><loc>https://a.example/{number}</loc></url>" for number in range(module.MOST_ENTRIES + 1))
    found = read(f"<urlset>{entries}</urlset>")
    assert len(found) == module.MOST_ENTRIES + 1
    assert isinstance(found[-1], BadLine)
    assert "50,000 entries" in found[-1].why
    monkeypatch.setattr(module, "MOST_BYTES", 1000)
    found = read(f"<urlset>{entries}</urlset>", 100)
    assert 10 < len(found) < 30
    assert "larger than" in found[-1][1]  # type: ignore[operator]


@given(st.binary(max_size=500) | st.text(max_size=300).map(lambda text: f"<urlset>{text}</urlset>".encode()))
def test_nothing_breaks_the_reader(data: bytes) -> None:
    for found in read(data, 7):
        assert isinstance(found, Seed | BadLine | Nested)
