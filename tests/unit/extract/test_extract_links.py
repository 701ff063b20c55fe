import pytest
from tests.unit.extract.pages import reading

from forager.extract.links import clean_href
from forager.records import FoundLink


def links(html: str) -> list[tuple[str, str, str]]:
    return [(link.href, link.anchor, link.rel) for link in reading(html).links]


def test_every_kind_of_link_in_the_order_of_the_document() -> None:
    assert links(
        """<link rel="canonical" href="/c"><link rel="next" href="?page=2"><link rel="stylesheet" href="/s.css">
        <link rel="alternate" hreflang="de" href="/de"><meta http-equiv="refresh" content="5; url='/moved'">
        <body><a href="/one"> First
        <b>link</b> </a><map><area href="/two" alt="Map"></map><a name="x">no</a>
        <iframe src="/three" title="Frame"></iframe><a href="/four" rel="external NoFollow">4</a>"""
    ) == [
        ("/c", "", "canonical"),
        ("?page=2", "", "next"),
        ("/de", "", "alternate"),
        ("/moved", "", "refresh"),
        ("/one", "First link", "a"),
        ("/two", "Map", "area"),
        ("/three", "Frame", "iframe"),
        ("/four", "4", "a nofollow"),
    ]


def test_links_are_records() -> None:
    assert reading("<a href=/x>x</a>").links == [FoundLink("/x", "x", "a")]


@pytest.mark.parametrize(
    "href",
    [
        "",
        "#top",
        "javascript:void(0)",
        " JavaScript:x",
        "mailto:a@b.example",
        "tel:+1",
        "data:text/html,x",
        "java\nscript:x",
    ],
)
def test_what_leads_nowhere_is_dropped(href: str) -> None:
    assert links(f'<a href="{href}">x</a>') == []


@pytest.mark.parametrize(
    ("href", "cleaned"),
    [
        ("  /a b  ", "/a b"),
        ("/a\n\t/b", "/a/b"),
        ("/a\n", "/a"),
        ("/a ", "/a"),
        ("h\t", "h"),
        ("\x01/x\x1f", "/x"),
        ("/a?b=c&amp;d=%20", "/a?b=c&d=%20"),
        ("&#104;ttp://x.example/", "http://x.example/"),
        ("/ünï", "/ünï"),
        ("HTTP://X.example", "HTTP://X.example"),
    ],
)
def test_hrefs_are_trimmed_as_browsers_do(href: str, cleaned: str) -> None:
    assert [link[0] for link in links(f'<a href="{href}">x</a>')] == [cleaned]


def test_an_absurdly_long_href_is_dropped() -> None:
    assert links(f'<a href="/{"x" * 100_000}">x</a>') == []
    assert clean_href("/" + "x" * 3000) == "/" + "x" * 3000


def test_anchors_are_capped() -> None:
    assert len(links(f"<a href=/x>{'word ' * 500}</a>")[0][1]) == 200


def test_feeds_and_style_sheets_are_no_alternate_pages() -> None:
    assert (
        links(
            """<link rel="alternate" type="application/rss+xml" href="/feed">
            <link rel="alternate stylesheet" href="/s.css"><link rel="alternate" type="application/json" href="/j">"""
        )
        == []
    )


@pytest.mark.parametrize(
    ("content", "href"),
    [
        ("0;url=/a", "/a"),
        ("0; URL = /a", "/a"),
        ("3;/a", "/a"),
        ("0.5, url=/a", "/a"),
        ('0; url="/a b"', "/a b"),
        ("5", None),
        ("0; url=javascript:x", None),
        ("url=/a", None),
    ],
)
def test_meta_refresh(content: str, href: str | None) -> None:
    found = links(f"<meta http-equiv='Refresh' content='{content}'>")
    assert [link[0] for link in found] == ([href] if href else [])


def test_links_have_a_cap() -> None:
    assert len(links("<a href=/x>x</a>" * 19_999)) == 19_999
    assert len(links("".join(f"<a href=/{i}>x</a>" for i in range(30_000)))) == 20_000
