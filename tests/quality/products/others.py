"""Pages that speak of prices and products and are no product's page: each would be watched for months if it were taken for one."""

# ruff: noqa: E501 (pages and things as they come)

import json
from html import escape
from typing import Any, NamedTuple

from tests.quality.products.goods import THINGS, Thing
from tests.quality.products.shapes import cards, plain_product, script


class Other(NamedTuple):
    label: str
    url: str
    html: str


def html(language: str, title: str, body: str, head: str = "", body_attributes: str = "") -> str:
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>{escape(title)}</title>{head}</head>'
        f"<body {body_attributes}><header><a href='/'>Home</a><a href='/cart'>Cart</a></header>{body}<footer>© 2026</footer></body></html>"
    )


def products(thing: Thing) -> list[dict[str, Any]]:
    """As lists describe them."""
    return [
        {
            "@type": "Product",
            "name": name,
            "url": f"https://{thing.host}/p/{at}",
            "sku": f"S{at}",
            "offers": {
                "@type": "Offer",
                "price": "19.99",
                "priceCurrency": thing.currency,
                "availability": "https://schema.org/InStock",
            },
        }
        for at, name in enumerate(thing.related)
    ]


def item_list(thing: Thing) -> dict[str, Any]:
    steps = [{"@type": "ListItem", "position": at, "item": item} for at, item in enumerate(products(thing), 1)]
    return {"@context": "https://schema.org", "@type": "ItemList", "itemListElement": steps}


def state(thing: Thing) -> list[dict[str, Any]]:
    """As a shop's own scripts are told of several things."""
    return [
        {
            "id": at,
            "name": name,
            "slug": f"r{at}",
            "sku": f"R{at}",
            "price": 10 + at,
            "currency": thing.currency,
            "images": [],
        }
        for at, name in enumerate((thing.name, *thing.related))
    ]


def article(thing: Thing, kind: str = "NewsArticle", **more: Any) -> dict[str, Any]:
    return {
        "@context": "https://schema.org",
        "@type": kind,
        "headline": f"About {thing.name}",
        "author": {"@type": "Person", "name": "A. Writer"},
        "datePublished": "2026-01-02",
    } | more


def grid(thing: Thing) -> str:
    return f'<ul class="products">{cards(thing) * 4}</ul>'


def microdata_cards(thing: Thing) -> str:
    return "".join(
        f'<div itemscope itemtype="http://schema.org/Product"><a itemprop="url" href="/p/{at}"><h2 itemprop="name">{escape(name)}</h2></a><div itemprop="offers" itemscope itemtype="http://schema.org/Offer">'
        f'<span itemprop="price" content="19.99">{thing.shown}</span><meta itemprop="priceCurrency" content="{thing.currency}"></div></div>'
        for at, name in enumerate(thing.related)
    )


def others() -> list[Other]:
    us, uk, india, _, de, ch, fr, _, es, mx, co, br, it, nl, pl, cz, se, dk, tr, ru, _, jp, cn, kr, sa, _ = THINGS
    made: list[Other] = []

    def add(label: str, thing: Thing, path: str, content: str) -> None:
        made.append(Other(label, f"https://{thing.host}{path}", content))

    # Lists
    add(
        "category with an item list",
        us,
        "/c/shoes",
        html("en", "Running shoes", f"<h1>Running shoes</h1>{grid(us)}", script(item_list(us))),
    )
    add(
        "category with products side by side",
        de,
        "/c/werkzeug",
        html(
            "de",
            "Werkzeug",
            f"<h1>Werkzeug</h1>{grid(de)}",
            "".join(script({"@context": "https://schema.org"} | item) for item in products(de)),
        ),
    )
    add("category in microdata", fr, "/c/salon", html("fr", "Salon", f"<h1>Salon</h1>{microdata_cards(fr)}"))
    add(
        "category dressed up as one product",
        nl,
        "/fietsen/elektrisch",
        html(
            "nl",
            "Elektrische fietsen",
            f"<h1>Elektrische fietsen</h1>{grid(nl)}",
            script(
                {
                    "@context": "https://schema.org",
                    "@type": "Product",
                    "name": "Elektrische fietsen",
                    "aggregateRating": {"@type": "AggregateRating", "ratingValue": "4.5", "reviewCount": "900"},
                    "offers": {
                        "@type": "AggregateOffer",
                        "lowPrice": "799",
                        "highPrice": "4999",
                        "offerCount": "212",
                        "priceCurrency": "EUR",
                    },
                }
            )
            + script(item_list(nl)),
        ),
    )
    add(
        "category whose state lists its things",
        us,
        "/c/running-shoes",
        html(
            "en",
            "Running shoes",
            f"<h1>Running shoes</h1>{grid(us)}",
            script(
                {
                    "props": {
                        "pageProps": {
                            "category": {"name": "Running shoes", "id": 4, "image": "/c.jpg"},
                            "products": state(us),
                        }
                    }
                },
                "application/json",
            ),
        ),
    )
    add(
        "article with a state that sells something beside it",
        uk,
        "/stories/how-we-test-kettles",
        html(
            "en",
            "How we test kettles",
            "<article><h1>How we test kettles</h1><p>A product of long days.</p></article>",
            f"<script>window.__INITIAL_STATE__ = {json.dumps({'article': {'title': 'How we test kettles'}, 'shop': state(uk)})}</script>",
        ),
    )
    add(
        "shop archive of a plug-in",
        es,
        "/categoria/mesas",
        html("es", "Mesas", f"<h1>Mesas</h1>{grid(es)}", body_attributes='class="archive tax-product_cat woocommerce"'),
    )
    add(
        "collection of a theme",
        us,
        "/collections/all",
        html(
            "en",
            "All products",
            f"<h1>All products</h1>{grid(us)}",
            '<meta property="og:type" content="product.group"><meta property="og:price:amount" content="10.00">',
            'class="template-collection"',
        ),
    )
    add(
        "category of another system",
        it,
        "/vasi.html",
        html("it", "Vasi", f"<h1>Vasi</h1>{grid(it)}", body_attributes='class="catalog-category-view category-vasi"'),
    )
    add(
        "search results",
        uk,
        "/search?q=kettle",
        html(
            "en-GB",
            "Results for kettle",
            f"<h1>Results for kettle</h1>{grid(uk)}",
            script({"@context": "https://schema.org", "@type": "SearchResultsPage"}),
        ),
    )
    add("list without markup", pl, "/kategoria/agd", html("pl", "AGD", f"<h1>AGD</h1>{grid(pl)}"))
    add(
        "start page with offers of the day",
        tr,
        "/",
        html(
            "tr",
            "Evdekor",
            f"<h1>Evdekor</h1>{grid(tr)}",
            script({"@context": "https://schema.org", "@type": "Organization", "name": "Evdekor"}),
        ),
    )
    add(
        "start page with one featured product",
        br,
        "/",
        html(
            "pt-BR",
            "Casa Verde: tudo para a cozinha",
            f"<h1>Tudo para a sua cozinha</h1>{grid(br)}",
            script(plain_product(br)),
        ),
    )
    add("brand page", jp, "/brand/iwachu", html("ja", "岩鋳の商品一覧", f"<h1>岩鋳の商品一覧</h1>{grid(jp)}"))
    add("sale page in Korean", kr, "/event/sale", html("ko", "여름 세일", f"<h1>여름 세일</h1>{grid(kr)}"))
    add(
        "catalogue in RDFa",
        cz,
        "/hadice",
        html(
            "cs",
            "Hadice",
            "<h1>Hadice</h1>"
            + "".join(
                f'<div vocab="http://schema.org/" typeof="Product"><span property="name">{name}</span><span property="price">99</span></div>'
                for name in cz.related
            ),
        ),
    )
    # Things to read
    add(
        "news with prices",
        us,
        "/news/shoe-prices",
        html(
            "en",
            "Shoe prices rise",
            "<article><h1>Shoe prices rise to $129.95</h1><p>The product costs $129.95 now, up from $99.00.</p></article>",
            script(article(us)) + '<meta property="og:type" content="article">',
        ),
    )
    add(
        "test report with a buy button",
        de,
        "/test/bs18",
        html(
            "de",
            f"{de.name} im Test",
            f"<article><h1>{de.name} im Test</h1><p class='price'>{de.shown}</p><a class='btn buy-now' href='https://x.example'>Jetzt kaufen</a></article>",
            script(article(de, "Review", itemReviewed=plain_product(de))),
        ),
    )
    add(
        "review of a product as an article",
        fr,
        "/avis/fauteuil",
        html(
            "fr",
            f"{fr.name} : notre avis",
            f"<h1>{fr.name} : notre avis</h1>",
            script(article(fr, "Article")) + script(plain_product(fr)) + '<meta property="og:type" content="article">',
        ),
    )
    add(
        "ten best",
        uk,
        "/best-kettles",
        html(
            "en-GB",
            "The 10 best kettles",
            f"<h1>The 10 best kettles</h1>{microdata_cards(uk)}",
            script(article(uk, "Article")),
        ),
    )
    add(
        "blog post of a shop",
        se,
        "/blogg/ljus",
        html(
            "sv",
            "Ljus i november",
            f"<article><h1>Ljus i november</h1><p>Golvlampan kostar 1 499 kr.</p></article>{grid(se)}",
            script(article(se, "BlogPosting")),
            'class="template-article"',
        ),
    )
    add(
        "forum thread",
        ru,
        "/forum/t/17",
        html(
            "ru",
            "Какой чайник купить?",
            "<h1>Какой чайник купить?</h1><div class='post'>Взял за 2 490 ₽ в магазине product.ru</div><button>Ответить</button>",
            script(
                {
                    "@context": "https://schema.org",
                    "@type": "DiscussionForumPosting",
                    "headline": "Какой чайник купить?",
                }
            ),
        ),
    )
    add(
        "question with answers",
        india,
        "/q/cooker",
        html(
            "en-IN",
            "Which cooker is best?",
            "<h1>Which cooker is best?</h1><p>I paid ₹2,499 for this product.</p><button>Answer</button>",
            script(
                {
                    "@context": "https://schema.org",
                    "@type": "QAPage",
                    "mainEntity": {"@type": "Question", "name": "Which cooker is best?"},
                }
            ),
        ),
    )
    add(
        "recipe",
        it,
        "/ricette/moka",
        html(
            "it",
            "Caffè con la moka",
            "<h1>Caffè con la moka</h1><p>Costo: 0,50 €</p>",
            script(
                {
                    "@context": "https://schema.org",
                    "@type": "Recipe",
                    "name": "Caffè con la moka",
                    "aggregateRating": {"@type": "AggregateRating", "ratingValue": "4.9", "reviewCount": "10"},
                }
            ),
        ),
    )
    add(
        "encyclopedia",
        jp,
        "/wiki/南部鉄器",
        html("ja", "南部鉄器", "<main><h1>南部鉄器</h1><p>価格は5,480円から。product of Japan.</p></main>"),
    )
    add(
        "price history page",
        cn,
        "/news/tea",
        html(
            "zh-CN",
            "茶叶价格上涨",
            "<article><h1>茶叶价格上涨</h1><p>龙井每斤¥368.00元，product 价格上涨。</p></article>",
        ),
    )
    # Pages of shops that sell nothing
    add(
        "cart",
        us,
        "/cart",
        html(
            "en",
            "Your cart",
            "<h1>Your cart</h1><div class='product'><span class='price'>$129.95</span><button>Checkout</button></div>",
            body_attributes='class="template-cart"',
        ),
    )
    add(
        "cart without a class",
        nl,
        "/winkelwagen",
        html(
            "nl",
            "Winkelwagen",
            "<h1>Winkelwagen</h1><table><tr class='product'><td>Fiets</td><td class='price'>€ 2.199,-</td></tr></table><button>Afrekenen</button>",
        ),
    )
    add(
        "shipping costs",
        de,
        "/versand",
        html("de", "Versandkosten", "<h1>Versandkosten</h1><p>Pro Produkt (product) 4,90 €, ab 50 € frei.</p>"),
    )
    add(
        "pricing of a service",
        uk,
        "/pricing",
        html(
            "en",
            "Pricing",
            "<h1>Pricing</h1><div class='plan product'><h2>Basic</h2><span class='price'>£9</span><a class='btn'>Start trial</a></div><div class='plan product'><h2>Pro</h2><span class='price'>£29</span><a class='btn'>Start trial</a></div>",
        ),
    )
    add(
        "restaurant menu",
        es,
        "/carta",
        html(
            "es",
            "Carta",
            "<h1>Nuestra carta</h1><ul class='product-list'><li>Paella <span class='price'>18,00 €</span></li><li>Gazpacho <span class='price'>7,50 €</span></li></ul>",
        ),
    )
    add(
        "event with tickets",
        mx,
        "/concierto",
        html(
            "es-MX",
            "Concierto",
            "<h1>Concierto de verano</h1><p>$850.00</p>",
            script(
                {
                    "@context": "https://schema.org",
                    "@type": "Event",
                    "name": "Concierto de verano",
                    "offers": {"@type": "Offer", "price": "850", "priceCurrency": "MXN"},
                }
            ),
        ),
    )
    add(
        "job",
        pl,
        "/praca",
        html(
            "pl",
            "Sprzedawca",
            "<h1>Sprzedawca</h1><p>4 500 zł</p>",
            script(
                {
                    "@context": "https://schema.org",
                    "@type": "JobPosting",
                    "title": "Sprzedawca",
                    "baseSalary": {"@type": "MonetaryAmount", "currency": "PLN", "value": 4500},
                }
            ),
        ),
    )
    add(
        "application",
        us,
        "/app",
        html(
            "en",
            "Notes app",
            "<h1>Notes app</h1>",
            script(
                {
                    "@context": "https://schema.org",
                    "@type": "SoftwareApplication",
                    "name": "Notes",
                    "offers": {"@type": "Offer", "price": "0", "priceCurrency": "USD"},
                }
            ),
        ),
    )
    add(
        "shop itself",
        sa,
        "/branches",
        html(
            "ar",
            "فروعنا",
            "<h1>فروعنا</h1>",
            script(
                {
                    "@context": "https://schema.org",
                    "@type": "Store",
                    "name": "البيت",
                    "priceRange": "$$",
                    "aggregateRating": {"@type": "AggregateRating", "ratingValue": "4.5", "reviewCount": "12"},
                }
            ),
        ),
    )
    add(
        "login",
        dk,
        "/login",
        html(
            "da",
            "Log ind",
            "<h1>Log ind</h1><form><input name='email'><input type='password'><button>Log ind</button></form><div class='product-teaser'>Køb nu</div>",
        ),
    )
    add(
        "about us",
        ch,
        "/ueber-uns",
        html(
            "de-CH",
            "Über uns",
            "<h1>Über uns</h1><p>Seit 1950 verkaufen wir Produkte (products) ab CHF 10.–</p>",
            '<meta property="og:type" content="website">',
        ),
    )
    add(
        "product video",
        co,
        "/video/1",
        html(
            "es",
            "Video: licuadora",
            "<h1>Video: licuadora</h1>",
            script(
                {
                    "@context": "https://schema.org",
                    "@type": "VideoObject",
                    "name": "Licuadora",
                    "description": "El product cuesta $189.990",
                }
            )
            + '<meta property="og:type" content="video.other">',
        ),
    )
    add(
        "not found, with offers",
        fr,
        "/p/nulle-part",
        html("fr", "Page introuvable", f"<h1>Page introuvable</h1><div class='recommendations'>{grid(fr)}</div>"),
    )
    add(
        "comparison of two",
        kr,
        "/compare",
        html(
            "ko",
            "비교",
            "<h1>비교</h1>"
            + "".join(map(script, ({"@context": "https://schema.org"} | item for item in products(kr)[:2]))),
        ),
    )
    add(
        "broken and empty markup",
        us,
        "/x",
        html(
            "en",
            "Something",
            "<h1>Something</h1><p>product</p>",
            '<script type="application/ld+json">{"@type": "Product", </script><script type="application/ld+json"></script>'
            + script(json.dumps({"@type": "WebSite", "name": "Product"})),
        ),
    )
    return made
