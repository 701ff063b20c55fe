"""All that a page says for machines is kept, whatever it is written in; nothing in it breaks the reader."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.parsing.pages import reading

from forager.parsing.head import read_head
from forager.parsing.structured import StructuredData, read_structured
from forager.parsing.structured.data import LARGEST_JSON
from forager.parsing.tree import parse


def structured(html: str) -> StructuredData:
    tree = parse(html)
    return read_structured(tree, read_head(tree))


def kept(html: str) -> list[dict[str, object]]:
    return json.loads(structured(html).to_json() or b"[]")  # type: ignore[no-any-return]


def script(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f'<script type="application/ld+json">{text}</script>'


def test_every_syntax_is_kept_with_the_names_of_the_page() -> None:
    html = (
        '<meta property="og:type" content="article"><meta property="og:title" content="T">'
        + script({"@context": "https://schema.org", "@type": "NewsArticle", "headline": "H"})
        + '<div itemscope itemtype="https://schema.org/Event"><time itemprop="startDate" datetime="2024-03-05">x</time>'
        '<div itemprop="location" itemscope itemtype="https://schema.org/Place"><b itemprop="name">Hall</b></div></div>'
        '<div vocab="https://schema.org/" typeof="Person"><span property="givenName">Ann</span></div>'
    )
    place = {"types": ["Place"], "properties": {"name": ["Hall"]}}
    assert kept(html) == [
        {"syntax": "json-ld", "types": ["NewsArticle"], "properties": {"headline": "H"}},
        {
            "syntax": "microdata",
            "types": ["Event"],
            "properties": {"startDate": ["2024-03-05"], "location": [place]},
        },
        {"syntax": "rdfa", "types": ["Person"], "properties": {"givenName": ["Ann"]}},
        {
            "syntax": "opengraph",
            "types": ["article"],
            "properties": {"og:type": ["article"], "og:title": ["T"]},
        },
    ]


def test_a_page_without_any_has_none() -> None:
    assert structured("<p>text").to_json() == b""
    assert structured("<p>text").items == []
    assert reading("<p>text").structured_data == b""


def test_references_lead_to_what_they_mean() -> None:
    graph = {
        "@graph": [
            {"@type": "Article", "author": {"@id": "#ann"}, "publisher": {"@id": "#deep"}},
            {"@type": "Person", "@id": "#ann", "name": "Ann"},
            {"@type": "WebSite", "copyrightHolder": {"@type": "Organization", "@id": "#deep", "name": "Deep"}},
        ]
    }
    article = structured(script(graph)).items[0]
    assert article.text("author") == "Ann"
    assert article.text("publisher") == "Deep"
    assert article.properties.keys() == {"author", "publisher"}


def test_what_refers_to_itself_ends() -> None:
    article = structured(script({"@type": "Article", "@id": "#a", "isPartOf": {"@id": "#a"}})).items[0]
    assert next(article.items("ispartof")) is article


def test_what_the_page_is_about_stands_for_itself() -> None:
    page = {"@type": "WebPage", "mainEntity": {"@type": "Recipe", "name": "Soup"}}
    assert [item.types for item in structured(script(page)).items] == [("webpage",), ("recipe",)]


def test_microdata_of_elsewhere_by_itemref() -> None:
    html = '<div itemscope itemref="x" itemtype="https://schema.org/Product"></div><p id=x><b itemprop=sku>7</b></p>'
    (item,) = structured(html).items
    assert item.text("sku") == "7"


def test_numbers_keep_what_the_page_wrote() -> None:
    item = structured(script('{"@type": "Offer", "price": 19.99, "sku": 12345678901234567}')).items[0]
    assert item.text("price") == "19.99"
    assert item.text("sku") == "12345678901234567"


def test_what_does_not_fit_is_left_out() -> None:
    html = script([{"@type": "A", "x": "y" * LARGEST_JSON}, {"@type": "B", "x": "y"}])
    assert [entry["types"] for entry in kept(html)] == [["B"]]


@pytest.mark.parametrize("text", ['{"a": "\\u0000"}', '{"a": "\\ud800"}', '{"a": "\\\\u0000"}'])
def test_a_database_takes_it(text: str) -> None:
    written = structured(script(text)).to_json()
    value = json.loads(written)[0]["properties"]["a"]
    assert "\0" not in value
    value.encode()  # no half of a character


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=10)
    | st.sampled_from(["#a", "Article", "2024-03-05", "5", "1e999"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "@id",
                    "@type",
                    "@graph",
                    "@value",
                    "author",
                    "name",
                    "image",
                    "url",
                    "mainEntity",
                    "keywords",
                    "datePublished",
                    "aggregateRating",
                    "ratingValue",
                    "bestRating",
                    "ratingCount",
                    "publisher",
                    "",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(st.lists(JSON, max_size=3))
def test_whatever_json_ld_says_a_page_is_read(contents: list[object]) -> None:
    page = reading("".join(script(json.dumps(content).replace("</", "<\\/")) for content in contents))
    assert page.rating is None or 0 < page.rating <= 5
    json.loads(page.structured_data or b"[]")


@given(
    st.lists(
        st.sampled_from(
            [
                "<div itemscope>",
                "<div itemprop=author>",
                "<div itemscope itemprop='image author'>",
                "</div>",
                "x",
                "<b>",
                "<div itemscope itemtype=Recipe>",
                "<a itemprop=url href=/a>",
                "<p id=r>",
                "<div itemscope itemref='r r'>",
                "<div typeof=Article property=author>",
                "<img itemprop=image src=/i.jpg>",
                "<div typeof>",
                "<i property=a>",
            ]
        ),
        max_size=20,
    )
)
def test_whatever_elements_say_a_page_is_read(parts: list[str]) -> None:
    json.loads(reading("".join(parts)).structured_data or b"[]")


@pytest.mark.parametrize(
    "html",
    [
        script('{"a":' * 900 + "1" + "}" * 900),
        script('{"author":' * 100_000),
        script([{"@id": f"#{number}", "author": {"@id": f"#{number + 1}"}} for number in range(20_000)]),
        script({"@type": "Article", "author": [{"@type": "Person", "name": "x"}] * 50_000}),
        script({f"k{number}": {"@type": "Article"} for number in range(50_000)}),
        "<div itemscope itemprop=a>" * 5_000 + "x" * 10_000,
        "<div itemscope itemref='a'><p id=a>" * 5_000,
        "<div typeof=A property=b>" * 5_000 + "x" * 10_000,
    ],
    ids=range(8),
)
def test_hostile_data_ends_soon(html: str) -> None:
    began = time.process_time()
    reading(html)
    assert time.process_time() - began < 5
