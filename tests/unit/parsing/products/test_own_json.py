# ruff: noqa: E501
"""The JSON that shops hand to their own scripts: which thing of it is the page's, and documents made to hurt."""

import json
import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders import a_fetched

from forager.parsing.page import find_product
from forager.products.models import Product, pack

KETTLE = {"id": 1, "name": "Kettle", "sku": "K1", "price": 19.99, "currency": "EUR", "inStock": True}
URL = "https://shop.example/p/kettle"


def product_in(
    head: str, *, url: str = URL, body: str = "<h1>Kettle</h1>", title: str = "Kettle | Shop"
) -> Product | None:
    html = f"<html lang=en><head><title>{title}</title>{head}</head><body class=product>{body}</body></html>"
    return find_product(a_fetched(200, html.encode("utf-8", "surrogatepass"), url, content_type="text/html"))


def found(head: str, **more: Any) -> Product:
    product = product_in(head, **more)
    assert product is not None
    return product


def next_data(content: Any) -> str:
    return f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(content)}</script>'


def test_a_field_names_the_document_and_the_way_into_it() -> None:
    product = found(next_data({"props": {"pageProps": {"product": KETTLE}}}))
    assert (product.name, product.price, product.currency, product.availability) == (
        "Kettle",
        Decimal("19.99"),
        "EUR",
        "in_stock",
    )
    assert product.evidence["price"][0].where == "data script#__NEXT_DATA__ $.props.pageProps.product price"
    assert product.evidence["price"][0].confidence < 0.95


@pytest.mark.parametrize(
    "code",
    [
        "window.__INITIAL_STATE__={state};",
        "window['__PRELOADED_STATE__'] = {state}; go()",
        "var a=1;\nvar productJson = {state}\nfunction f(){{}}",
        "self.__myShopState = {state}",
        "window.__APOLLO_STATE__ = JSON.parse({text});",
    ],
)
def test_states_are_found_in_the_code_around_them(code: str) -> None:
    state = json.dumps({"a": {"product": KETTLE}})
    head = f"<script>{code.format(state=state, text=json.dumps(state))}</script>"
    assert found(head).price == Decimal("19.99")


def test_markup_that_names_a_price_is_believed_alone() -> None:
    offer = {"@type": "Offer", "price": "25.00", "priceCurrency": "EUR"}
    markup = json.dumps({"@context": "https://schema.org", "@type": "Product", "name": "Kettle", "offers": offer})
    product = found(f'<script type="application/ld+json">{markup}</script>' + next_data({"product": KETTLE}))
    assert product.price == Decimal("25.00")
    assert [each.where.partition(" ")[0] for each in product.evidence["price"]] == ["jsonld"]


def test_markup_without_a_price_gets_it_from_the_state() -> None:
    markup = json.dumps({"@context": "https://schema.org", "@type": "Product", "name": "Kettle", "sku": "K9"})
    product = found(f'<script type="application/ld+json">{markup}</script>' + next_data({"product": KETTLE}))
    assert (product.price, product.sku) == (Decimal("19.99"), "K9")


@pytest.mark.parametrize(
    ("price", "amount", "currency"),
    [
        ({"price": {"amount": "19.99", "currencyCode": "USD"}}, "19.99", "USD"),
        ({"price": {"centAmount": 1999, "currencyCode": "EUR", "fractionDigits": 2}}, "19.99", "EUR"),
        ({"price": {"centAmount": 1999, "currencyCode": "JPY", "fractionDigits": 0}}, "1999", "JPY"),
        ({"priceRange": {"minVariantPrice": {"amount": "19.5", "currencyCode": "CAD"}}}, "19.5", "CAD"),
        ({"price_range": {"minimum_price": {"final_price": {"value": 12, "currency": "GBP"}}}}, "12", "GBP"),
        ({"regularPrice": 30, "salePrice": 20, "currency": "EUR"}, "20", "EUR"),
        ({"prices": {"current": "1.299,00 €"}}, "1299.00", "EUR"),
    ],
)
def test_prices_in_the_shapes_that_shops_give_them(price: dict[str, Any], amount: str, currency: str) -> None:
    thing = {"name": "Kettle", "sku": "K1", "images": [], "inStock": True} | price
    product = found(next_data({"product": thing}), url="https://shop.example/en/kettle")
    assert (product.price, product.currency) == (Decimal(amount), currency)


def test_variants_wrapped_by_a_query_are_variants() -> None:
    nodes = [{"id": f"v{at}", "title": size, "sku": f"K-{size}", "price": {"amount": str(10 + at), "currencyCode": "EUR"},
              "availableForSale": at > 0} for at, size in enumerate(("S", "M"))]  # fmt: skip
    thing = {"title": "Kettle", "handle": "kettle", "variants": {"edges": [{"node": node} for node in nodes]}}
    product = found(next_data({"data": {"product": thing}}))
    assert [(variant.sku, variant.price) for variant in product.variants] == [
        ("K-S", Decimal(10)),
        ("K-M", Decimal(11)),
    ]
    assert product.price == 11  # the first that can be bought


def test_a_price_in_hundredths_gives_way_to_the_one_a_person_sees() -> None:
    product = found(
        next_data({"product": KETTLE | {"price": 1999}}),
        body='<h1>Kettle</h1><span class="price">€19.99</span><button class="add-to-cart">Buy</button>',
    )
    assert product.price == Decimal("19.99")


@pytest.mark.parametrize(
    "state",
    [
        {"cart": [KETTLE | {"name": "Teapot"}]},
        {"products": [KETTLE | {"name": f"Kettle {at}"} for at in range(5)]},
        {"shipping": {"name": "Kettle", "price": 4.90}},
        {"product": {"name": "Kettle", "sku": "K1", "image": "/k.jpg"}},
    ],
)
def test_what_is_not_called_as_the_page_is_not_its_product(state: Any) -> None:
    assert product_in(next_data(state)) is None


def test_a_list_stays_a_list() -> None:
    things = [KETTLE | {"name": name} for name in ("Kettles", "Copper kettle")]
    listing = json.dumps({"@context": "https://schema.org", "@type": "ItemList", "itemListElement": []})
    markup = f'<script type="application/ld+json">{listing}</script>'
    assert product_in(markup + next_data({"products": things}), body="<h1>Kettles</h1>", title="Kettles") is None
    assert product_in(next_data({"products": [KETTLE]}), body="<h1>Kettles</h1>", title="Kettles") is None


HOSTILE = {
    "deep": '<script type="application/json">product price' + "[" * 500_000 + "</script>",
    "deep objects": '<script type="application/json">' + '{"price":' * 100_000 + "</script>",
    "wide": next_data({"products": [{"price": 1, "name": "x", "sku": at, "id": at} for at in range(20_000)]}),
    "many names": "<script>" + "var productData = {price\n" * 100_000 + "</script>",
    "many scripts": "".join(f'<script type="application/json">{{"price":{at},"product":1}}</script>' for at in range(3000)),
    "underscores": "<script>price product " + "_" * 1_000_000 + "</script>",
    "a long price": next_data({"product": KETTLE | {"price": "1" * 200_000}}),
    "a large number": '<script type="application/json">{"product":{"name":"Kettle","sku":"a","id":1,"price":1e999999}}</script>',
    "digits without end": f'<script type="application/json">{{"product":{{"name":"Kettle","sku":"a","id":1,"price":{"9" * 9000}}}}}</script>',
    "what no database takes": next_data({"product": KETTLE | {"sku": "\0", "description": "\ud800 \0", "brand": {"name": "\0"}}}),
    "all in all": next_data({"product": KETTLE | {name: {} for name in ("price", "brand", "images", "variants", "rating")}}),
    "too long": '<script type="application/json">{"price":"' + "x" * 3_000_000 + '"}</script>',
    "odd variants": next_data({"product": KETTLE | {"price": None, "variants": [None, 1, [], {"price": []}, {"price": {"amount": {}}}]}}),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_end_soon_and_leave_clean_text(name: str) -> None:
    began = time.process_time()
    product = product_in(HOSTILE[name])
    assert time.process_time() - began < 10
    if product is not None:
        assert "\\u0000" not in json.dumps(pack(product))
        json.dumps(pack(product), ensure_ascii=False).encode()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "name",
                    "title",
                    "price",
                    "sku",
                    "id",
                    "variants",
                    "images",
                    "rating",
                    "amount",
                    "currency",
                    "stock",
                    "edges",
                    "node",
                    "brand",
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=30,
)


@settings(deadline=None, max_examples=60)
@given(JSON)
def test_no_document_breaks_it(content: Any) -> None:
    product_in(next_data({"product": {"name": "Kettle", "sku": "K", "id": 3, "price": content}, "more": content}))
    product_in(
        next_data(
            [{"name": "Kettle", "sku": "K", "price": 4, "images": content, "variants": content, "rating": content}]
        )
    )


def test_code_that_is_fetched_from_elsewhere_is_not_read() -> None:
    state = json.dumps({"product": KETTLE})
    assert product_in(f'<script src="/x.js">window.__STATE__ = {state}</script>') is None
