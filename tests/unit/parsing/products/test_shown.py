# ruff: noqa: E501
"""What a page shows beside its markup: labels, struck prices, stock, brands, terms of sale."""

import json
from decimal import Decimal
from typing import Any

import pytest
from tests.builders import a_fetched

from forager.parsing.page import find_product
from forager.parsing.products.words import is_cart_label
from forager.products.models import Product

OFFER = {"@type": "Offer", "price": "19.99", "priceCurrency": "EUR"}


def product_in(
    body: str, *markup: dict[str, Any], head: str = "", url: str = "https://shop.example/p/kettle"
) -> Product | None:
    scripts = "".join(f'<script type="application/ld+json">{json.dumps(each)}</script>' for each in markup)
    html = f"<html lang=en><head><title>Copper kettle</title>{head}{scripts}</head><body>{body}</body></html>"
    return find_product(a_fetched(200, html.encode(), url, content_type="text/html"))


def found(body: str = "", *markup: dict[str, Any], **more: Any) -> Product:
    product = product_in(f"<h1>Copper kettle</h1>{body}", *markup, **more)
    assert product is not None
    return product


def a_product(**more: Any) -> dict[str, Any]:
    return {"@context": "https://schema.org", "@type": "Product", "name": "Copper kettle", "offers": OFFER} | more


# Which pages sell


def test_reviews_below_a_product_make_no_story_of_it() -> None:
    review = {"@type": "Review", "author": "Ada", "reviewBody": "Boils."}
    assert found("", a_product(), review).price == Decimal("19.99")


def test_a_priced_product_is_one_though_its_page_calls_itself_an_article() -> None:
    assert found("", a_product(), head='<meta property="og:type" content="article">').price == Decimal("19.99")


def test_an_article_about_a_product_sells_none() -> None:
    article = {"@type": "NewsArticle", "headline": "Copper kettle"}
    assert product_in("<h1>Copper kettle</h1>", a_product(), article) is None


def test_a_product_whose_number_is_in_the_title_is_the_pages_own_in_any_language() -> None:
    thing = a_product(name="Bouilloire", sku="KTL-4711", offers=OFFER | {"url": "https://shop.example/elsewhere"})
    body, head = "<h1>Menu</h1>", '<meta property="og:title" content="Kupferkessel KTL-4711">'
    product = product_in(body, thing, head=head)
    assert product is not None
    assert product.sku == "KTL-4711"


def test_a_heading_of_the_menu_does_not_name_the_product() -> None:
    product = product_in("<h1>Your cart is empty</h1><h1>Copper kettle, 2 l</h1>", a_product(name="Copper kettle"))
    assert product is not None
    assert product.evidence["name"][-1].value == "Copper kettle, 2 l"


# Numbers


@pytest.mark.parametrize(
    "shown",
    [
        "<p>Product code: 64981901</p>",
        "<dl><dt>Artikel-Nr.</dt><dd>64981901</dd></dl>",
        "<table><tr><th>Référence</th><td>64981901</td></tr></table>",
        "<p>Item #64981901</p>",
        "<p><b>Shoppery item number:</b> <span>64981901</span></p>",
        "<td>〈商品編號：64981901〉</td>",
        "<li><strong>Šifra:</strong> 64981901</li>",
    ],
)
def test_the_number_a_shop_shows_is_believed_before_the_one_in_its_markup(shown: str) -> None:
    assert found(shown, a_product(sku="237972452")).sku == "64981901"


def test_numbers_of_things_beside_the_product_are_not_its_own() -> None:
    beside = "<div class=related-products><p>Product code: 64981901</p></div>"
    assert found(beside, a_product(sku="K-1")).sku == "K-1"


def test_the_manufacturers_number_is_no_sku() -> None:
    product = found("", a_product(mpn="AB-100"))
    assert (product.sku, product.mpn) == (None, "AB-100")


def test_a_number_of_the_address_counts_when_it_stands_in_the_page() -> None:
    url = "https://shop.example/copper-kettle-14347.html"
    assert found('<input type=hidden name=product value="14347">', a_product(), url=url).sku == "14347"
    assert found("", a_product(), url=url).sku is None


def test_gtin_brand_and_attributes_are_read_beside_their_labels() -> None:
    product = found("<ul><li>EAN: 4006381333931</li><li>Marke: Acme</li><li>Farbe: kupfer</li></ul>", a_product())
    assert (product.gtin, product.brand, product.attributes["color"]) == ("4006381333931", "Acme", "kupfer")


def test_a_logo_names_the_brand() -> None:
    logo = '<div class="product-brand"><img src=/acme.png alt="Acme"></div>'
    assert found(logo, a_product()).brand == "Acme"


# Prices


REDUCED = "<div class=buy><div class=full-price><del>€ 19,99</del></div><b class=price>€ 14,99</b><button>Add to cart</button></div>"


def test_markup_that_tells_the_struck_price_gives_way_to_the_one_to_pay() -> None:
    product = found(REDUCED, a_product())
    assert (product.price, product.regular_price) == (Decimal("14.99"), Decimal("19.99"))


def test_two_sources_outvote_a_third() -> None:
    metas = '<meta property="product:price:amount" content="25"><meta property="product:price:currency" content="EUR">'
    shown = "<div><b class=price>€ 25,00</b><button>Add to cart</button></div>"
    assert found(shown, a_product(), head=metas).price == Decimal("25")


def test_a_block_that_also_holds_the_heading_is_not_beside_it() -> None:
    body = (
        "<div class=product-slider-page><h1>Copper kettle</h1><span class=price>€ 12,50</span>"
        "<button>Add to cart</button></div>"
    )
    product = product_in(body)
    assert product is not None
    assert (product.price, product.currency) == (Decimal("12.50"), "EUR")


def test_prices_before_a_reduction_and_of_units_come_from_specifications() -> None:
    prices = [
        {"@type": "UnitPriceSpecification", "price": "4.20", "priceCurrency": "EUR"},
        {"@type": "UnitPriceSpecification", "price": "5.60", "priceType": "https://schema.org/ListPrice"},
        {
            "@type": "UnitPriceSpecification",
            "price": "8.40",
            "referenceQuantity": {"@type": "QuantitativeValue", "value": "1", "unitCode": "KGM"},
        },
    ]
    product = found("", a_product(offers={"@type": "Offer", "priceSpecification": prices}))
    told = (product.price, product.regular_price, product.unit_price, product.unit)
    assert told == (Decimal("4.20"), Decimal("5.60"), Decimal("8.40"), "kg")


def test_terms_of_sale_are_facts() -> None:
    offer = OFFER | {
        "seller": {"@type": "Organization", "name": "Oak & Co"},
        "itemCondition": "https://schema.org/RefurbishedCondition",
        "shippingDetails": {"shippingRate": {"@type": "MonetaryAmount", "value": "4.95", "currency": "EUR"}},
    }
    product = found("", a_product(offers=offer))
    assert (product.seller, product.condition, product.shipping) == ("Oak & Co", "refurbished", Decimal("4.95"))


def test_additional_properties_are_attributes() -> None:
    more = [
        {"@type": "PropertyValue", "name": "Power", "value": "2200", "unitText": "W"},
        {"@type": "PropertyValue", "name": "Lid", "value": "yes"},
    ]
    product = found("", a_product(color="copper", additionalProperty=more))
    assert product.attributes == {"color": "copper", "Power": "2200 W", "Lid": "yes"}


# Variants


def test_items_of_one_name_are_its_sizes() -> None:
    sizes = [
        a_product(sku=f"K-{size}", offers=OFFER | {"availability": f"https://schema.org/{state}"})
        for size, state in (("S", "OutOfStock"), ("M", "InStock"), ("L", "OutOfStock"))
    ]
    product = found("", *sizes)
    assert (product.sku, product.availability) == (None, "in_stock")
    assert [(each.sku, each.availability) for each in product.variants] == [
        ("K-S", "out_of_stock"),
        ("K-M", "in_stock"),
        ("K-L", "out_of_stock"),
    ]


@pytest.mark.parametrize(
    "prices",
    [
        ("or 4 payments of $3.25", "$12.99"),
        ("Save $5.00", "$12.99"),
        ("Free shipping over $50", "$12.99"),
        ("$2.00/100g", "$12.99"),
        ("Was $20.00 Now $12.99",),
        ("Was $20.00", "Now $12.99"),
        ("$12.99/kg",),
    ],
)
def test_the_price_is_what_is_to_be_paid(prices: tuple[str, ...]) -> None:
    shown = "".join(f"<p class=price>{price}</p>" for price in prices)
    assert found(f"{shown}<button>Add to cart</button>").price == Decimal("12.99")


def test_the_price_of_a_unit_beside_the_button_gives_way_to_one_further_out() -> None:
    shown = "<p class=price>$12.99</p><div><p class=price>$2.00/100g</p><button>Add to cart</button></div>"
    assert found(f"<main>{shown}</main>").price == Decimal("12.99")


# Stock


@pytest.mark.parametrize(("told", "state"), [(False, "out_of_stock"), (True, "in_stock")])
def test_markup_may_say_yes_or_no(told: bool, state: str) -> None:
    assert found("", a_product(offers=OFFER | {"availability": told})).availability == state


def test_a_page_that_says_it_is_sold_out_is_believed_before_its_markup() -> None:
    offer = OFFER | {"availability": "https://schema.org/InStock"}
    shown = '<div class="availability-box"><p>Sorry, sold out</p></div>'
    assert found(shown, a_product(offers=offer)).availability == "out_of_stock"


def test_what_is_hidden_says_nothing() -> None:
    shown = '<p class="stock-note" hidden>Sold out</p><p class="stock hidden">Sold out</p><button>Add to cart</button>'
    assert found(shown, a_product()).availability == "in_stock"


def test_what_can_be_put_into_the_cart_is_in_stock() -> None:
    product = found("<button class=add-to-cart>Add to cart</button>", a_product())
    assert (product.availability, product.evidence["availability"][0].where) == ("in_stock", "css button.add-to-cart")


def test_a_price_without_a_word_about_the_stock_is_a_guess() -> None:
    product = found("", a_product())
    assert (product.availability, product.evidence["availability"][0].confidence) == ("in_stock", 0.3)


@pytest.mark.parametrize(
    "label",
    [
        *("Add to cart", "In den Warenkorb", "Ajouter au panier", "Añadir al carrito", "Adicionar ao carrinho"),
        *("Aggiungi al carrello", "In winkelwagen", "Dodaj do koszyka", "Do košíka", "Kosárba", "Adaugă în coș"),
        *("В корзину", "До кошика", "Sepete Ekle", "Lägg i varukorgen", "Læg i kurv", "Lisää ostoskoriin"),
        *(
            "Στο καλάθι",
            "カートに入れる",
            "加入购物车",
            "加入購物車",
            "장바구니",
            "Thêm vào giỏ",
            "أضف إلى السلة",
            "הוסף לסל",
        ),
    ],
)
def test_carts_are_known_in_the_languages_of_most_shops(label: str) -> None:
    assert is_cart_label(label)


@pytest.mark.parametrize("label", ["View cart", "Read more", "Subscribe now", "Gift cards", "Köpenhamn"])
def test_other_buttons_fill_no_cart(label: str) -> None:
    assert not is_cart_label(label)
