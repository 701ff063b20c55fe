"""A product as five kinds of shops write it down: JSON-LD, microdata, RDFa, OpenGraph, and nothing for programs."""

import json
from html import escape

from forager_playground.page import PageBuilder
from forager_playground.sites.shop_goods import ProductCatalog

KINDS = ("jsonld", "microdata", "rdfa", "opengraph", "plain")
STOCK = {True: "InStock", False: "OutOfStock"}
WORDS = {"InStock": "in stock", "OutOfStock": "out of stock"}


def kind_of(product: int) -> str:
    """The products take turns; the first is JSON-LD."""
    return KINDS[(product - 1) % len(KINDS)]


def write_offer(sheet: PageBuilder, goods: ProductCatalog, product: int) -> None:
    """Head and body of a product's page say the same in its own dialect."""
    name, price = escape(goods.name(product)), goods.price(product)
    stock = STOCK[goods.is_in_stock(product)]
    cart = f"<p>{sheet.link('/cart', 'Put it in the cart')}</p>"
    match kind_of(product):
        case "jsonld":
            sheet.add_head(f'<script type="application/ld+json">{json.dumps(_describe(goods, product))}</script>')
            sheet.add(f'<p class="price">€{price}</p>{cart}')
        case "microdata":
            sheet.add(
                f'<div itemscope itemtype="https://schema.org/Product"><meta itemprop="name" content="{name}">'
                f'<meta itemprop="sku" content="{goods.sku(product)}"><span itemprop="brand">'
                f"{goods.brand(product)}</span>"
                f'<div itemprop="offers" itemscope itemtype="https://schema.org/Offer">'
                f'<meta itemprop="priceCurrency" content="EUR"><p class="price">€<span itemprop="price">'
                f"{price}</span></p>"
                f'<link itemprop="availability" href="https://schema.org/{stock}"></div></div>{cart}'
            )
        case "rdfa":
            sheet.add(
                f'<div vocab="https://schema.org/" typeof="Product"><p>Made by <span property="brand">'
                f"{goods.brand(product)}</span>,"
                f' <span property="name">{name}</span></p><div property="offers" typeof="Offer">'
                f'<span property="priceCurrency" content="EUR">€</span><span property="price">{price}</span>'
                f'<link property="availability" href="https://schema.org/{stock}"></div></div>{cart}'
            )
        case "opengraph":
            sheet.add_head(
                f'<meta property="og:type" content="product"><meta property="og:title" content="{name}">'
                f'<meta property="product:price:amount" content="{price}">'
                f'<meta property="product:price:currency" content="EUR">'
                f'<meta property="product:availability" content="{WORDS[stock]}">'
                f""
                f'<meta property="product:brand" content="{goods.brand(product)}">'
            )
            sheet.add(f'<p class="price">€{price}</p>{cart}')
        case _:
            words = "In stock" if stock == "InStock" else "Sold out"
            sheet.add(
                f'<div class="product-info"><p class="price">€{price}</p><p class="stock">{words}</p>'
                f'<form action="/cart/add" method="post"><button class="add-to-cart">Add to cart</button>'
                f"</form></div>{cart}"
            )


def _describe(goods: ProductCatalog, product: int) -> dict[str, object]:
    offer = {"@type": "Offer", "price": goods.price(product), "priceCurrency": "EUR"}
    return {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": goods.name(product),
        "sku": goods.sku(product),
        "image": f"/img/{product}.png",
        "brand": {"@type": "Brand", "name": goods.brand(product)},
        "offers": offer | {"availability": f"https://schema.org/{STOCK[goods.is_in_stock(product)]}"},
    }
