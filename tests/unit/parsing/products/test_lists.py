# ruff: noqa: E501
"""What a list says of the products it links to: which are taken, and what is left alone."""

import json
import time
from decimal import Decimal
from typing import Any

from tests.builders import a_fetched

from forager.engine.parser_protocol import pack, unpack
from forager.parsing.models import Reading
from forager.parsing.page import read

URL = "https://shop.example/c/kettles"


def reading_of(*markup: Any, body: str = "<h1>Kettles</h1>") -> Reading:
    scripts = "".join(f'<script type="application/ld+json">{json.dumps(each)}</script>' for each in markup)
    html = f"<html lang=en><head><title>Kettles</title>{scripts}</head><body>{body}</body></html>"
    return read(a_fetched(200, html.encode(), URL, content_type="text/html"), keyword_words=5)


def card(at: int, **more: Any) -> dict[str, Any]:
    offer = {"@type": "Offer", "price": f"{10 + at}.50", "priceCurrency": "EUR"}
    return {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": f"Copper pot {at}",
        "url": f"/p/{at}?utm_source=list",
        "description": "long",
        "offers": offer,
    } | more


def listing(*elements: Any) -> dict[str, Any]:
    return {"@context": "https://schema.org", "@type": "ItemList", "itemListElement": list(elements)}


def element(at: int, **more: Any) -> dict[str, Any]:
    return {"@type": "ListItem", "position": at, "item": card(at)} | more


def test_products_side_by_side_are_listed_by_the_addresses_they_name() -> None:
    reading = reading_of(card(1), card(2))
    assert reading.product is None
    assert [(each.url, each.product.name, each.product.price) for each in reading.listed] == [
        ("https://shop.example/p/1", "Copper pot 1", Decimal("11.50")),
        ("https://shop.example/p/2", "Copper pot 2", Decimal("12.50")),
    ]


def test_a_list_says_less_than_a_page_and_is_less_sure() -> None:
    product = reading_of(card(1), card(2)).listed[0].product
    assert product.description is None
    assert product.evidence["price"][0].confidence < 0.8
    assert product.evidence["price"][0].where == "jsonld $.offers.price"


def test_elements_of_a_list_are_products_or_hold_them() -> None:
    reading = reading_of(listing(element(1), card(2), element(3, item=card(3, url=None), url="/p/3")))
    assert [each.url for each in reading.listed] == [f"https://shop.example/p/{at}" for at in (1, 2, 3)]


def test_a_collection_page_may_hold_the_list() -> None:
    page = {"@context": "https://schema.org", "@type": "CollectionPage", "mainEntity": listing(element(1), element(2))}
    assert len(reading_of(page).listed) == 2


def test_microdata_is_listed_too() -> None:
    cards = "".join(
        f'<li itemscope itemtype="https://schema.org/Product"><a itemprop="url" href="/p/{at}"><b itemprop="name">Pot {at}</b></a>'
        f'<span itemprop="offers" itemscope itemtype="https://schema.org/Offer"><b itemprop="price" content="{at}.00">{at}</b>'
        '<meta itemprop="priceCurrency" content="EUR"></span></li>'
        for at in (1, 2)
    )
    assert [each.product.price for each in reading_of(body=f"<h1>Kettles</h1><ul>{cards}</ul>").listed] == [1, 2]


def test_what_names_no_page_or_no_price_is_left() -> None:
    assert reading_of(card(1, url=None), card(2, url=None)).listed == ()
    assert [each.url for each in reading_of(card(1), card(2, offers={})).listed] == ["https://shop.example/p/1"]
    assert reading_of(card(1, url=URL), card(2, url="#two")).listed == ()
    assert reading_of(card(1, url="javascript:x()"), card(2, url="http://[")).listed == ()


def test_one_product_alone_is_no_list() -> None:
    assert reading_of(card(1)).listed == ()


def test_a_page_that_sells_something_lists_nothing() -> None:
    own = card(1, name="Kettles", url=URL)
    reading = reading_of(own, card(2), card(3))
    assert reading.product is not None
    assert reading.listed == ()


def test_a_list_without_end_is_cut() -> None:
    began = time.process_time()
    assert len(reading_of(listing(*map(element, range(2500)))).listed) == 100
    assert time.process_time() - began < 10


def test_lists_cross_processes() -> None:
    reading = reading_of(card(1), card(2))
    assert unpack(pack(reading)) == reading
