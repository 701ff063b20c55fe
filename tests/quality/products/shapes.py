"""How shops of many kinds write a product's page: each shape a function from a thing to HTML, and what it tells a program.

Written in the shape of real shop systems, with what surrounds a product there: related things, old prices, mini carts,
second blocks of markup by review plug-ins, JSON that is not quite JSON.
"""

# ruff: noqa: E501 (pages and things as they come)

import json
from collections.abc import Callable
from html import escape
from typing import Any, NamedTuple

from tests.quality.products.goods import Thing, with_check_digit

ALL = frozenset(
    {"name", "price", "currency", "availability", "rating", "review_count", "brand", "category", "sku", "gtin"}
)
SHAPES: dict[str, "Shape"] = {}


class Shape(NamedTuple):
    write: Callable[[Thing], str]
    tells: frozenset[str]
    path: str
    charset: str = "utf-8"


def shape(
    without: str = "", *, path: str = "/p/{sku}", charset: str = "utf-8"
) -> Callable[[Callable[[Thing], str]], Callable[[Thing], str]]:
    def note(write: Callable[[Thing], str]) -> Callable[[Thing], str]:
        SHAPES[write.__name__] = Shape(write, ALL - set(without.split()), path, charset)
        return write

    return note


# What many shapes share ---------------------------------------------------------------------------------------------


def stock_url(thing: Thing, scheme: str = "https") -> str:
    word = {"in_stock": "InStock", "out_of_stock": "OutOfStock", "limited": "LimitedAvailability"}[thing.availability]
    return f"{scheme}://schema.org/{word}"


def script(content: Any, kind: str = "application/ld+json") -> str:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return f'<script type="{kind}">{text}</script>'


def rating(thing: Thing, **more: Any) -> dict[str, Any]:
    return {
        "@type": "AggregateRating",
        "ratingValue": thing.rating,
        "bestRating": thing.best,
        "reviewCount": thing.reviews,
    } | more


def crumbs(thing: Thing, *, with_product: bool = True) -> dict[str, Any]:
    names = [*thing.crumbs, thing.name] if with_product else list(thing.crumbs)
    steps = [
        {"@type": "ListItem", "position": at, "name": name, "item": f"https://{thing.host}/c/{at}"}
        for at, name in enumerate(names, 1)
    ]
    return {"@context": "https://schema.org", "@type": "BreadcrumbList", "itemListElement": steps}


def url(thing: Thing) -> str:
    return f"https://{thing.host}/p/{thing.sku}"


def plain_product(thing: Thing, **more: Any) -> dict[str, Any]:
    offer = {
        "@type": "Offer",
        "price": thing.price,
        "priceCurrency": thing.currency,
        "availability": stock_url(thing),
        "url": url(thing),
    }
    return {
        "@context": "https://schema.org/",
        "@type": "Product",
        "name": thing.name,
        "description": thing.text,
        "sku": thing.sku,
        "gtin13": with_check_digit(thing.gtin),
        "brand": {"@type": "Brand", "name": thing.brand},
        "image": [f"https://{thing.host}/i/{thing.sku}-1.jpg", f"https://{thing.host}/i/{thing.sku}-2.jpg"],
        "aggregateRating": rating(thing),
        "offers": offer,
    } | more


def cards(thing: Thing, css: str = "product-card") -> str:
    """Other things, with prices and buttons of their own."""
    return "".join(
        f'<li class="{css}"><a href="/p/r{at}"><img src="/i/r{at}.jpg" alt=""><h3>{escape(name)}</h3></a>'
        f'<span class="price">{escape(thing.old)}</span><button class="add-to-cart">{escape(thing.cart)}</button></li>'
        for at, name in enumerate(thing.related)
    )


def page(thing: Thing, head: str, body: str, *, body_attributes: str = "", title: str | None = None) -> str:
    shop = thing.host.split(".")[-2].capitalize()
    return (
        f'<!doctype html><html lang="{thing.language}"><head><meta charset="utf-8"><title>{escape(title or thing.name)} | {shop}</title>'
        f'<meta name="description" content="{escape(thing.text)}"><meta property="og:site_name" content="{shop}">{head}</head>'
        f"<body {body_attributes}><header><nav><a href='/'>{shop}</a><a href='/cart' class='header-cart'>0</a>"
        f'<form action="/search"><input name="q"><button>?</button></form></nav></header>{body}'
        f"<footer><p>© {shop}. {escape(thing.old)}</p></footer></body></html>"
    )


def visible_crumbs(thing: Thing) -> str:
    links = "".join(f'<li><a href="/c/{at}">{escape(name)}</a></li>' for at, name in enumerate(thing.crumbs))
    return f'<nav class="breadcrumb"><ol>{links}<li>{escape(thing.name)}</li></ol></nav>'


# JSON-LD ------------------------------------------------------------------------------------------------------------


@shape("category gtin", path="/products/{sku}")
def shopify(thing: Thing) -> str:
    """Variants as a list of offers, the rating in a second block by a review plug-in."""
    offers = [
        {
            "@type": "Offer",
            "sku": thing.sku,
            "price": float(thing.price),
            "priceCurrency": thing.currency,
            "availability": stock_url(thing, "http"),
            "url": f"https://{thing.host}/products/{thing.sku}?variant={at}",
        }
        for at in (11, 12, 13)
    ]
    main = {
        "@context": "http://schema.org/",
        "@type": "Product",
        "name": thing.name,
        "url": f"https://{thing.host}/products/{thing.sku}",
        "image": [f"//{thing.host}/cdn/{thing.sku}.jpg"],
        "description": thing.text,
        "sku": thing.sku,
        "brand": {"@type": "Brand", "name": thing.brand},
        "offers": offers,
    }
    reviews = {
        "@context": "http://schema.org",
        "@type": "Product",
        "name": thing.name,
        "aggregateRating": rating(thing),
    }
    organization = {
        "@context": "http://schema.org",
        "@type": "Organization",
        "name": thing.brand,
        "url": f"https://{thing.host}",
    }
    head = (
        '<meta property="og:type" content="product">'
        f'<meta property="og:title" content="{escape(thing.name)}">'
        f'<meta property="og:price:amount" content="{escape(thing.shown.strip("$€£₹ "))}"><meta property="og:price:currency" content="{thing.currency}">'
        + script(organization)
        + script(main)
        + script(reviews)
    )
    body = (
        f'<main><h1 class="product__title">{escape(thing.name)}</h1><div class="price price--on-sale"><s class="price-item--regular">{thing.old}</s>'
        f'<span class="price-item--sale">{thing.shown}</span></div><form action="/cart/add" method="post"><select name="id"><option>M</option></select>'
        f'<button name="add">{escape(thing.cart)}</button></form></main><section class="related-products"><ul>{cards(thing)}</ul></section>'
    )
    return page(thing, head, body, body_attributes='class="template-product"')


@shape("gtin")
def woocommerce(thing: Thing) -> str:
    """A graph of pages, crumbs and the product, with price specifications."""
    graph = [
        {
            "@type": "WebPage",
            "@id": url(thing),
            "name": thing.name,
            "isPartOf": {"@id": "#website"},
            "breadcrumb": {"@id": "#crumbs"},
        },
        crumbs(thing) | {"@id": "#crumbs"},
        {"@type": "WebSite", "@id": "#website", "name": thing.host},
        {
            "@type": "Product",
            "@id": f"{url(thing)}#product",
            "name": thing.name,
            "url": url(thing),
            "sku": thing.sku,
            "description": f"<p>{thing.text}</p>",
            "image": f"https://{thing.host}/i/1.jpg",
            "brand": [{"@type": "Brand", "name": thing.brand}],
            "aggregateRating": rating(thing),
            "offers": [
                {
                    "@type": "Offer",
                    "availability": stock_url(thing, "http"),
                    "url": url(thing),
                    "priceSpecification": [
                        {
                            "@type": "UnitPriceSpecification",
                            "price": str(thing.amount * 2),
                            "priceCurrency": thing.currency,
                            "priceType": "https://schema.org/ListPrice",
                        },
                        {
                            "@type": "UnitPriceSpecification",
                            "price": thing.price,
                            "priceCurrency": thing.currency,
                            "valueAddedTaxIncluded": "false",
                        },
                    ],
                }
            ],
        },
    ]
    body = (
        f'<div class="product type-product"><h1 class="product_title entry-title">{escape(thing.name)}</h1><p class="price"><del><bdi>{thing.old}</bdi></del>'
        f'<ins><bdi>{thing.shown}</bdi></ins></p><p class="stock">{thing.stock}</p><form class="cart" method="post"><button name="add-to-cart" value="7">{thing.cart}</button></form>'
        f'<section class="related products"><ul class="products">{cards(thing, "product type-product")}</ul></section></div>'
    )
    return page(
        thing,
        script({"@context": "https://schema.org", "@graph": graph}),
        body,
        body_attributes='class="product-template-default single single-product"',
    )


@shape("category")
def zalando(thing: Thing) -> str:
    """Sizes as offers, brand and name apart in the heading, lists of other products in JSON-LD."""
    sizes = [
        {
            "@type": "Offer",
            "sku": f"{thing.sku}-{size}",
            "availability": stock_url(thing, "http"),
            "price": thing.price,
            "priceCurrency": thing.currency,
            "itemCondition": "http://schema.org/NewCondition",
        }
        for size in (38, 39, 40)
    ]
    others = {
        "@context": "https://schema.org",
        "@type": "ItemList",
        "itemListElement": [
            {
                "@type": "ListItem",
                "position": at,
                "item": {
                    "@type": "Product",
                    "name": name,
                    "offers": {"@type": "Offer", "price": "9.99", "priceCurrency": thing.currency},
                },
            }
            for at, name in enumerate(thing.related)
        ],
    }
    head = script(plain_product(thing, offers=sizes)) + script(others)
    body = f"<main><h1><span>{thing.brand}</span> <span>{escape(thing.name)}</span></h1><p>{thing.shown}</p><button>{thing.cart}</button></main>"
    return page(thing, head, body)


@shape("category gtin")
def product_group(thing: Thing) -> str:
    variants = [
        {
            "@type": "Product",
            "name": f"{thing.name} {colour}",
            "sku": f"{thing.sku}-{colour}",
            "color": colour,
            "offers": {
                "@type": "Offer",
                "price": thing.price,
                "priceCurrency": thing.currency,
                "availability": stock_url(thing),
            },
        }
        for colour in ("red", "blue")
    ]
    group = {
        "@context": "https://schema.org/",
        "@type": "ProductGroup",
        "productGroupID": thing.sku,
        "sku": thing.sku,
        "name": thing.name,
        "description": thing.text,
        "url": url(thing),
        "brand": {"@type": "Brand", "name": thing.brand},
        "aggregateRating": rating(thing),
        "variesBy": ["https://schema.org/color"],
        "hasVariant": variants,
    }
    return page(thing, script([group]), f"<main><h1>{escape(thing.name)}</h1><p>{thing.shown}</p></main>")


@shape("category")
def aggregate_offer(thing: Thing) -> str:
    """Many sellers, the cheapest first."""
    sellers = [
        {
            "@type": "Offer",
            "price": str(thing.amount + at),
            "priceCurrency": thing.currency,
            "availability": stock_url(thing),
            "seller": {"@type": "Organization", "name": f"Seller {at}"},
        }
        for at in range(3)
    ]
    offers = {
        "@type": "AggregateOffer",
        "lowPrice": thing.price,
        "highPrice": str(thing.amount + 2),
        "priceCurrency": thing.currency,
        "offerCount": "3",
        "availability": stock_url(thing),
        "offers": sellers,
    }
    return page(thing, script(plain_product(thing, offers=offers)), f"<main><h1>{escape(thing.name)}</h1></main>")


@shape("category")
def broken_json(thing: Thing) -> str:
    """Stray commas, raw line ends and quotes nobody escaped."""
    text = (
        '\n{\n "@context": "https://schema.org",\n "@type": "Product",\n'
        f' "name": "{thing.name}",\n "description": "Our "best" one:\n{thing.text.replace(chr(34), "")}\tSince 1990.",\n'
        f' "sku": "{thing.sku}", "gtin13": "{with_check_digit(thing.gtin)}",\n "brand": {{"@type": "Brand", "name": "{thing.brand}",}},\n'
        f' "aggregateRating": {{"@type": "AggregateRating", "ratingValue": "{thing.rating}", "bestRating": "{thing.best}", "reviewCount": "{thing.reviews}",}},\n'
        f' "offers": {{"@type": "Offer", "price": "{thing.price}", "priceCurrency": "{thing.currency}", "availability": "{stock_url(thing)}",}},\n}};\n'
    )
    return page(thing, script(text), f"<main><h1>{escape(thing.name)}</h1><p>{thing.shown}</p></main>")


@shape("category")
def escaped_json(thing: Thing) -> str:
    """Somebody's template escaped the JSON as if it were an attribute."""
    text = json.dumps(plain_product(thing), ensure_ascii=False).replace("&", "&amp;").replace('"', "&quot;")
    return page(thing, script(text), f"<main><h1>{escape(thing.name)}</h1></main>")


@shape("category")
def commented_json(thing: Thing) -> str:
    text = f"<!--\n/* <![CDATA[ */\n{json.dumps(plain_product(thing))}\n/* ]]> */\n-->"
    text = (
        f"//<![CDATA[\n{json.dumps(plain_product(thing))}\n//]]>"
        if len(thing.name) % 2
        else text.replace("/* <![CDATA[ */\n", "").replace("/* ]]> */\n", "")
    )
    return page(
        thing, script(text, "application/ld+json; charset=utf-8"), f"<main><h1>{escape(thing.name)}</h1></main>"
    )


@shape("category rating review_count brand")
def hopeless_json(thing: Thing) -> str:
    """Beyond mending, but its plain values can be read."""
    text = (
        '{ "@context": "http://schema.org/", "@type": "Product", "name": "'
        + thing.name
        + '", "offers": [ { "@type": "Offer", '
        f'"sku": "{thing.sku}", "gtin13": "{with_check_digit(thing.gtin)}", "price": "{thing.price}", '
        f'"priceCurrency": "{thing.currency}", "availability": "{stock_url(thing)}", "x": function(){{ return }} : [ = ] }} }}'
    )
    return page(thing, script(text), f"<main><h1>{escape(thing.name)}</h1></main>")


@shape("category")
def localized_json(thing: Thing) -> str:
    """The price as people read it, with its sign; availability as words."""
    offer = {
        "@type": "http://schema.org/Offer",
        "price": thing.shown,
        "priceCurrency": thing.currency,
        "availability": thing.stock,
    }
    item = plain_product(thing, offers=offer) | {"@type": ["http://schema.org/Product", "Thing"], "brand": thing.brand}
    return page(thing, script([item]), f"<main><h1>{escape(thing.name)}</h1></main>")


@shape("category")
def main_entity(thing: Thing) -> str:
    """The product inside of the page, references between them, related ones beside."""
    related = [
        {
            "@type": "Product",
            "name": name,
            "offers": {"@type": "Offer", "price": "1.00", "priceCurrency": thing.currency},
        }
        for name in thing.related
    ]
    item = plain_product(thing, isRelatedTo=related, isSimilarTo=related) | {
        "brand": {"@id": "#brand"},
        "offers": {"@id": "#offer"},
    }
    offer = plain_product(thing)["offers"] | {"@id": "#offer"}
    content = [
        {"@context": "https://schema.org", "@type": "ItemPage", "mainEntity": item},
        {"@context": "https://schema.org", "@graph": [{"@type": "Brand", "@id": "#brand", "name": thing.brand}, offer]},
    ]
    return page(thing, script(content), f"<main><h1>{escape(thing.name)}</h1></main>")


@shape("category", path="/{sku}.html")
def several_products(thing: Thing) -> str:
    """Related products stand beside the page's own, as if they were equal."""
    others = [
        {
            "@context": "https://schema.org",
            "@type": "Product",
            "name": name,
            "url": f"https://{thing.host}/{at}.html",
            "offers": {"@type": "Offer", "price": "3.50", "priceCurrency": thing.currency},
        }
        for at, name in enumerate(thing.related)
    ]
    own = plain_product(thing) | {"url": f"https://{thing.host}/{thing.sku}.html"}
    blocks = [others[0], own, *others[1:]]
    return page(thing, "".join(map(script, blocks)), f"<main><h1>{escape(thing.name)}</h1><p>{thing.shown}</p></main>")


@shape("category")
def ikea(thing: Thing) -> str:
    """A unit price beside the price, the family price as another specification."""
    offer = {
        "@type": "Offer",
        "availability": stock_url(thing),
        "priceCurrency": thing.currency,
        "priceSpecification": [
            {
                "@type": "UnitPriceSpecification",
                "price": "0.99",
                "priceCurrency": thing.currency,
                "referenceQuantity": {"@type": "QuantitativeValue", "value": 100, "unitCode": "GRM"},
            },
            {
                "@type": "PriceSpecification",
                "price": thing.price,
                "priceCurrency": thing.currency,
                "priceType": "https://schema.org/SalePrice",
            },
            {
                "@type": "PriceSpecification",
                "price": str(thing.amount + 50),
                "priceCurrency": thing.currency,
                "priceType": "https://schema.org/StrikethroughPrice",
            },
        ],
    }
    body = f'<main><h1>{escape(thing.name)}</h1><span class="pip-price"><span class="pip-price__integer">{thing.shown}</span></span><button>{thing.cart}</button></main>'
    return page(thing, script(plain_product(thing, offers=offer)), body)


# Microdata and RDFa -------------------------------------------------------------------------------------------------


@shape("")
def magento(thing: Thing) -> str:
    body = (
        '<div class="breadcrumbs" itemscope itemtype="https://schema.org/BreadcrumbList">'
        + "".join(
            f'<span itemprop="itemListElement" itemscope itemtype="https://schema.org/ListItem"><a itemprop="item" href="/c/{at}"><span itemprop="name">{name}</span></a><meta itemprop="position" content="{at}"></span>'
            for at, name in enumerate(thing.crumbs, 1)
        )
        + f'</div><div class="column main" itemscope itemtype="http://schema.org/Product"><h1><span class="base" itemprop="name">{escape(thing.name)}</span></h1>'
        f'<div itemprop="aggregateRating" itemscope itemtype="http://schema.org/AggregateRating"><span itemprop="ratingValue">{thing.rating}</span> / <span itemprop="bestRating">{thing.best}</span> (<span itemprop="reviewCount">{thing.reviews}</span>)</div>'
        f'<div class="price-box" itemprop="offers" itemscope itemtype="http://schema.org/Offer"><span class="special-price" data-price-amount="{thing.price}">{thing.shown}</span><span class="old-price">{thing.old}</span>'
        f'<meta itemprop="price" content="{thing.price}"><meta itemprop="priceCurrency" content="{thing.currency}"><link itemprop="availability" href="{stock_url(thing, "http")}"></div>'
        f'<div class="product attribute sku">SKU <div class="value" itemprop="sku">{thing.sku}</div></div><meta itemprop="gtin13" content="{with_check_digit(thing.gtin)}"><a itemprop="brand" href="/b">{thing.brand}</a>'
        f'<div itemprop="description">{escape(thing.text)}</div></div><div class="block related"><ol class="products">{cards(thing, "item product")}</ol></div>'
    )
    return page(thing, "", body, body_attributes='class="catalog-product-view product-x page-layout-1column"')


@shape("category")
def allegro(thing: Thing) -> str:
    """Other offers on the page are products too; the own one borrows from elsewhere by itemref."""
    others = "".join(
        f'<li itemscope itemtype="http://schema.org/Product"><a itemprop="url" href="/o/{at}"><span itemprop="name">{escape(name)}</span></a>'
        f'<div itemprop="offers" itemscope itemtype="http://schema.org/Offer"><meta itemprop="price" content="12.00"><meta itemprop="priceCurrency" content="{thing.currency}"></div></li>'
        for at, name in enumerate(thing.related)
    )
    body = (
        f'<ul class="sponsored">{others}</ul><div itemscope itemtype="http://schema.org/Product" itemref="stars"><meta itemprop="sku" content="{thing.sku}"><meta itemprop="gtin" content="{with_check_digit(thing.gtin)}">'
        f'<meta itemprop="brand" content="{thing.brand}"><h1 itemprop="name">{escape(thing.name)}</h1>'
        f'<div itemprop="offers" itemscope itemtype="http://schema.org/Offer"><meta itemprop="price" content="{thing.price}"><meta itemprop="priceCurrency" content="{thing.currency}">'
        f'<link itemprop="availability" href="{stock_url(thing, "http")}"><span>{thing.shown}</span><button>{thing.cart}</button></div></div>'
        f'<div id="stars"><div itemprop="aggregateRating" itemscope itemtype="http://schema.org/AggregateRating"><meta itemprop="ratingValue" content="{thing.rating}"><meta itemprop="bestRating" content="{thing.best}"><meta itemprop="ratingCount" content="{thing.reviews}"></div></div>'
    )
    return page(thing, "", body)


@shape("category rating review_count gtin", charset="euc_jp")
def rakuten(thing: Thing) -> str:
    """Tables, an old charset, prices only as text inside of the markup."""
    body = (
        f'<table itemscope itemtype="http://schema.org/Product"><tr><td><span class="item_name"><b itemprop="name">{escape(thing.name)}</b></span>'
        f'<meta itemprop="brand" content="{thing.brand}"><meta itemprop="sku" content="{thing.sku}"></td></tr><tr><td itemprop="offers" itemscope itemtype="http://schema.org/Offer">'
        f'<span class="price2" itemprop="price" content="{thing.price}">{thing.shown}</span><meta itemprop="priceCurrency" content="{thing.currency}">'
        f'<meta itemprop="availability" content="{thing.stock}"><input type="submit" value="{thing.cart}"></td></tr></table>'
    )
    return page(thing, "", f"<h1>{escape(thing.name)}</h1>{body}").replace('charset="utf-8"', 'charset="euc-jp"')


@shape("category gtin")
def flat_microdata(thing: Thing) -> str:
    """No offer of its own: price and currency stand on the product."""
    body = (
        f'<div itemscope itemtype="http://schema.org/Product"><h1 itemprop="name">{escape(thing.name)}</h1><span itemprop="brand" itemscope itemtype="http://schema.org/Brand"><span itemprop="name">{thing.brand}</span></span>'
        f'<span itemprop="price">{thing.shown}</span><meta itemprop="priceCurrency" content="{thing.currency}"><span itemprop="availability">{thing.stock}</span><i itemprop="productID">sku:{thing.sku}</i>'
        f'<p itemprop="aggregateRating" itemscope itemtype="http://schema.org/AggregateRating"><b itemprop="ratingValue">{thing.rating}</b><meta itemprop="bestRating" content="{thing.best}"><b itemprop="reviewCount">{thing.reviews:,}</b></p></div>'
    )
    return page(thing, "", body)


@shape("category gtin")
def rdfa(thing: Thing) -> str:
    body = (
        f'<div vocab="http://schema.org/" typeof="Product"><h1 property="name">{escape(thing.name)}</h1><img property="image" src="/i/1.jpg"><span property="brand">{thing.brand}</span><span property="sku">{thing.sku}</span>'
        f'<div property="aggregateRating" typeof="AggregateRating"><span property="ratingValue">{thing.rating}</span><span property="bestRating">{thing.best}</span><span property="reviewCount">{thing.reviews}</span></div>'
        f'<div property="offers" typeof="Offer"><span property="price" content="{thing.price}">{thing.shown}</span><meta property="priceCurrency" content="{thing.currency}"><link property="availability" href="{stock_url(thing)}"></div></div>'
    )
    return page(thing, "", body)


# Meta tags, and nothing for programs ---------------------------------------------------------------------------------


@shape("category rating review_count sku gtin")
def open_graph(thing: Thing) -> str:
    words = {"in_stock": "instock", "out_of_stock": "oos", "limited": "limited"}[thing.availability]
    head = (
        f'<meta property="og:type" content="og:product"><meta property="og:title" content="{escape(thing.name)} | {thing.host.split(".")[-2].capitalize()}"><meta property="og:image" content="/i/1.jpg">'
        f'<meta property="product:price:amount" content="{thing.price}"><meta property="product:price:currency" content="{thing.currency}">'
        f'<meta property="product:availability" content="{words}"><meta property="product:brand" content="{thing.brand}">'
    )
    return page(thing, head, f"<main><h1>{escape(thing.name)}</h1><div>{thing.shown}</div></main>")


@shape("rating review_count brand sku gtin")
def prestashop(thing: Thing) -> str:
    """The price in the head, stock and crumbs only for the eye."""
    head = f'<meta property="og:type" content="product"><meta property="product:price:amount" content="{thing.price}"><meta property="product:price:currency" content="{thing.currency}">'
    body = (
        f'{visible_crumbs(thing)}<section id="main"><h1>{escape(thing.name)}</h1><div class="product-prices"><span class="regular-price">{thing.old}</span><span class="current-price">{thing.shown}</span></div>'
        f'<span id="product-availability">{thing.stock}</span><form><button class="btn add-to-cart" data-button-action="add-to-cart">{thing.cart}</button></form></section>'
    )
    return page(thing, head, body, body_attributes='id="product" class="lang product-id-7"')


@shape("rating review_count brand sku gtin")
def opencart(thing: Thing) -> str:
    body = (
        f'<div id="product-product" class="container"><ul class="breadcrumb">{"".join(f"<li><a href=/c/{at}>{escape(name)}</a></li>" for at, name in enumerate(thing.crumbs))}</ul><div class="row"><div class="col-sm-4"><h1>{escape(thing.name)}</h1>'
        f'<ul class="list-unstyled"><li class="stock-status">{thing.stock}</li></ul><ul class="list-unstyled"><li><span style="text-decoration: line-through;">{thing.old}</span></li><li><h2 class="product-price">{thing.shown}</h2></li></ul>'
        f'<div id="product"><button type="button" id="button-cart" class="btn btn-primary">{thing.cart}</button></div></div></div><h3>+</h3><div class="related">{cards(thing)}</div></div>'
    )
    return page(thing, "", body, body_attributes='class="product-product-42"')


@shape("category rating review_count brand sku gtin")
def handmade(thing: Thing) -> str:
    """A small shop without a system: a heading, some text with a price in it, a button."""
    body = f"<div class=product><h1>{escape(thing.name)}</h1><p>{escape(thing.text)}</p><div><p><b>{thing.shown}</b></p>{f'<p>{thing.stock}</p>' if thing.is_sold_out else ''}<form action='/bestellen'><input type='submit' value='{thing.cart}'></form></div></div>"
    return page(thing, "", body)


@shape("category rating review_count sku gtin brand")
def split_price(thing: Thing) -> str:
    """Amount and cents in elements of their own, an old price before it, instalments after it."""
    body = (
        f'<main class="pdp"><h1 class="ui-pdp-title">{escape(thing.name)}</h1><div class="ui-pdp-price"><s class="andes-money-amount--previous"><span>{thing.old}</span></s>'
        f'<div class="price-current"><span>{thing.shown}</span></div><p class="installments-price">12 x {thing.old}</p></div><p class="availability">{thing.stock}</p><div class="shipping-price">9.99</div>'
        f'<button class="buy-now-button">{thing.cart}</button></main><aside class="recommendations">{cards(thing)}</aside>'
    )
    return page(thing, "", body)


@shape("", path="/dp/B0ABCDEFGH")
def amazon(thing: Thing) -> str:
    """Read by its own parser."""
    body = (
        f'<div id="wayfinding-breadcrumbs_feature_div"><ul>{"".join(f"<li><a href=/b>{escape(name)}</a></li>" for name in thing.crumbs[1:])}</ul></div><div id="ppd"><img id="landingImage" data-old-hires="https://m.media/{thing.sku}.jpg" src="/x.jpg">'
        f'<span id="productTitle"> {escape(thing.name)} </span><a id="bylineInfo" href="/s">{"Brand: " if thing.language.startswith("en") else ""}{thing.brand}</a>'
        f'<span id="acrPopover" title="{thing.stars:.2f} out of 5 stars"></span><span id="acrCustomerReviewText">({thing.reviews:,})</span>'
        f'<div id="corePriceDisplay_desktop_feature_div"><span class="a-price"><span class="a-offscreen">{thing.shown}</span></span><span class="a-price a-text-price"><span class="a-offscreen">{thing.old}</span></span></div>'
        f'<div id="availability"><span>{thing.stock}</span></div><input type="hidden" id="ASIN" name="ASIN" value="B0ABCDEFGH"><div id="feature-bullets"><ul><li><span class="a-list-item">{escape(thing.text)}</span></li></ul></div></div>'
        f'<table id="productDetails_techSpec_section_1"><tr><th>UPC</th><td>{with_check_digit(thing.gtin)}</td></tr></table>'
    )
    return page(thing, "", body)


# JSON of the shop's own -----------------------------------------------------------------------------------------------


@shape("", path="/product/{sku}")
def next_data(thing: Thing) -> str:
    """The page as its framework was given it; the markup says nothing to programs."""
    product = {
        "id": 4711,
        "name": thing.name,
        "slug": thing.sku.lower(),
        "description": f"<p>{escape(thing.text)}</p>",
        "sku": thing.sku,
        "ean": with_check_digit(thing.gtin),
        "brand": {"id": 3, "name": thing.brand},
        "category": {"name": " > ".join(thing.crumbs[1:])},
        "price": {"value": float(thing.price), "currencyCode": thing.currency, "formatted": thing.shown},
        "oldPrice": {"value": 99999, "currencyCode": thing.currency},
        "inStock": not thing.is_sold_out,
        "images": [{"url": f"/i/{thing.sku}.jpg", "alt": thing.name}],
        "averageRating": str(thing.stars),
        "reviewCount": thing.reviews,
    }
    beside = [
        {"id": at, "name": name, "sku": f"R{at}", "price": {"value": 5 + at, "currencyCode": "CHF"}, "images": []}
        for at, name in enumerate(thing.related)
    ]
    state = {
        "props": {
            "pageProps": {
                "menu": [{"name": name, "url": "/c"} for name in thing.crumbs],
                "recommended": beside,
                "product": product,
            }
        },
        "page": "/product/[slug]",
        "query": {"slug": thing.sku},
        "buildId": "x7",
    }
    data = json.dumps(state, ensure_ascii=False).replace("</", "<\\/")
    body = f'<div id="__next"><main><h1>{escape(thing.name)}</h1><p class="sum">{escape(thing.shown)}</p></main></div>'
    return page(thing, "", f'{body}<script id="__NEXT_DATA__" type="application/json">{data}</script>')


@shape("rating review_count category", path="/{sku}.html")
def initial_state(thing: Thing) -> str:
    """A state for scripts, with code before and behind it."""
    product = {
        "productName": thing.name,
        "productCode": thing.sku,
        "gtin": with_check_digit(thing.gtin),
        "brandName": thing.brand,
        "prices": {"regular": {"amount": 77777}, "sale": {"amount": thing.price, "currency": thing.currency}},
        "stock": {"available": not thing.is_sold_out},
        "imageUrl": f"/i/{thing.sku}.jpg",
    }
    cart = {"lines": [{"name": name, "sku": "c", "price": "1.00", "image": "/c.jpg"} for name in thing.related]}
    state = json.dumps(
        {"cart": cart, "pdp": {"product": product}, "shipping": [{"name": "Express", "price": 4.9, "id": 1}]}
    )
    code = f"(function(){{var q=[];window.__INITIAL_STATE__ = {state};q.push('product');}})();"
    return page(thing, f"<script>{code}</script>", f'<div id="app"><h1>{escape(thing.name)}</h1></div>')


@shape("rating review_count gtin category", path="/products/{sku}")
def shopify_theme(thing: Thing) -> str:
    """The theme's own JSON: whole prices in hundredths, the currency elsewhere."""
    cents = int(thing.amount * 100)
    variants = [
        {
            "id": 900 + at,
            "title": size,
            "sku": thing.sku,
            "available": not thing.is_sold_out,
            "price": cents,
            "compare_at_price": cents + 500,
            "barcode": None,
        }
        for at, size in enumerate(("S", "M"))
    ]
    product = {
        "id": 7,
        "title": thing.name,
        "handle": thing.sku.lower(),
        "description": thing.text,
        "vendor": thing.brand,
        "type": "",
        "tags": [],
        "price": cents,
        "compare_at_price": cents + 500,
        "available": not thing.is_sold_out,
        "sku": thing.sku,
        "variants": variants,
        "images": [f"//cdn.example/{thing.sku}.jpg"],
    }
    head = f'<script>var Shopify = Shopify || {{}};Shopify.currency = {{"active":"{thing.currency}","rate":"1.0"}};</script>'
    data = f'<script type="application/json" data-product-json>{json.dumps(product)}</script>'
    return page(thing, head, f"<main><h1>{escape(thing.name)}</h1>{data}</main>")
