"""`forager.read`: one page from its bytes, for programs."""

import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from tests.builders import a_link, a_reading

import forager
from forager.errors import ForagerError
from forager.parsing.models import FoundImage
from forager.products.models import Listed, Product, Variant
from forager.reading import content_of

URL = "https://shop.example/p/kettle"
KETTLE = Product(
    "Kettle",
    price=Decimal("24.50"),
    regular_price=Decimal("30.00"),
    currency="EUR",
    mpn="K-1",
    attributes={"color": "blue"},
    variants=(Variant("red", price=Decimal("25.00"), availability="in_stock"),),
)


def test_all_words_are_there() -> None:
    words = " ".join(f"word{number}" for number in range(20_000))
    page = forager.read(f"<main><p>{words}</p></main>".encode(), URL)
    assert page.text.split()[-1] == "word19999"


def test_text_has_no_charset_of_its_own() -> None:
    text = "<meta charset=latin-1><title>Käse für 3 €</title><main><p>Der Käse ist alt.</p><a href=x>mehr</a></main>"
    page = forager.read(text, URL)
    assert (page.title, page.links[0].anchor, page.products) == ("Käse für 3 €", "mehr", [])
    assert page.text == forager.read(text.encode(), URL, "text/html; charset=utf-8").text


def test_text_without_spaces_is_whole() -> None:
    page = forager.read(f"<main><p>{'水を沸かす。' * 5000}</p></main>".encode(), URL)
    assert len(page.text) == 30_000


def test_addresses_are_absolute() -> None:
    reading = a_reading("../pan?b=2&a=1#top", "mailto:a@b.example", "http://[", base_url=URL)
    images = (
        FoundImage("/kettle.jpg", "og", "primary", ""),
        FoundImage("//shop.example/kettle.jpg", "img", "gallery", "A kettle", 640, 480),
        FoundImage("data:image/png;base64,AAAA", "img", "gallery", ""),
    )
    page = content_of(replace(reading, images=images), URL)
    assert [link.url for link in page.links] == ["https://shop.example/pan?b=2&a=1#top"]
    assert page.images == [("https://shop.example/kettle.jpg", "A kettle", "primary", "og", 640, 480)]


def test_links_have_words_and_kinds() -> None:
    page = content_of(a_reading(links=[a_link("/pan", "a nofollow", "A pan")], base_url=URL), URL)
    assert page.links == [("https://shop.example/pan", "A pan", "a nofollow")]


def test_the_pages_own_product_comes_alone() -> None:
    listed = (Listed("https://shop.example/p/pan", Product("Pan")),)
    page = content_of(a_reading(product=KETTLE, listed=listed), URL)
    assert [(each.name, each.url) for each in page.products] == [("Kettle", URL)]
    assert page.products[0].regular_price == Decimal("30.00")
    page = content_of(a_reading(listed=listed), URL)
    assert [(each.name, each.url) for each in page.products] == [("Pan", "https://shop.example/p/pan")]


def test_it_becomes_json() -> None:
    reading = a_reading(
        product=KETTLE,
        headline="Kettle",
        site_name="Shop",
        section="Kitchen",
        tags=("tea", "water"),
        rating=Decimal("4.5"),
        rating_count=12,
        published_at=datetime(2026, 1, 1, 23, tzinfo=UTC),
        published_on=date(2026, 1, 2),
        structured_data=b'[{"syntax": "json-ld", "types": ["Product"], "properties": {"name": "Kettle"}}]',
    )
    page = content_of(reading, URL)
    assert page.structured_data[0]["types"] == ["Product"]
    shown = json.loads(page.to_json())
    assert shown["published_at"] == "2026-01-01T23:00:00+00:00"
    assert shown["published_on"] == "2026-01-02"
    assert (shown["rating"], shown["rating_count"], shown["tags"]) == ("4.5", 12, ["tea", "water"])
    assert shown["structured_data"] == page.structured_data
    [kettle] = shown["products"]
    assert (kettle["price"], kettle["regular_price"], kettle["mpn"]) == ("24.50", "30.00", "K-1")
    assert kettle["attributes"] == {"color": "blue"}
    assert kettle["variants"] == [{"name": "red", "price": "25.00", "availability": "in_stock"}]


@pytest.mark.parametrize(
    "body",
    [b"", b"\0" * 100, b"<" * 5000, b"<div>" * 5000, b"\xff\xfe<", b"<title>\xed\xa0\x80", b"\x89PNG\r\n", b"{]"],
)
def test_bad_html_raises_nothing(body: bytes) -> None:
    page = forager.read(body, URL)
    assert json.loads(page.to_json().encode())["url"] == URL


def test_another_content_type() -> None:
    feed = b"<rss><channel><title>News</title><item><link>/a</link></item></channel></rss>"
    assert forager.read(feed, URL, "application/rss+xml").title == "News"


@pytest.mark.parametrize("url", ["", "nope", "ftp://a.example/", "http://"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ForagerError):
        forager.read(b"", url)


def test_importing_forager_stays_cheap() -> None:
    look = "import forager, sys; print(sorted(name for name in sys.modules if name.startswith('forager')))"
    found = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "['forager']"
