# ruff: noqa: E501
"""Feeds and sitemaps are pages that consist of links; hostile ones end soon and give what can be had."""

import gzip
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.parsing.pages import TEXTS, reading
from tests.unit.parsing.test_extract_properties import assert_clean

from forager.fetch.models import Fetched
from forager.parsing.dates import date_in_path, parse_date
from forager.parsing.models import Listing
from forager.parsing.page import read

RSS = f"""<?xml version="1.0" encoding="utf-8"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"
xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>Harbour &amp; sea</title><link>https://a.example/</link>
<atom:link href="https://a.example/feed" rel="self"/><description>All the news</description><language>en-GB</language>
<image><title>Logo</title><url>https://a.example/logo.png</url><link>https://a.example/logo</link></image>
<item><title>First &lt;b&gt;post&lt;/b&gt;</title><link>https://a.example/1</link><dc:creator>Ann</dc:creator>
<pubDate>Tue, 05 Mar 2024 10:00:00 +0100</pubDate><description><![CDATA[<p>{TEXTS["en"]}</p>]]></description></item>
<item><title>Second</title><guid>https://a.example/2</guid><pubDate>Wed, 06 Mar 2024 10:00:00 GMT</pubDate></item>
<item><title>Third</title><guid isPermaLink="false">tag:3</guid></item></channel></rss>"""
RDF = """<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="https://a.example/rdf"><title>Old feed</title><link>https://a.example/</link></channel>
<item rdf:about="https://a.example/1"><title>One</title><link>https://a.example/1</link>
<dc:date>2024-03-05T09:00:00Z</dc:date></item></rdf:RDF>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><title>Blog</title><subtitle>Über alles</subtitle>
<link href="https://a.example/"/><link rel="self" href="https://a.example/atom"/><author><name>Jo</name></author>
<entry><title>Eins</title><link rel="edit" href="/edit/1"/><link rel="alternate" href="/1"/><id>urn:1</id>
<updated>2024-03-05T09:30:00Z</updated><summary>kurz</summary></entry></feed>"""
JSON = json.dumps(
    {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "JSON",
        "home_page_url": "https://a.example/",
        "items": [
            {"id": "1", "url": "https://a.example/1", "title": "Eins\0", "date_published": "2024-03-05T09:30:00Z"}
        ],
    }
)


def links(body: str | bytes, content_type: str) -> list[tuple[str, str, str]]:
    return [tuple(link) for link in reading(body, content_type=content_type).links]  # type: ignore[misc]


def test_rss_gives_its_items() -> None:
    page = reading(RSS, content_type="application/rss+xml")
    assert [tuple(link) for link in page.links] == [
        ("https://a.example/", "", "alternate"),
        ("https://a.example/1", "First post", "feed"),
        ("https://a.example/2", "Second", "feed"),
    ]
    assert (page.title, page.description, page.language) == ("Harbour & sea", "All the news", "en-GB")
    assert page.modified_at == datetime(2024, 3, 6, 10, tzinfo=UTC)
    assert "lighthouse" in page.text
    assert page.flags == ()


@pytest.mark.parametrize(
    ("body", "content_type", "title", "href", "anchor"),
    [
        (RDF, "application/rdf+xml", "Old feed", "https://a.example/1", "One"),
        (ATOM, "application/atom+xml; charset=utf-8", "Blog", "/1", "Eins"),
        (JSON, "application/feed+json", "JSON", "https://a.example/1", "Eins"),
        (JSON, "application/json", "JSON", "https://a.example/1", "Eins"),
        (RDF, "text/html", "Old feed", "https://a.example/1", "One"),
        (ATOM, "text/xml", "Blog", "/1", "Eins"),
    ],
)
def test_feeds_of_every_kind(body: str, content_type: str, title: str, href: str, anchor: str) -> None:
    page = reading(body, content_type=content_type)
    assert page.title == title
    assert tuple(page.links[-1]) == (href, anchor, "feed")
    assert page.modified_at is not None
    assert page.modified_at.date().isoformat() == "2024-03-05"


SITEMAP = """<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"
xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
<url><loc> https://a.example/one </loc><lastmod>2024-03-05</lastmod><image:image><image:loc>https://a.example/1.jpg</image:loc>
</image:image><xhtml:link rel="alternate" hreflang="de" href="https://a.example/de/one"/></url>
<url><loc>https://a.example/two</loc><video:video><video:content_loc>https://a.example/2.mp4</video:content_loc></video:video>
<news:news><news:publication_date>2020-01-01</news:publication_date><news:title>N</news:title></news:news></url></urlset>"""


@pytest.mark.parametrize("packed", [False, True])
def test_a_sitemap_gives_its_pages_with_their_dates(packed: bool) -> None:
    body = gzip.compress(SITEMAP.encode()) if packed else SITEMAP.encode()
    page = reading(body, content_type="application/x-gzip" if packed else "application/xml")
    assert [tuple(link) for link in page.links] == [
        ("https://a.example/one", "2024-03-05", "sitemap"),
        ("https://a.example/two", "", "sitemap"),
        ("https://a.example/de/one", "", "sitemap"),
    ]
    assert page.listing is not None
    assert page.listing._replace(urls=0) == Listing("sitemap")
    assert page.modified_at == datetime(2024, 3, 5, tzinfo=UTC)
    assert page.text == ""


def test_a_sitemap_names_images_and_what_stands_for_videos() -> None:
    body = """<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:i="http://www.google.com/schemas/sitemap-image/1.1"
xmlns:v="http://www.google.com/schemas/sitemap-video/1.1"><url><loc>https://a.example/one</loc>
<i:image><i:loc> https://a.example/1.jpg </i:loc><i:caption>A
 harbour</i:caption></i:image><i:image><i:title>no address</i:title></i:image>
<i:image><i:loc>https://cdn.example/2.jpg</i:loc></i:image></url><url><loc>https://a.example/two</loc><v:video>
<v:thumbnail_loc>/poster.jpg</v:thumbnail_loc><v:title>Gulls</v:title><v:content_loc>https://a.example/2.mp4</v:content_loc>
<v:player_loc>https://a.example/play</v:player_loc></v:video></url></urlset>"""
    page = reading(body, content_type="application/xml")
    assert [link.href for link in page.links] == ["https://a.example/one", "https://a.example/two"]
    assert [(image.src, image.discovery_type, image.alt) for image in page.images] == [
        ("https://a.example/1.jpg", "sitemap", "A harbour"),
        ("https://cdn.example/2.jpg", "sitemap", ""),
        ("/poster.jpg", "sitemap", "Gulls"),
    ]


def test_images_of_sitemaps_are_capped() -> None:
    image = "<image><loc>https://a.example/{}.jpg</loc></image>"
    one = "<url><loc>https://a.example/</loc>" + "".join(image.format(at) for at in range(3000)) + "</url>"
    many = "".join(f"<url><loc>https://a.example/p{at}</loc>{image.format(f'p{at}')}</url>" for at in range(3000))
    for entries in (one, many):
        assert len(reading(f"<urlset>{entries}</urlset>", content_type="text/xml").images) == 1000


def test_an_index_gives_its_sitemaps() -> None:
    index = '<sitemapindex xmlns="x"><sitemap><loc>https://a.example/s.xml.gz</loc></sitemap></sitemapindex>'
    assert links(index, "text/xml") == [("https://a.example/s.xml.gz", "", "sitemap_file")]


def test_a_plain_list_of_addresses_is_a_sitemap_and_other_text_is_not() -> None:
    assert links("https://a.example/1\r\nhttps://a.example/2\n", "text/plain") == [
        ("https://a.example/1", "", "sitemap"),
        ("https://a.example/2", "", "sitemap"),
    ]
    assert links("https://a.example/1 is an address", "text/plain") == []


@pytest.mark.timeout(60)
@pytest.mark.parametrize("number", [50_000, 50_001])
def test_a_sitemap_is_read_whole_up_to_the_limit_of_the_protocol(number: int) -> None:
    body = "<urlset>" + "".join(f"<url><loc>https://a.example/{n}</loc></url>" for n in range(number)) + "</urlset>"
    page = reading(body, content_type="application/xml")
    assert len(page.links) == 50_000
    assert page.listing is not None
    assert ("more than 50,000" in (page.listing.problem or "")) == (number > 50_000)


@pytest.mark.parametrize("before", ["", "\n \n", "\ufeff", "\ufeff\n"])
@pytest.mark.parametrize(
    "content_type", ["application/xml", "text/html", "text/plain", "application/octet-stream", "image/png"]
)
def test_a_sitemap_is_one_whatever_its_type_and_what_stands_before_it(before: str, content_type: str) -> None:
    body = f'{before}<?xml version="1.0"?><urlset><url><loc>https://a.example/1</loc></url></urlset>'
    assert links(body, content_type) == [("https://a.example/1", "", "sitemap")]


@pytest.mark.parametrize("content_type", ["text/plain", "text/html", "application/octet-stream"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_list_of_urls_is_one_too(content_type: str, packed: bool) -> None:
    body = b"https://a.example/1\nhttps://a.example/2\n"
    page = reading(gzip.compress(body) if packed else body, content_type=content_type)
    assert [link.href for link in page.links] == ["https://a.example/1", "https://a.example/2"]
    assert page.listing is not None
    assert page.listing._replace(urls=0) == Listing("text")


def test_an_entry_may_have_several_locations() -> None:
    body = """<urlset><url><loc>https://a.example/1</loc><loc>https://a.example/2</loc><lastmod>2024</lastmod>
    <changefreq>Hourly</changefreq></url></urlset>"""
    page = reading(body, content_type="text/xml")
    assert [(link.href, link.anchor) for link in page.links] == [
        ("https://a.example/1", "2024"),
        ("https://a.example/2", "2024"),
    ]
    assert page.modified_at == datetime(2024, 1, 1, tzinfo=UTC)
    assert page.listing is not None
    assert page.listing._replace(urls=0) == Listing("sitemap", 3600.0)


@pytest.mark.parametrize(
    "bad",
    [
        "<url><loc>https://a.example/bad?a=1&b=2&copy=3</loc></url>",
        "<url><loc>https://a.example/bad?a=1&b=2&copy=3</url>",
        "<url><loc><![CDATA[https://a.example/bad?a=1&b=2&copy=3]]></loc><lastmod>x</url>",
        "<!-- <url><loc>https://a.example/comment</loc></url> --><url><loc>https://a.example/bad?a=1&amp;b=2&copy=3</loc>",
    ],
)
def test_entries_after_a_broken_one_are_read(bad: str) -> None:
    good = "<url><loc>https://a.example/{}</loc><lastmod>2024-01-0{}</lastmod><i:loc>https://x.example/</i:loc></url>"
    body = f"<urlset xmlns:i='x'>{good.format(1, 1)}{bad}{good.format(2, 2)}</urlset>"
    page = reading(body.replace("i:", "image:"), content_type="text/xml")
    assert [(link.href, link.anchor[:10]) for link in page.links if "bad" not in link.href] == [
        ("https://a.example/1", "2024-01-01"),
        ("https://a.example/2", "2024-01-02"),
    ]
    assert [link.href for link in page.links if "bad" in link.href] == ["https://a.example/bad?a=1&b=2&copy=3"]
    assert "broken_xml" in page.flags
    assert page.listing is not None
    assert page.listing.problem


def test_feeds_say_how_often_they_change() -> None:
    for body, kind, expected in (
        (RSS.replace("<language>", "<ttl>90</ttl><language>"), "text/xml", Listing("rss", 5400.0)),
        (ATOM, "text/xml", Listing("atom")),
        (JSON, "text/plain", Listing("json")),
    ):
        found = reading(body, content_type=kind).listing
        assert found is not None
        assert found._replace(urls=0) == expected
        assert found.urls > 0


def test_a_sitemap_that_differs_by_the_time_of_the_request_is_the_same() -> None:
    first, second = (
        reading(f"<!-- {when} --><urlset><url><loc>https://a.example/</loc></url></urlset>", content_type="text/xml")
        for when in ("10:00", "11:00")
    )
    assert first.content_hash == second.content_hash


def test_what_breaks_in_the_middle_keeps_what_came_before() -> None:
    page = reading(SITEMAP.replace("</urlset>", "<url><loc>&nope;"), content_type="application/xml")
    assert len(page.links) == 3
    assert "broken_xml" in page.flags
    feed = reading(RSS.replace("<item><title>Third", "<item><title>&nbsp;"), content_type="application/rss+xml")
    assert len(feed.links) == 3
    assert "broken_xml" in feed.flags


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "ha" * 50}">' for n in range(12))
HOSTILE = {
    "billion laughs": f'<?xml version="1.0"?><!DOCTYPE rss [{LAUGHS}]><rss><channel><title>&l11;</title></channel></rss>',
    "an external entity": '<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel><title>&x;</title></channel></rss>',
    "an external document type": '<!DOCTYPE urlset SYSTEM "http://127.0.0.1:1/x.dtd"><urlset><url><loc>http://a.example/</loc></url></urlset>',
    "nested items": "<rss><channel>" + "<item>" * 50_000,
    "nested elements": "<feed>" + "<a>" * 300_000,
    "many items": "<rss><channel>" + "<item><link>http://a.example/</link></item>" * 100_000,
    "one endless title": "<rss><channel><title>" + "x" * 5_000_000,
    "endless markup in a text": f"<rss><channel><item><description><![CDATA[{'<' * 200_000}]]></description></item></channel></rss>",
    "an endless prolog": "<?xml version='1.0'?>" + "<!-- x -->" * 300_000 + "<rss>",
    "deep JSON": '{"version":"https://jsonfeed.org/version/1","items":' + "[" * 200_000,
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("content_type", ["application/xml", "application/json", "text/html"])
def test_a_hostile_document_is_read_soon(name: str, content_type: str) -> None:
    page = reading(HOSTILE[name], content_type=content_type)
    assert_clean(page, words=200)
    assert "root:" not in (page.title or "")
    assert len(page.title or "") <= 1000


def test_an_archive_that_grows_without_end_is_read_up_to_the_limit() -> None:
    bomb = gzip.compress(b"<urlset><url><loc>https://a.example/1</loc></url>" + b" " * 60_000_000)
    page = reading(bomb, content_type="application/gzip")
    assert [link.href for link in page.links] == ["https://a.example/1"]
    assert "truncated" in page.flags
    assert page.listing is not None
    assert page.listing.problem
    assert reading(gzip.compress(b"%PDF-1.4 some other archive"), content_type="application/gzip").flags == ("binary",)
    assert reading(gzip.compress(SITEMAP.encode())[:-300], content_type="application/gzip").flags in {
        ("binary",),
        ("truncated", "broken_xml"),
    }


def test_other_xml_and_json_give_nothing_but_a_fingerprint() -> None:
    for body, kind in (("<x><y>words</y></x>", "application/xml"), ('{"a": "words"}', "application/json")):
        page = reading(body, content_type=kind)
        assert (page.title, page.text, list(page.links)) == (None, "", [])
    assert reading('<?xml version="1.0"?><html><title>T</title></html>', content_type="text/xml").title == "T"


PIECES = st.sampled_from(
    ["<rss>", "<channel>", "<item>", "</item>", "<title>", "</title>", "<link>", "</link>", "<feed>", "<entry>", "<urlset>",
     "<url>", "<loc>", "</loc>", "</url>", "http://a.example/", "&amp;", "&x;", "<![CDATA[", "]]>", "\0", "é", "<?xml?>", "\ud800"]
)  # fmt: skip


@given(
    st.lists(PIECES, max_size=30), st.sampled_from(["application/xml", "application/json", "text/html", "text/plain"])
)
@settings(max_examples=200, deadline=None)
def test_any_document_gives_a_clean_reading(pieces: list[str], content_type: str) -> None:
    body = "".join(pieces).encode("utf-8", "surrogatepass")
    page = read(Fetched("https://a.example/", 200, {"content-type": content_type}, body, 0, 0), keyword_words=20)
    assert_clean(page)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-03-05", "2024-03-05T00:00:00+00:00"),
        ("2024-03-05T10:30:00+01:00", "2024-03-05T09:30:00+00:00"),
        ("2024-03-05T09:30:00.123Z", "2024-03-05T09:30:00.123000+00:00"),
        (" 2024-03-05 09:30 ", "2024-03-05T09:30:00+00:00"),
        ("2024/3/5", "2024-03-05T00:00:00+00:00"),
        ("2024-03", "2024-03-01T00:00:00+00:00"),
        ("20240305", "2024-03-05T00:00:00+00:00"),
        ("2024年3月5日", "2024-03-05T00:00:00+00:00"),
        ("Tue, 05 Mar 2024 10:00:00 GMT", "2024-03-05T10:00:00+00:00"),
        ("yesterday", None),
        ("", None),
        ("0001-01-01", None),
        ("9999-12-31T23:59:59-14:00", None),
        ("2024-13-45", None),
        ("-" * 500, None),
    ],
)
def test_dates(text: str, moment: str | None) -> None:
    date = parse_date(text)
    assert (date.isoformat() if date else None) == moment


@given(st.text(max_size=80))
def test_any_text_is_a_date_of_our_time_or_none(text: str) -> None:
    date = parse_date(text)
    assert date is None or (1970 <= date.year <= 2100 and date.tzinfo is UTC)


def test_the_date_in_an_address() -> None:
    moment = date_in_path("https://a.example/2024/03/05/title")
    assert moment is not None
    assert moment.at == datetime(2024, 3, 5, tzinfo=UTC)
    assert date_in_path("https://a.example/2024/13/05/title") is None
    assert date_in_path("https://a.example/20240305/") is None
