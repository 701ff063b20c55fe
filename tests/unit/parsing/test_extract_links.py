from collections.abc import Iterator
from html import escape

import pytest
import turbohtml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.parsing.pages import reading

from forager.parsing import compiled
from forager.parsing.links import clean_anchor, clean_href, find_links, links_in_python
from forager.parsing.models import FoundLink
from forager.parsing.tree import parse


def links(html: str) -> list[tuple[str, str, str]]:
    return [(link.href, link.anchor, link.rel) for link in reading(html).links]


def test_every_kind_of_link_in_the_order_of_the_document() -> None:
    assert links(
        """<link rel="canonical" href="/c"><link rel="next" href="?page=2"><link rel="stylesheet" href="/s.css">
        <link rel="prev" href="/start">
        <link rel="alternate" hreflang="de" href="/de"><meta http-equiv="refresh" content="5; url='/moved'">
        <body><a href="/one"> First
        <b>link</b> </a><map><area href="/two" alt="Map"></map><a name="x">no</a>
        <iframe src="/three" title="Frame"></iframe><a href="/four" rel="external NoFollow">4</a>"""
    ) == [
        ("/c", "", "canonical"),
        ("?page=2", "", "next"),
        ("/start", "", "prev"),
        ("/de", "de", "alternate"),
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
    assert links(
        """<link rel="alternate" type="application/rss+xml" href="/feed">
            <link rel="alternate stylesheet" href="/s.css"><link rel="alternate" type="application/json" href="/j">"""
    ) == [("/feed", "", "feed_file")]


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


# Any page -------------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        "<a href=/x>", "<a href='/y z ' rel=nofollow>", "<a href=' /t\t'>", "<a href=mailto:x>", "<a href>", "</a>",
        "<a rel=NOFOLLOW>", "<a class=c href=https://b.example/ rel='x NoFollowed y'>", "<a href=été rel>", "one",
        "<a href='#f'>", " two\n ", "&nbsp;", "<b>", "</b>", "<p>", "<div>", "</div>", "<table>", "<td>", "</table>",
        "<svg>", "<a xlink:href=/s>", "</svg>", "<template>", "</template>", "<!--", "-->", "<script>", "</script>",
        "<area href=/area alt=' A  B '>", "<area>", "<iframe src=/frame title=T rel=nofollow></iframe>",
        "<iframe></iframe>", "<select>", "<h1>", "<noscript>", "</noscript>",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40).map("".join))
@settings(max_examples=400, deadline=None)
def test_links_are_those_that_the_parser_finds(html: str) -> None:
    assert [(link.href, link.rel) for link in find_links(parse(html))] == list(_walk(html))


HREFS = st.text(max_size=8) | st.sampled_from(
    [
        "/a b",
        " /a\n",
        "/\ta",
        "java\nscript:x",
        "JavaScript:x",
        "#a",
        " #a",
        "data:x",
        "date/x",
        "x" * 9000,
        "",
        "&amp;",
        "\x1f/a",
    ]
)
TEXTS = st.text(max_size=8) | st.sampled_from(
    [
        " one two\n",
        "one  two",
        "one\ttwo",
        "\u00a0one",
        "a\u00a0b",
        "&lt;b",
        "x" * 250,
        "é" * 201,
        "<b>b</b> c",
        "<img alt=' d '>",
    ]
)


@pytest.mark.skipif(compiled.native is None, reason="nothing was compiled")
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "area", "iframe", "frame"]), HREFS, st.sampled_from(["", "x NOFOLLOW"]), TEXTS),
        max_size=6,
    ),
    st.integers(0, 6),
)
def test_native_and_python_find_the_same(elements: list[tuple[str, str, str, str]], most: int) -> None:
    tree = parse(
        "".join(
            f'<{tag} href="{escape(href)}" src="{escape(href)}" rel="{rel}" title="{escape(text)}">{text}</{tag}>'
            for tag, href, rel, text in elements
        )
    )
    assert tree.links(clean_href, clean_anchor, 200, most) == links_in_python(tree, 200, most)


def _walk(html: str) -> Iterator[tuple[str, str]]:
    """By the parser's own selectors; what is in a template is a fragment of its own."""
    for node in turbohtml.parse(html).select("a, area, iframe"):
        if any(isinstance(each, turbohtml.DocumentFragment) for each in node.ancestors):
            continue
        href = clean_href(node.attr("src" if node.tag == "iframe" else "href") or "")
        if href:
            yield href, node.tag + (" nofollow" if "nofollow" in (node.attr("rel") or "").lower() else "")
