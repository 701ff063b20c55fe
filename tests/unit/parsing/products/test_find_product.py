# ruff: noqa: E501
"""Which source is believed, what stays as evidence, what is wrong with a product, and pages made to hurt."""

import json
import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders import a_fetched

from forager.parsing.page import find_product, read
from forager.parsing.products.compare import compare
from forager.parsing.sites import parser_for, parsers
from forager.products.models import Product, pack, unpack

OFFER = {"@type": "Offer", "price": "19.99", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}


def product_in(html: str, url: str = "https://shop.example/p/kettle", parser_name: str = "auto") -> Product | None:
    return find_product(
        a_fetched(200, html.encode("utf-8", "surrogatepass"), url, content_type="text/html"), parser_name
    )


def page(*markup: dict[str, Any], head: str = "", body: str = "<h1>Kettle</h1>") -> str:
    scripts = "".join(f'<script type="application/ld+json">{json.dumps(each)}</script>' for each in markup)
    return f"<html lang=en><head><title>Kettle</title>{head}{scripts}</head><body>{body}</body></html>"


def a_product(**more: Any) -> dict[str, Any]:
    return {"@context": "https://schema.org", "@type": "Product", "name": "Kettle", "sku": "K1", "offers": OFFER} | more


def found(html: str, **more: Any) -> Product:
    product = product_in(html, **more)
    assert product is not None
    return product


def test_a_page_without_any_clue_has_no_product() -> None:
    assert product_in("<h1>Kettle</h1><p>A story about water.</p>") is None


def test_each_field_names_its_place_and_how_sure_it_is() -> None:
    product = found(page(a_product()))
    (chosen, *_) = product.evidence["price"]
    assert chosen == ("19.99", "jsonld $.offers.price", 0.95)


def test_what_another_source_says_stays_as_evidence() -> None:
    meta = (
        '<meta property="product:price:amount" content="24.99"><meta property="product:price:currency" content="EUR">'
    )
    product = found(page(a_product(), head=meta))
    assert product.price == Decimal("19.99")
    assert [each.value for each in product.evidence["price"]] == ["19.99", "24.99"]
    assert product.evidence["currency"][0].value == product.evidence["currency"][1].value == "EUR"


def test_a_price_in_cents_gives_way_to_one_that_is_written_out() -> None:
    meta = '<meta property="product:price:amount" content="19.99">'
    assert found(page(a_product(offers=OFFER | {"price": 1999}), head=meta)).price == Decimal("19.99")


def test_a_price_of_nothing_gives_way() -> None:
    meta = '<meta property="product:price:amount" content="19.99">'
    assert found(page(a_product(offers=OFFER | {"price": "0.00"}), head=meta)).price == Decimal("19.99")


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"offers": OFFER | {"price": "ask us"}}, "bad_price"),
        ({"offers": OFFER | {"priceCurrency": "XYZ"}}, "bad_currency"),
        ({"offers": OFFER | {"price": "0"}}, "price_zero"),
        ({"offers": {"@type": "Offer", "availability": "InStock"}}, "no_price"),
        ({"offers": {"@type": "Offer", "price": 5}}, "no_currency"),
        ({"gtin13": "4006381333932"}, "bad_gtin"),
        ({"aggregateRating": {"ratingValue": "great"}}, "bad_rating"),
    ],
)
def test_problems_have_names(more: dict[str, Any], problem: str) -> None:
    assert problem in found(page(a_product(**more))).problems


def test_a_product_without_problems_is_valid() -> None:
    product = found(page(a_product()))
    assert product.problems == ()
    assert product.is_valid


def test_the_hash_is_of_the_facts_only() -> None:
    first = found(page(a_product()))
    same = found(page(a_product(), head='<meta property="product:price:currency" content="EUR">'))
    other = found(page(a_product(offers=OFFER | {"price": "20.00"})))
    assert first.content_hash == same.content_hash != other.content_hash


def test_variants_are_kept() -> None:
    offers = [OFFER | {"sku": f"K1-{size}", "price": str(10 + size)} for size in range(3)]
    product = found(page(a_product(offers=offers)))
    assert [(variant.sku, variant.price) for variant in product.variants] == [
        ("K1-0", Decimal(10)),
        ("K1-1", Decimal(11)),
        ("K1-2", Decimal(12)),
    ]


def test_an_offer_that_can_be_bought_comes_first() -> None:
    gone = OFFER | {"price": "5.00", "availability": "https://schema.org/OutOfStock"}
    assert found(page(a_product(offers=[gone, OFFER]))).price == Decimal("19.99")


def test_what_crosses_processes_comes_back_the_same() -> None:
    product = found(page(a_product(offers=[OFFER | {"sku": "a"}, OFFER | {"sku": "b"}], gtin13="4006381333931")))
    assert unpack(json.loads(json.dumps(pack(product)))) == product


def test_two_readings_are_compared_field_by_field() -> None:
    old, new = found(page(a_product())), found(page(a_product(brand="Acme", sku=None, offers=OFFER | {"price": "21"})))
    assert {(each.field, each.kind) for each in compare(old, new)} == {
        ("price", "changed"),
        ("brand", "gained"),
        ("sku", "lost"),
    }
    assert compare(old, old) == []
    assert {each.kind for each in compare(old, None)} == {"lost"}


def test_the_host_chooses_the_parser_unless_the_domain_says_otherwise() -> None:
    assert parser_for("auto", "www.amazon.de").name == "amazon"
    assert parser_for("auto", "shop.example").name == "generic"
    assert parser_for("generic", "www.amazon.de").name == "generic"
    assert parser_for("amazon", "127.0.0.1:8000").name == "amazon"
    assert parser_for("long gone", "shop.example").name == "generic"
    assert set(parsers()) >= {"generic", "amazon"}


def test_amazon_is_read_by_its_own_parser_and_lists_are_not() -> None:
    html = '<span id="productTitle">Kettle</span><div id="corePrice_feature_div"><span class="a-price"><span class="a-offscreen">$1,299.00</span></span></div>'
    product = found(html, url="https://www.amazon.com/dp/B0ABCDEFGH")
    assert (product.parser_name, product.price, product.currency, product.sku) == (
        "amazon",
        Decimal(1299),
        "USD",
        "B0ABCDEFGH",
    )
    assert (
        product_in("<div class=s-result-item>Kettle product $5</div>", url="https://www.amazon.com/s?k=kettle") is None
    )


HOSTILE = {
    "nested prices": "product" + "<div class=price>" * 2000 + "5 €" + "<button class=add-to-cart>",
    "nested properties": "<div itemscope itemtype=Product>" + "<b itemprop=name>" * 3000 + "x" * 100_000,
    "nested scopes": "<div itemscope itemtype=schema.org/Product itemprop=offers>" * 3000,
    "many carts": "product<h1>x</h1>" + "<button class=add-to-cart>Add to cart</button>" * 20_000,
    "many prices": "product<h1>x</h1><button class=add-to-cart>" + "<span class=price>5 €</span>" * 20_000,
    "a long class": f"product<h1>x</h1><div class='{'related ' * 100_000}'><button class=add-to-cart>",
    "many products": "".join(
        f"<div itemscope itemtype=Product><b itemprop=name>{at}</b></div>" for at in range(10_000)
    ),
    "a long price": page(a_product(offers=OFFER | {"price": "1" * 500_000})),
    "many offers": page(a_product(offers=[OFFER | {"sku": str(at)} for at in range(5000)])),
    "references in a circle": page(
        {"@graph": [{"@type": "Product", "@id": "a", "name": "Kettle", "offers": {"@id": "a"}, "brand": {"@id": "a"}}]}
    ),
    "things no database takes": page(
        a_product(name="Ket\0tle \ud800", sku="\0", description="\udfff\0x", **{"\0key": {"@type": "\ud800"}})
    ),
    "a long number": page(a_product(sku="1" * 500_000, mpn="1 " * 200_000)),
    "many labels": page(a_product(), body="<h1>Kettle</h1>" + "<p>Product code: 1 2 3 4 5 6 7 8 9 x|</p>" * 20_000),
    "nested brands": page(a_product(), body="<h1>Kettle</h1>" + "<div class=brand>" * 500 + "x" * 500_000),
    "nested stock": page(a_product(), body="<h1>Kettle</h1>" + "<div class=stock>" * 500 + "sold out " * 50_000),
    "many attributes": page(
        a_product(additionalProperty=[{"name": f"\0{at}", "value": "\ud800" * 1000} for at in range(5000)])
    ),
    "borrowed by itself": "<div id=a itemscope itemtype=Product itemref='a a b'><b id=b itemprop=name>x</b>product</div>",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_end_soon_and_leave_clean_text(name: str) -> None:
    began = time.process_time()
    product = product_in(HOSTILE[name])
    assert time.process_time() - began < 10
    if product is not None:
        told = json.dumps(pack(product), ensure_ascii=False)
        told.encode()
        assert "\\u0000" not in json.dumps(pack(product))


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet="<>\"'=/ {}[]:,abcprodutPrice0123456789€$.-\n", max_size=400))
def test_no_page_breaks_it(text: str) -> None:
    html = f'product {text}<div itemscope itemtype="Product">{text}<b itemprop=price>{text}</b><script type="application/ld+json">{text}</script>'
    read(a_fetched(200, html.encode(), content_type="text/html"), keyword_words=5)
